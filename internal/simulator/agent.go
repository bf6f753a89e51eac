package simulator

import "errors"

// errNoAgent is answered by a server behind a test's own backend.
var errNoAgent = errors.New("simulator: no agent")

// CaptureNow reads the transaction log of a database into its change tables at
// once, whether or not the agent is running.
func (s *Server) CaptureNow(database string) error {
	if s.agent == nil {
		return errNoAgent
	}
	return s.agent.CaptureNow(database)
}

// StopAgent stops the jobs, as stopping the SQL Server Agent service does.
func (s *Server) StopAgent() {
	if s.agent != nil {
		s.agent.Stop()
	}
}

// StartAgent starts them again; they run when the server starts.
func (s *Server) StartAgent() {
	if s.agent != nil {
		s.agent.Start()
	}
}

// OnScan installs a function that is asked before each scan of a database's log: an
// error, such as a *sqltypes.Error, makes the scan fail. nil removes it.
func (s *Server) OnScan(hook func(database string) error) {
	if s.agent != nil {
		s.agent.OnScan(hook)
	}
}
