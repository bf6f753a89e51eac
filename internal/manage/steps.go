package manage

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// step is a statement to run.
type step struct {
	table *sqlserver.ManagedTable
	plan  Plan
}

// result is what became of it.
type result struct {
	step
	err error
}

// try is how often the statement of a table has failed.
type try struct {
	failures int
	at       time.Time // of the next
	text     string    // of the last error
}

// run runs statements, one after the other. Each failure costs the connection,
// which may be inside of a transaction.
func (m *Manager) run(ctx context.Context, steps []step) []result {
	var results []result
	for _, s := range steps {
		if ctx.Err() != nil {
			break
		}
		if err := m.connect(ctx); err != nil {
			return append(results, result{s, err})
		}
		statement := s.plan.Statement()
		m.opts.Logger.Info("managing capture instances", "table", name(s.table), "reason", s.plan.Reason, "statement", sqlserver.Managing(statement))
		err := m.session.Manage(ctx, statement)
		if err != nil {
			m.disconnect()
		}
		results = append(results, result{s, err})
	}
	return results
}

// note takes the result of a statement. What is to be done next is looked for at
// once; what failed, after a pause that grows.
func (m *Manager) note(r result) {
	t := m.tries[r.table.ObjectID]
	switch {
	case r.err == nil:
		if t != nil {
			m.opts.Logger.Info("capture instances are managed again", "table", name(r.table))
		}
		delete(m.tries, r.table.ObjectID)
		m.wholeAt = time.Time{}
		return
	case sqlserver.Classify(r.err) == sqlserver.ClassCancelled:
		return
	}
	if t == nil {
		t = &try{}
		m.tries[r.table.ObjectID] = t
	}
	t.failures++
	wait := min(retryFirst<<min(t.failures-1, 10), retryLast)
	if passing(r.err) {
		wait = min(wait, busyLast)
	}
	t.at = time.Now().Add(wait)
	text := r.err.Error()
	switch {
	case sqlserver.Overtaken(r.err) && t.failures == 1:
		m.wholeAt = time.Time{} // somebody else was quicker
		m.opts.Logger.Info("what was to be done to a capture instance was done meanwhile, or there is no room for it", "table", name(r.table), "error", r.err)
	case text != t.text:
		t.text = text
		m.opts.Logger.Warn("a statement that manages capture instances failed and is tried again; until then the table is read as it is",
			"table", name(r.table), "statement", r.plan.Statement(), "again_in", wait.String(), "error", r.err)
	}
}

// passing reports whether an error passes by itself soon.
func passing(err error) bool {
	return sqlserver.Busy(err) || sqlserver.Classify(err) == sqlserver.ClassReconnect
}
