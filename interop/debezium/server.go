package debezium

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// password is sa's.
const password = "Scenario.1"

// Server is a simulator that captures changes only when told to, with a clock
// that stands until it is moved. It is reached in memory, and over TCP once it
// listens.
type Server struct {
	Clock *ScriptedClock

	simulator *simulator.Server
	served    chan error // nil unless it listens
	port      string     // once it listens
	databases []string
	polls     *simulator.ArmedFault
	client    *transaction // nil if none is open
}

// StartServer starts a server with these databases, each with change data
// capture enabled and snapshot isolation allowed.
func StartServer(databases []string) (*Server, error) {
	clock := NewScriptedClock()
	sim, err := simulator.New(simulator.Options{Clock: clock, Logins: map[string]string{"sa": password}})
	if err != nil {
		return nil, fmt.Errorf("starting the simulator: %w", err)
	}
	s := &Server{Clock: clock, simulator: sim, databases: databases}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, sim.Close())
	}
	return s, nil
}

func (s *Server) open() error {
	s.simulator.StopAgent()
	for _, name := range s.databases {
		quoted := bracket(name)
		script := fmt.Sprintf("CREATE DATABASE %s\nGO\nALTER DATABASE %s SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\nUSE %s\nEXEC sys.sp_cdc_enable_db",
			quoted, quoted, quoted)
		if err := s.simulator.Exec(script); err != nil {
			return fmt.Errorf("creating database %q: %w", name, err)
		}
	}
	// A fault that does nothing counts the statements that look for changes.
	s.polls = s.simulator.Control(simulator.Fault{On: "select from cdc.lsn_time_mapping", Keep: true})
	return nil
}

// Listen makes the server reachable over TCP, on a port of its own.
func (s *Server) Listen(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	if _, s.port, err = net.SplitHostPort(listener.Addr().String()); err != nil {
		return fmt.Errorf("reading the listener's address: %w", err)
	}
	s.served = make(chan error, 1)
	go func() { s.served <- s.simulator.Serve(listener) }()
	return nil
}

// DialContext connects in memory, whatever the address.
func (s *Server) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return s.simulator.DialContext(ctx, network, address)
}

// Properties say how a connector reaches the server once it listens.
func (s *Server) Properties() Properties {
	return Properties{
		"database.hostname":   "127.0.0.1",
		"database.port":       s.port,
		"database.user":       "sa",
		"database.password":   password,
		"driver.encrypt":      "false",
		"driver.loginTimeout": "30",
	}
}

// Exec runs a script in the first database, with GO between its batches.
func (s *Server) Exec(script string) error {
	_, err := s.query(s.databases[0], script)
	return err
}

// Holds reports whether a condition of SQL holds in the first database.
func (s *Server) Holds(condition string) (bool, error) {
	sets, err := s.query(s.databases[0], "SELECT 1 WHERE "+condition)
	return err == nil && len(sets[0].Rows) == 1, err
}

// Capture reads the logs of all databases once.
func (s *Server) Capture() error {
	for _, name := range s.databases {
		if err := s.simulator.CaptureNow(name); err != nil {
			return fmt.Errorf("capturing %q: %w", name, err)
		}
	}
	return nil
}

// Signal puts a row into a signal table.
func (s *Server) Signal(database, schema, table, id, kind, data string) error {
	_, err := s.query(database, fmt.Sprintf("INSERT %s.%s VALUES (%s, %s, %s)",
		bracket(schema), bracket(table), quote(id), quote(kind), quote(data)))
	return err
}

// PollsUntilRead is how many more statements that look for changes it takes at
// most until a connector has certainly read all that is captured now: the rest
// of the round under way, a whole round, and the first of another. A round asks
// once for the newest LSN and at most once for each change table.
func (s *Server) PollsUntilRead() (int, error) {
	tables := 0
	for _, name := range s.databases {
		sets, err := s.query(name, "SELECT capture_instance FROM cdc.change_tables")
		if err != nil {
			return 0, err
		}
		tables += len(sets[0].Rows)
	}
	return len(s.databases) * 2 * (tables + 1), nil
}

// Polls is how many statements have looked for changes so far.
func (s *Server) Polls() int { return s.polls.Fired() }

// Disconnect closes all connections, which rolls back their transactions.
func (s *Server) Disconnect() { s.simulator.Restart() }

// Close ends all connections and the server.
func (s *Server) Close() error {
	var err error
	if s.client != nil {
		err = s.Rollback()
	}
	err = errors.Join(err, s.simulator.Close())
	if s.served == nil {
		return err
	}
	select {
	case served := <-s.served:
		if !errors.Is(served, simulator.ErrServerClosed) {
			err = errors.Join(err, served)
		}
	case <-time.After(closePatience):
		err = errors.Join(err, errors.New("the listener goes on"))
	}
	return err
}

const closePatience = 10 * time.Second

func (s *Server) query(database, script string) ([]engine.ResultSet, error) {
	sets, err := s.simulator.Query("USE " + bracket(database) + "\nGO\n" + script)
	var failed *sqltypes.Error
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("error %d, line %d: %w", failed.Number, failed.Line, err)
	}
	return sets, err
}

func bracket(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

func quote(text string) string { return "N'" + strings.ReplaceAll(text, "'", "''") + "'" }
