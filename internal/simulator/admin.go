package simulator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/cdc"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// open opens the databases and runs the init script on a new server.
func (s *Server) open() error {
	fresh, err := isFresh(s.opts.Dir)
	if err != nil {
		return err
	}
	instance, err := engine.New(engine.Options{
		Dir:        s.opts.Dir,
		Clock:      s.opts.Clock,
		Location:   s.opts.Location,
		Version:    s.opts.Version,
		Edition:    s.opts.Edition,
		Collation:  s.opts.Collation,
		ServerName: s.opts.ServerName,
		Logins:     s.opts.Logins,
	})
	if err != nil {
		return fmt.Errorf("opening databases: %w", err)
	}
	s.instance, s.backend = instance, instanceBackend{instance}
	s.agent = cdc.Enable(instance, s.opts.Clock)
	instance.SetFaultHook(s.statementFault)
	if fresh && s.opts.Init != "" {
		if err := s.initialize(); err != nil {
			_ = s.Close()
			return fmt.Errorf("running init script: %w", err)
		}
	}
	return nil
}

// isFresh reports that there is no server in dir yet.
func isFresh(dir string) (bool, error) {
	if dir == "" {
		return true, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking into the data folder: %w", err)
	}
	return len(entries) == 0, nil
}

// shut stops the jobs and closes the databases.
func (s *Server) shut() error {
	s.StopAgent()
	if s.instance == nil {
		return nil
	}
	return s.instance.Close()
}

// initialize runs the script of the options in its database.
func (s *Server) initialize() error {
	if s.opts.InitDatabase != "" {
		if err := s.Exec("CREATE DATABASE " + "[" + strings.ReplaceAll(s.opts.InitDatabase, "]", "]]") + "]"); err != nil {
			return err
		}
	}
	_, err := s.QueryIn(s.opts.InitDatabase, s.opts.Init)
	return err
}

// Instance is the engine, for those who want more than T-SQL gives.
func (s *Server) Instance() *engine.Instance { return s.instance }

// Exec runs a script as sa, with GO between its batches, and returns its first
// error, a *sqltypes.Error, if any. Batches behind a failed one do not run.
func (s *Server) Exec(script string) error {
	_, err := s.Query(script)
	return err
}

// Query is Exec that returns the result sets of the script.
func (s *Server) Query(script string) ([]engine.ResultSet, error) { return s.QueryIn("", script) }

// QueryIn is Query in a connection to a database; empty is master.
func (s *Server) QueryIn(database, script string) ([]engine.ResultSet, error) {
	return s.query(engine.Login{Database: database}, script)
}

// query runs a script as sa over the database and replica of a login.
func (s *Server) query(login engine.Login, script string) ([]engine.ResultSet, error) {
	login.User, login.Password, login.App = "sa", s.opts.Logins["sa"], "simulator"
	admin, err := s.backend.Login(login)
	if err != nil {
		return nil, fmt.Errorf("logging in as sa: %w", err)
	}
	defer admin.Close()
	var results collector
	for _, batch := range tsql.SplitBatches(script) {
		for range batch.Count {
			if err := admin.Batch(context.Background(), batch.Text, &results); err != nil {
				return results.sets, err
			}
			if results.err != nil {
				return results.sets, results.err
			}
		}
	}
	return results.sets, nil
}

// collector is the engine.Sink of Query.
type collector struct {
	sets []engine.ResultSet
	err  *sqltypes.Error // the first
}

func (c *collector) Columns(cols []engine.Column) error {
	c.sets = append(c.sets, engine.ResultSet{Columns: append([]engine.Column(nil), cols...)})
	return nil
}

func (c *collector) Row(row []sqltypes.Value) error {
	set := &c.sets[len(c.sets)-1]
	set.Rows = append(set.Rows, append([]sqltypes.Value(nil), row...))
	return nil
}

func (c *collector) Message(m *engine.Message) error {
	if m.Class > maxInfoClass && c.err == nil {
		c.err = &sqltypes.Error{
			Number: m.Number, State: m.State, Class: m.Class,
			Message: m.Text, Procedure: m.Procedure, Line: int32(m.Line),
		}
	}
	return nil
}

func (c *collector) Done(engine.DoneInfo) error                     { return nil }
func (c *collector) EnvChange(engine.EnvKind, []byte, []byte) error { return nil }
func (c *collector) ReturnStatus(int32) error                       { return nil }

func (c *collector) ReturnValue(string, int, sqltypes.Type, sqltypes.Value) error { return nil }
