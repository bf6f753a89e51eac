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

// passing reports whether an error passes by itself soon.
func passing(err error) bool {
	return sqlserver.Busy(err) || sqlserver.Classify(err) == sqlserver.ClassReconnect
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

// due reports whether everything is to be looked at.
func (m *Manager) due(ctx context.Context) (bool, error) {
	now := time.Now()
	m.mu.Lock()
	due := m.news || !now.Before(m.wholeAt)
	m.news = false
	m.mu.Unlock()
	if due {
		return true, nil
	}
	if err := m.connect(ctx); err != nil {
		return false, err
	}
	mark, err := m.session.ManagedMark(ctx)
	if err != nil {
		return false, err
	}
	if mark != m.mark {
		m.mark = mark
		return true, nil
	}
	for _, t := range m.tries {
		if !now.Before(t.at) {
			return true, nil
		}
	}
	return false, nil
}

// look decides what is to be done to each table.
func (m *Manager) look(ctx context.Context) ([]step, error) {
	if err := m.connect(ctx); err != nil {
		return nil, err
	}
	permitted, err := m.mayManage(ctx)
	if err != nil {
		return nil, err
	}
	var managed sqlserver.Managed
	if permitted {
		if managed, err = m.session.Managed(ctx, m.opts.Selection); err != nil {
			return nil, err
		}
	}
	m.wholeAt = time.Now().Add(wholeInterval)
	terms := m.terms(permitted, managed)
	var steps []step
	for _, t := range managed.Tables {
		m.tell(t, terms)
		plan := Decide(t, terms)
		if plan.Remark != "" {
			m.opts.Warn(name(t), plan.Remark)
		}
		for i := range t.Instances {
			if id := identify(&t.Instances[i]); m.lastColumns[id] == 0 {
				m.lastColumns[id] = lastColumn(t)
			}
		}
		if failed := m.tries[t.ObjectID]; plan.Statement() != "" && (failed == nil || !time.Now().Before(failed.at)) {
			steps = append(steps, step{t, plan})
		}
	}
	return steps, nil
}

// terms returns what the decisions of a look depend on.
func (m *Manager) terms(permitted bool, managed sqlserver.Managed) Terms {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.permitted = permitted
	read, settled, enable := m.read, m.settled, m.opts.Enable
	if tables := len(managed.Tables); enable && m.opts.Most > 0 && tables > m.opts.Most {
		enable = false
		m.opts.Warn("", fmt.Sprintf("tables without a capture instance get none, because the lists name %d tables, more than the %d of guardrail_collections_max", tables, m.opts.Most))
	}
	return Terms{
		Owner: m.opts.Owner, Enable: enable, Readable: m.opts.Selection.MatchInstance, Names: managed.Names,
		Read:       func(table int32) bool { return read[table] },
		Settled:    func(ci *sqlserver.ManagedInstance) bool { return settled[identify(ci)] },
		LastColumn: func(ci *sqlserver.ManagedInstance) int { return m.lastColumns[identify(ci)] },
	}
}

// mayManage reports whether instances may be made and dropped here, and warns if
// they may not.
func (m *Manager) mayManage(ctx context.Context) (bool, error) {
	rights, err := m.session.ManageRights(ctx)
	switch {
	case err != nil:
		return false, err
	case rights.ReadOnly:
		m.opts.Warn("", "capture instances are not managed, only followed, because the database, or this replica of it, takes no changes")
	case !rights.Owner:
		m.opts.Warn("", "capture instances are not managed, only followed, because the login may not make them; run ALTER ROLE db_owner ADD MEMBER "+sqlserver.Quote(rights.User))
	default:
		return true, nil
	}
	return false, nil
}

// tell warns of values that were not recorded, once for each instance.
func (m *Manager) tell(t *sqlserver.ManagedTable, terms Terms) {
	if len(t.Instances) != 2 {
		return
	}
	id := identify(&t.Instances[1])
	if m.told[id] {
		return
	}
	if text := Unrecorded(t, terms); text != "" {
		m.told[id] = true
		m.opts.Warn(name(t), text)
	}
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
	switch {
	case r.err == nil, sqlserver.Overtaken(r.err):
		if t := m.tries[r.table.ObjectID]; t != nil {
			m.opts.Logger.Info("capture instances are managed again", "table", name(r.table))
		}
		delete(m.tries, r.table.ObjectID)
		m.wholeAt = time.Time{}
		return
	case sqlserver.Classify(r.err) == sqlserver.ClassCancelled:
		return
	}
	t := m.tries[r.table.ObjectID]
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
	if text := r.err.Error(); text != t.text {
		t.text = text
		m.opts.Logger.Warn("a statement that manages capture instances failed and is tried again; until then the table is read as it is",
			"table", name(r.table), "statement", r.plan.Statement(), "again_in", wait.String(), "error", r.err)
	}
}

func identify(ci *sqlserver.ManagedInstance) Identity { return Identity{ci.ObjectID, ci.CreateDate} }

// name returns the name of a table, for people.
func name(t *sqlserver.ManagedTable) string { return t.Schema + "." + t.Name }
