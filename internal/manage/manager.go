package manage

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

const (
	// lookInterval is how often it is asked whether anything has changed: about
	// as often as the capture job reads the log.
	lookInterval = 5 * time.Second
	// lookFailed is the longest pause after looks that failed.
	lookFailed = time.Minute
	// wholeInterval is how often everything is looked at although nothing has.
	wholeInterval = 5 * time.Minute
	// retryFirst is the pause after the first failure of a table, which is short,
	// because values of new columns are lost meanwhile. Each next one is twice as
	// long, up to busyLast where somebody else works with the table, else up to
	// retryLast.
	retryFirst = lookInterval
	busyLast   = 5 * time.Minute
	retryLast  = time.Hour
	// startAttempts is how often a table is tried before anything is read if it
	// is busy or the connection is lost: rows that it holds by then are in the
	// snapshot.
	startAttempts = 3
	startPause    = time.Second
)

// Session asks and runs statements. [*sqlserver.Conn] is one.
type Session interface {
	ManageRights(ctx context.Context) (sqlserver.ManageRights, error)
	ManagedMark(ctx context.Context) (sqlserver.ManagedMark, error)
	Managed(ctx context.Context, selection sqlserver.Selection) (sqlserver.Managed, error)
	Manage(ctx context.Context, statement string) error
	Close() error
}

var _ Session = (*sqlserver.Conn)(nil)

// Options are what a manager is made with.
type Options struct {
	Owner Owner
	// Selection are the tables to manage, and the instances that may be read.
	Selection sqlserver.Selection
	// Enable gives tables without an instance one, unless there are more tables
	// than Most, if that is not zero.
	Enable bool
	Most   int
	// Connect opens a session with the database.
	Connect func(ctx context.Context) (Session, error)
	Logger  *slog.Logger
	// Warn logs a remark on a table, or on none, once.
	Warn func(table, text string)
}

// Identity tells an instance from a later one of the same name.
type Identity struct {
	ObjectID   int32
	CreateDate time.Time
}

// Read is what is known of a table: which instance is read of it last.
type Read struct {
	Table    int32 // object id
	Instance Identity
	// Alone reports that no other instance of the table is needed.
	Alone bool
}

// Manager manages the capture instances of one database: [Manager.Begin] is
// called once, then [Manager.Run]; the other methods are safe for concurrent use.
type Manager struct {
	opts    Options
	session Session // nil: not connected
	mark    sqlserver.ManagedMark
	// wholeAt is when everything is looked at next; zero: at once.
	wholeAt time.Time
	// lastColumns is the highest column_id that the table of an instance had when
	// it was seen first, told which instances' missing values were told of.
	lastColumns map[Identity]int
	told        map[Identity]bool
	tries       map[int32]*try // by table, those that failed

	mu        sync.Mutex
	read      map[int32]bool // tables
	settled   map[Identity]bool
	news      bool // more is settled than when it was looked last
	permitted bool // by the last look
}

// New returns a manager that has not looked yet.
func New(opts Options) *Manager {
	return &Manager{opts: opts, lastColumns: map[Identity]int{}, told: map[Identity]bool{}, tries: map[int32]*try{}}
}

// Owns reports whether the manager drops an instance that is not needed.
func (m *Manager) Owns(name string) bool { return m.opts.Owner.Owns(name) }

// Permitted reports whether the last look has found that instances may be made.
func (m *Manager) Permitted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.permitted
}

// Know tells what is read of each table, as it is stored.
func (m *Manager) Know(tables []Read) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.settled
	m.read, m.settled = make(map[int32]bool, len(tables)), make(map[Identity]bool, len(tables))
	for _, t := range tables {
		m.read[t.Table] = true
		if t.Alone {
			m.settled[t.Instance] = true
			m.news = m.news || !before[t.Instance]
		}
	}
}

// Begin looks before anything is read and makes the instances that are missing,
// so that the snapshot has the shape of the stream and the tables' rows. What
// fails is left for later. It returns errors of the context and of looking.
func (m *Manager) Begin(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		steps, err := m.look(ctx)
		if err != nil {
			m.disconnect()
			return err
		}
		steps = slices.DeleteFunc(steps, func(s step) bool { return s.plan.Enable == nil })
		again := false
		for _, r := range m.run(ctx, steps) {
			m.note(r)
			if passing(r.err) && attempt < startAttempts {
				again = true
				delete(m.tries, r.table.ObjectID)
			}
		}
		if !again {
			return context.Cause(ctx)
		}
		if err := pause(ctx, startPause); err != nil {
			return err
		}
	}
}

// Run looks every few seconds and does what is to be done, until the context
// ends.
func (m *Manager) Run(ctx context.Context) {
	defer m.disconnect()
	for failures := 0; ; {
		if pause(ctx, min(lookInterval<<min(failures, 10), lookFailed)) != nil {
			return
		}
		err := m.pass(ctx)
		switch {
		case err == nil:
			failures = 0
			continue
		case ctx.Err() != nil:
			return
		case sqlserver.Classify(err) == sqlserver.ClassReconnect:
			m.opts.Logger.Debug("capture instances cannot be looked at", "error", err)
		default:
			m.opts.Warn("", fmt.Sprintf("Capture instances are not managed while they cannot be looked at: %v", err))
		}
		failures++
		m.wholeAt = time.Time{}
		m.disconnect()
	}
}

// pass looks, if there may be something to do, and does it.
func (m *Manager) pass(ctx context.Context) error {
	if due, err := m.due(ctx); !due || err != nil {
		return err
	}
	steps, err := m.look(ctx)
	if err != nil {
		return err
	}
	for _, r := range m.run(ctx, steps) {
		m.note(r)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// connect makes sure that there is a session.
func (m *Manager) connect(ctx context.Context) error {
	if m.session != nil {
		return nil
	}
	session, err := m.opts.Connect(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	m.session = session
	return nil
}

func (m *Manager) disconnect() {
	if m.session == nil {
		return
	}
	if err := m.session.Close(); err != nil {
		m.opts.Logger.Debug("closing the connection that manages capture instances", "error", err)
	}
	m.session = nil
}
