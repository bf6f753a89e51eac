package crashtest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Server is the simulator that a plan is played on.
type Server interface {
	// Exec runs a script, with GO between its batches.
	Exec(script string) error
	// Query returns the text of the first column of all rows of a script.
	Query(script string) (string, error)
	// Capture makes the capture job of a database read the log now.
	Capture(database string) error
	// Arm makes something go wrong.
	Arm(f Fault) error
	// Fired returns how often that has happened, by what it was.
	Fired() (map[Misfortune]int, error)
	// Restart closes all connections.
	Restart() error
	// Dial connects to it, whatever the address.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	// Close ends it.
	Close() error
}

// Misfortune is what a [Fault] does.
type Misfortune string

// The misfortunes.
const (
	Cut      Misfortune = "cut"
	Stall    Misfortune = "stall" // for Fault.Time, then cut
	Wait     Misfortune = "wait"  // for Fault.Time
	Restart  Misfortune = "restart"
	Deadlock Misfortune = "deadlock"
	Lockout  Misfortune = "lock timeout"
)

// misfortunes are all of them.
var misfortunes = []Misfortune{Cut, Stall, Wait, Restart, Deadlock, Lockout}

// Fault is a [simulator.Fault] that can be sent to another process.
type Fault struct {
	On         string
	App        string
	Nth        int
	AfterRows  int64
	AfterBytes int64
	Do         Misfortune
	Time       time.Duration
}

func (f Fault) simulated() simulator.Fault {
	s := simulator.Fault{On: f.On, App: f.App, Nth: f.Nth, AfterRows: f.AfterRows, AfterBytes: f.AfterBytes}
	switch f.Do {
	case Cut:
		s.Do = simulator.Cut()
	case Stall:
		s.Do = simulator.StallFor(f.Time)
	case Wait:
		s.Do = simulator.Delay(f.Time)
	case Restart:
		s.Do = simulator.RestartServer()
	case Deadlock:
		s.Do = simulator.Fail(1205, 13, 51, "Transaction was deadlocked and has been chosen as the deadlock victim.")
	case Lockout:
		s.Do = simulator.Fail(1222, 16, 51, "Lock request time out period exceeded.")
	}
	return s
}

// localServer is a simulator in this process.
type localServer struct {
	*simulator.Server

	mu    sync.Mutex
	armed []armed
}

// armed is something that goes wrong once.
type armed struct {
	do    Misfortune
	fault *simulator.ArmedFault
}

// NewServer starts a simulator in this process.
func NewServer() (Server, error) {
	server, err := simulator.New(simulator.Options{
		Logins:     logins,
		Encryption: simulator.EncryptionUnsupported,
	})
	if err != nil {
		return nil, err
	}
	return &localServer{Server: server}, nil
}

// logins are the server's.
var logins = map[string]string{"sa": password, readerLogin: password}

// password is looked for in everything that is logged.
const password = "s3cr3t-P@ss;word"

func (s *localServer) Query(script string) (string, error) {
	sets, err := s.Server.Query(script)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	text := sqltypes.Type{ID: sqltypes.NVarChar, Length: sqltypes.Max}
	for _, set := range sets {
		for _, r := range set.Rows {
			v, err := sqltypes.Convert(r[0], set.Columns[0].Type, text, sqltypes.DefaultStyle)
			if err != nil {
				return "", fmt.Errorf("reading an answer: %w", err)
			}
			if !v.IsNull() {
				b.WriteString(v.Str())
			}
		}
	}
	return b.String(), nil
}

func (s *localServer) Capture(database string) error { return s.CaptureNow(database) }

func (s *localServer) Arm(f Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = append(s.armed, armed{f.Do, s.Control(f.simulated())})
	return nil
}

// Fired implements [Server].
func (s *localServer) Fired() (map[Misfortune]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fired := map[Misfortune]int{}
	for _, a := range s.armed {
		if n := a.fault.Fired(); n > 0 {
			fired[a.do] += n
		}
	}
	return fired, nil
}

func (s *localServer) Restart() error {
	s.Server.Restart()
	return nil
}

func (s *localServer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.DialContext(ctx, network, address)
}
