package cdc

import (
	"slices"
	"time"
)

// Outcomes of a run, as in msdb.dbo.sysjobhistory.run_status.
const (
	runFailed    = 0
	runSucceeded = 1
	runCanceled  = 3
)

// keptRuns is how many runs of one job the agent remembers (MS docs: Set up the
// job history log).
const keptRuns = 100

// jobActivity is what the agent knows of a job since it started itself
// (msdb.dbo.sysjobactivity).
type jobActivity struct {
	started, stopped, next time.Time
	// run numbers the job's last outcome in the history.
	run int64
}

// jobRun is one finished run.
type jobRun struct {
	id      int64
	key     jobKey
	started time.Time
	took    time.Duration
	status  int64
	message string
}

// noteStart, noteEnd and noteNext keep the activity; the agent's lock is held.
func (a *Agent) noteStart(key jobKey) {
	a.activity[key] = &jobActivity{started: a.in.Now(), run: a.lastRun(key)}
}

func (a *Agent) noteEnd(key jobKey, status int64, text string) {
	act := a.activity[key]
	if act == nil || act.started.IsZero() || !act.stopped.IsZero() {
		return
	}
	act.stopped = a.in.Now()
	run := jobRun{key: key, started: act.started, took: act.stopped.Sub(act.started), status: status, message: text}
	if n := len(a.history); n > 0 {
		run.id = a.history[n-1].id
	}
	run.id++
	act.run = run.id
	a.history = append(a.history, run)
	if same := a.runsOf(key); len(same) > keptRuns {
		a.history = slices.DeleteFunc(a.history, func(r jobRun) bool { return r.id == same[0].id })
	}
}

func (a *Agent) noteNext(key jobKey, at time.Time) {
	if a.activity[key] == nil {
		a.activity[key] = &jobActivity{run: a.lastRun(key)}
	}
	a.activity[key].next = at
}

func (a *Agent) lastRun(key jobKey) int64 {
	if old := a.activity[key]; old != nil {
		return old.run
	}
	return 0
}

func (a *Agent) runsOf(key jobKey) []jobRun {
	var list []jobRun
	for _, r := range a.history {
		if r.key == key {
			list = append(list, r)
		}
	}
	return list
}

// isExecuting reports whether the job is at work: the capture job always is while
// it is started.
func (act *jobActivity) isExecuting() bool {
	return act != nil && !act.started.IsZero() && act.stopped.IsZero()
}

// activityOf copies what is known of a job.
func (a *Agent) activityOf(key jobKey) jobActivity {
	a.mu.Lock()
	defer a.mu.Unlock()
	if act := a.activity[key]; act != nil {
		return *act
	}
	return jobActivity{}
}

// runs copies the history, oldest first.
func (a *Agent) runs() []jobRun {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.history)
}
