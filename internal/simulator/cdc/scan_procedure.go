package cdc

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// jobSession is the session id that error 22903 names for the capture job, whose
// sessions come and go with its scans here.
const jobSession = 51

func (a *Agent) registerScanProcedure() {
	defaults := jobSettings{maxTrans: 500, maxScans: 10}
	if a.in.AtLeast(engine.Release2025) {
		defaults = jobSettings{maxTrans: 10000, maxScans: 100}
	}
	transactions, scans, zero := sqltypes.IntOf(defaults.maxTrans), sqltypes.IntOf(defaults.maxScans), sqltypes.IntOf(0)
	a.in.RegisterProcedure("sys", "sp_cdc_scan", engine.Procedure{
		Params: []engine.Param{
			{Name: "@maxtrans", Type: intType, Default: &transactions},
			{Name: "@maxscans", Type: intType, Default: &scans},
			{Name: "@continuous", Type: tinyintType, Default: &zero},
			{Name: "@pollinginterval", Type: bigintType, Default: &zero},
			{Name: "@is_from_job", Type: intType, Default: &zero},
		},
		Run: func(x *engine.Exec, args []sqltypes.Value) (int32, error) {
			if err := a.scanNow(x, args); err != nil {
				return 1, err
			}
			return 0, nil
		},
	})
}

// scanNow is sys.sp_cdc_scan (MS docs): it works without the agent, but not
// beside the capture job or another session that scans. A continuous scan goes on
// until its session ends.
func (a *Agent) scanNow(x *engine.Exec, args []sqltypes.Value) error {
	if !isOwner(x) {
		return errNotPublisher()
	}
	if err := requireEnabled(x); err != nil {
		return err
	}
	if err := checkScan(args); err != nil {
		return err
	}
	database := x.Database().ID()
	if a.isStarted(jobKey{database, captureJob}) && !a.in.IsAzure() {
		return errScannerRunning(jobSession)
	}
	scanner := a.scanner(database)
	if other := scanner.claim(x.Session().SPID()); other != 0 {
		return errScannerRunning(other)
	}
	defer scanner.release()
	for {
		if err := scanner.run(x.Context(), int(args[0].Int64()), int(args[1].Int64())); err != nil || !args[2].Bool() {
			return err
		}
		if err := a.wait(x, max(time.Duration(args[3].Int64())*time.Second, shortestPoll)); err != nil {
			return err
		}
	}
}

// checkScan checks the parameters in the order of the real procedure.
func checkScan(args []sqltypes.Value) error {
	maxTrans, maxScans, continuous, polling := args[0], args[1], args[2], args[3]
	switch {
	case continuous.IsNull() || continuous.Int64() > 1:
		return errContinuous()
	case continuous.Int64() == 0 && !polling.IsNull() && polling.Int64() != 0:
		return errScanPolling()
	case continuous.Int64() == 1 && (polling.IsNull() || polling.Int64() < 0 || polling.Int64() >= secondsPerDay):
		return errPollingInterval()
	case maxTrans.IsNull() || maxTrans.Int64() < 1:
		return errMaxTrans()
	case maxScans.IsNull() || maxScans.Int64() < 1:
		return errMaxScans()
	}
	return nil
}

// wait lets time pass, or the statement end.
func (a *Agent) wait(x *engine.Exec, d time.Duration) error {
	passed := make(chan struct{})
	cancel := a.clock.AfterFunc(d, func() { close(passed) })
	defer cancel()
	select {
	case <-passed:
		return nil
	case <-x.Context().Done():
		return x.Context().Err()
	}
}
