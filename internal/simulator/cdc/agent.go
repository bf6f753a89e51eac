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
	began   time.Time // when it was started
	// ctx ends when the agent stops, so that no job waits for a lock then.
	ctx      context.Context
	cancel   context.CancelFunc
	jobs     map[jobKey]*job // started ones
	activity map[jobKey]*jobActivity
	history  []jobRun
	scanners map[int]*scanner
	// onScan is asked before each log scan; its error makes the scan fail.
	onScan func(database string) error
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
	// retries counts failed scans in a row.
	retries int
}

// A capture step that fails is tried again after a minute, ten times; then the
// job has failed and waits to be started (the step's settings in
// msdb.dbo.sysjobsteps).
const (
	retryAttempts = 10
	retryInterval = time.Minute
)

// Azure SQL Database has no agent: a scheduler of its own captures every 20 s and
// cleans up every hour (MS docs: Change data capture with Azure SQL Database).
const (
	azureCapture = 20 * time.Second
	azureCleanup = time.Hour
	// shortestPoll stands for a polling interval of zero.
	shortestPoll = 100 * time.Millisecond
)

// Enable registers the procedures, functions and views of change data capture
// with an instance and returns its agent, running. Call it before the first
// login; call Stop before closing the instance.
func Enable(in *engine.Instance, clock storage.Clock) *Agent {
	a := &Agent{in: in, clock: clock, jobs: map[jobKey]*job{}, activity: map[jobKey]*jobActivity{}, scanners: map[int]*scanner{}}
	a.registerDatabaseProcedures()
	a.registerTableProcedures()
	a.registerJobProcedures()
	a.registerScanProcedure()
	a.registerCleanupProcedure()
	a.registerHelpProcedures()
	a.registerFunctions()
	a.registerChangeFunctions()
	a.registerViews()
	a.registerAgentViews()
	a.registerAgentProcedures()
	a.registerCloudProcedures()
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
	a.running, a.began = true, a.in.Now()
	a.ctx, a.cancel = context.WithCancel(context.Background())
	clear(a.activity)
	for key, s := range settings {
		a.startLocked(key, s)
	}
}

// OnScan installs a function that is asked before each scan of a log: an error
// makes the scan fail as a fault of the server would. nil removes it.
func (a *Agent) OnScan(hook func(database string) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.onScan = hook
}

// scanFault asks the hook of OnScan.
func (a *Agent) scanFault(database string) error {
	a.mu.Lock()
	hook := a.onScan
	a.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(database)
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
		s = &scanner{agent: a, database: database, turn: make(chan struct{}, 1)}
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
		first = a.untilCleanup()
	} else {
		a.noteStart(key)
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
		a.noteEnd(key, runCanceled, "The job was stopped.")
	}
}

// scheduleLocked arms the timer of a job's next run.
func (a *Agent) scheduleLocked(key jobKey, j *job, delay time.Duration) {
	if key.kind == cleanupJob {
		a.noteNext(key, a.in.Now().Add(delay))
	}
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
// the views and leaves the log where it is, so that the next one tries again; so
// does a cleanup the next night.
func (a *Agent) runJob(ctx context.Context, key jobKey, j *job) {
	var next time.Duration
	var goOn bool
	if key.kind == captureJob {
		next, goOn = a.runCapture(ctx, key, j)
	} else {
		next, goOn = a.runCleanup(ctx, key, j), true
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

// runCapture is one round of the capture job. It says when the next is due, if
// there is one.
func (a *Agent) runCapture(ctx context.Context, key jobKey, j *job) (next time.Duration, goOn bool) {
	err := a.scanner(key.database).runJob(ctx, int(j.settings.maxTrans), int(j.settings.maxScans))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		j.retries++
		if j.retries > retryAttempts && !a.in.IsAzure() {
			a.noteEnd(key, runFailed, err.Error())
			return 0, false
		}
		return retryInterval, true
	}
	j.retries = 0
	switch {
	case a.in.IsAzure():
		return azureCapture, true
	case !j.settings.continuous:
		a.noteEnd(key, runSucceeded, "The job succeeded.")
		return 0, false
	}
	return max(time.Duration(j.settings.pollingInterval)*time.Second, shortestPoll), true
}

// runCleanup is one run of the cleanup job. It says when the next is due.
func (a *Agent) runCleanup(ctx context.Context, key jobKey, j *job) time.Duration {
	a.mu.Lock()
	a.noteStart(key)
	a.mu.Unlock()
	err := a.cleanupByRetention(ctx, key.database, j.settings)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.noteEnd(key, runFailed, err.Error())
	} else {
		a.noteEnd(key, runSucceeded, "The job succeeded.")
	}
	return a.untilCleanup()
}

// untilCleanup is the time to the cleanup job's next run.
func (a *Agent) untilCleanup() time.Duration {
	now := a.in.Now()
	if a.in.IsAzure() {
		return azureCleanup
	}
	return nextCleanup(now).Sub(now)
}

// nextCleanup is the next 2 a.m. of the server's clock on the wall, when the
// cleanup job runs (MS docs: Administer and monitor change data capture). On the
// day that has no such hour it is the moment the clock goes forward.
func nextCleanup(now time.Time) time.Time {
	for day := 0; ; day++ {
		at := cleanupOn(now.AddDate(0, 0, day))
		if at.After(now) {
			return at
		}
	}
}

func cleanupOn(day time.Time) time.Time {
	at := time.Date(day.Year(), day.Month(), day.Day(), 2, 0, 0, 0, day.Location())
	if at.Hour() == 2 {
		return at
	}
	at = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, day.Location())
	for at.Hour() < 2 {
		at = at.Add(time.Minute)
	}
	return at
}

// jobName is a job's name in SQL Server Agent.
func jobName(db *engine.Database, kind string) string {
	return fmt.Sprintf("cdc.%s_%s", db.Name(), kind)
}
