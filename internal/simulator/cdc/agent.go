package cdc

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Agent is SQL Server Agent as far as change data capture needs it: it runs
// the capture and cleanup jobs of all databases on timers of the clock.
type Agent struct {
	in    *engine.Instance
	clock storage.Clock

	mu      sync.Mutex
	running bool
	// ctx ends when the agent stops, so that no job waits for a lock then.
	ctx      context.Context
	cancel   context.CancelFunc
	jobs     map[jobKey]*job // started ones
	scanners map[int]*scanner
	// work counts jobs that are doing something now.
	work sync.WaitGroup
}

// jobKey names a job. Databases go by their id, which a rename leaves alone.
type jobKey struct {
	database int
	kind     string // captureJob or cleanupJob
}

// The kinds of jobs, as in msdb.dbo.cdc_jobs.job_type.
const (
	captureJob = "capture"
	cleanupJob = "cleanup"
)

// job is a started job. Its settings are those of the moment it was started:
// a change waits for the next start, as on the server.
type job struct {
	settings jobSettings
	cancel   func() bool
}

// Enable registers the procedures, functions and views of change data capture
// with an instance and returns its agent, running. Call it before the first
// login; call Stop before closing the instance.
func Enable(in *engine.Instance, clock storage.Clock) *Agent {
	a := &Agent{in: in, clock: clock, jobs: map[jobKey]*job{}, scanners: map[int]*scanner{}}
	a.registerDatabaseProcedures()
	a.registerTableProcedures()
	a.registerJobProcedures()
	a.registerCleanupProcedure()
	a.registerHelpProcedures()
	a.registerFunctions()
	a.registerChangeFunctions()
	a.registerViews()
	in.OnDDL(a.onDDL)
	in.OnRestore(a.onRestore)
	a.Start()
	return a
}

// Start starts the agent and, with it, the jobs of all databases.
func (a *Agent) Start() {
	settings, err := a.allJobs()
	if err != nil {
		// msdb cannot be read: there is nothing to run.
		settings = nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running {
		return
	}
	a.running = true
	a.ctx, a.cancel = context.WithCancel(context.Background())
	for key, s := range settings {
		a.startLocked(key, s)
	}
}

// Stop stops the agent and waits for jobs that are working.
func (a *Agent) Stop() {
	a.mu.Lock()
	a.running = false
	a.cancel()
	for key := range a.jobs {
		a.stopLocked(key)
	}
	a.mu.Unlock()
	a.work.Wait()
}

// CaptureNow scans the log of a database until it is empty, whether or not the
// agent runs.
func (a *Agent) CaptureNow(database string) error {
	db := a.in.Database(database)
	if db == nil {
		return fmt.Errorf("capturing database %q: no such database", database)
	}
	return a.scanner(db.ID()).run(context.Background(), captureNowBatch, math.MaxInt)
}

// captureNowBatch bounds the transactions of one scan's transaction.
const captureNowBatch = 10000

// isRunning reports whether the agent runs.
func (a *Agent) isRunning() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running
}

// isStarted reports whether a job is started.
func (a *Agent) isStarted(key jobKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.jobs[key] != nil
}

func (a *Agent) scanner(database int) *scanner {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scanners[database]
	if s == nil {
		s = &scanner{agent: a, database: database}
		a.scanners[database] = s
	}
	return s
}

// forget drops what is known about a database that captures no more.
func (a *Agent) forget(database int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopLocked(jobKey{database, captureJob})
	a.stopLocked(jobKey{database, cleanupJob})
	delete(a.scanners, database)
}

// start starts a job if the agent runs, and reports whether it does.
func (a *Agent) start(key jobKey, settings jobSettings) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running {
		a.startLocked(key, settings)
	}
	return a.running
}

func (a *Agent) startLocked(key jobKey, settings jobSettings) {
	if a.jobs[key] != nil {
		return
	}
	j := &job{settings: settings}
	a.jobs[key] = j
	first := time.Duration(0)
	if key.kind == cleanupJob {
		first = untilCleanup(a.in.Now())
	}
	a.scheduleLocked(key, j, first)
}

func (a *Agent) stop(key jobKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopLocked(key)
}

func (a *Agent) stopLocked(key jobKey) {
	if j := a.jobs[key]; j != nil {
		j.cancel()
		delete(a.jobs, key)
	}
}

// scheduleLocked arms the timer of a job's next run.
func (a *Agent) scheduleLocked(key jobKey, j *job, delay time.Duration) {
	j.cancel = a.clock.AfterFunc(delay, func() {
		a.mu.Lock()
		if !a.running || a.jobs[key] != j {
			a.mu.Unlock()
			return
		}
		a.work.Add(1)
		ctx := a.ctx
		a.mu.Unlock()
		defer a.work.Done()
		a.runJob(ctx, key, j)
	})
}

// runJob does a job's work once and arms its next run. A scan that fails is in
// the views and leaves the log where it is, so that the next one tries again;
// so does a cleanup the next night.
func (a *Agent) runJob(ctx context.Context, key jobKey, j *job) {
	next := time.Duration(j.settings.pollingInterval) * time.Second
	goOn := true
	switch key.kind {
	case captureJob:
		_ = a.scanner(key.database).run(ctx, int(j.settings.maxTrans), int(j.settings.maxScans))
		goOn = j.settings.continuous
	case cleanupJob:
		_ = a.cleanupByRetention(ctx, key.database, j.settings)
		next = untilCleanup(a.in.Now())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.jobs[key] != j {
		return
	}
	if !goOn || a.in.DatabaseByID(key.database) == nil {
		delete(a.jobs, key)
		return
	}
	a.scheduleLocked(key, j, next)
}

// untilCleanup is the time to the next 2 a.m. of the server, when the cleanup
// job runs (MS docs: Administer and monitor change data capture).
func untilCleanup(now time.Time) time.Duration {
	next := time.Date(now.Year(), now.Month(), now.Day(), 2, 0, 0, 0, now.Location())
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next.Sub(now)
}

// jobName is a job's name in SQL Server Agent.
func jobName(db *engine.Database, kind string) string {
	return fmt.Sprintf("cdc.%s_%s", db.Name(), kind)
}
