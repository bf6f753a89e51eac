package cdc

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"

// onRestore follows a restore of a database that captured changes when it was backed up
// (MS docs: "Work with change data capture and other features", section on restoring).
// Under its old name on its old server capture goes on with its jobs; elsewhere it goes
// with all it made, or, WITH KEEP_CDC, stays without jobs, which must be added again.
func (a *Agent) onRestore(x *engine.Exec, ev engine.RestoreEvent) error {
	id := ev.Database.ID()
	switch {
	case ev.SameDatabase:
		// What the scanner knew was of the database that is gone.
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.scanners, id)
		return nil
	case ev.KeepCDC:
		a.forget(id)
		return dropJobs(x)
	}
	if err := a.dropCapture(x); err != nil {
		return err
	}
	return ev.Database.Storage().SetLogRetention(false)
}
