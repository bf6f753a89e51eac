package manage

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

const (
	// lookInterval is how often it is asked whether anything has changed: about
	// as often as the capture job reads the log.
	lookInterval = 5 * time.Second
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

// Catalogue answers looks. [*sqlserver.Conn] is one.
type Catalogue interface {
	ManageRights(ctx context.Context) (sqlserver.ManageRights, error)
	ManagedMark(ctx context.Context) (sqlserver.ManagedMark, error)
	Managed(ctx context.Context, selection sqlserver.Selection) (sqlserver.Managed, error)
}

// Session runs statements. [*sqlserver.Conn] is one.
type Session interface {
	Manage(ctx context.Context, statement string) error
	Close() error
}

var (
	_ Catalogue = (*sqlserver.Conn)(nil)
	_ Session   = (*sqlserver.Conn)(nil)
)

// Options are what a manager is made with.
type Options struct {
	Owner Owner
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

// Manager manages the capture instances of one database. Its methods are called
// by one goroutine at a time.
type Manager struct {
	opts    Options
	read    map[int32]bool // tables
	settled map[Identity]bool
	mark    sqlserver.ManagedMark
	// lookAt and wholeAt are when it is looked next; zero: at once.
	lookAt, wholeAt time.Time
	// lastColumns is the highest column_id that the table of an instance had when
	// it was seen first, told which instances' missing values were told of.
	lastColumns map[Identity]int
	told        map[Identity]bool
	tries       map[int32]*try // by table, those that failed

	selection sqlserver.Selection
	permitted bool          // by the last look
	running   chan []result // gives what became of the statements that run; nil: none do
	wait      sync.WaitGroup
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
	return &Manager{
		opts: opts, settled: map[Identity]bool{}, lastColumns: map[Identity]int{}, told: map[Identity]bool{}, tries: map[int32]*try{},
	}
}

// Owns reports whether the manager drops an instance that is not needed.
func (m *Manager) Owns(name string) bool { return m != nil && m.opts.Owner.Owns(name) }

// Permitted reports whether the last look has found that instances may be made.
func (m *Manager) Permitted() bool { return m.permitted }

// Know tells what is read of each table, as it is stored.
func (m *Manager) Know(tables []Read) {
	read, settled := make(map[int32]bool, len(tables)), make(map[Identity]bool, len(tables))
	for _, t := range tables {
		read[t.Table] = true
		if !t.Alone {
			continue
		}
		settled[t.Instance] = true
		if !m.settled[t.Instance] {
			m.wholeAt = time.Time{}
		}
	}
	m.read, m.settled = read, settled
}

// Begin looks before anything is read and makes the instances that are missing,
// so that the snapshot has the shape of the stream and the tables' rows. What
// fails is left for later. It returns errors of the context and of the catalogue.
func (m *Manager) Begin(ctx context.Context, catalogue Catalogue, selection sqlserver.Selection) error {
	m.selection = selection
	if !m.idle() {
		return nil // those of before a lost connection
	}
	for attempt := 1; ; attempt++ {
		steps, err := m.look(ctx, catalogue)
		if err != nil {
			return err
		}
		var enable []step
		for _, s := range steps {
			if s.plan.Enable != nil {
				enable = append(enable, s)
			}
		}
		if len(enable) == 0 {
			return nil
		}
		again := false
		for _, r := range m.run(ctx, enable) {
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

// Look looks, if it is time, and begins to run what is to be done, until life
// ends. It does not wait for that.
func (m *Manager) Look(ctx, life context.Context, catalogue Catalogue) error {
	now := time.Now()
	if now.Before(m.lookAt) || !m.idle() {
		return nil
	}
	m.lookAt = now.Add(lookInterval)
	if due, err := m.due(ctx, now, catalogue); !due || err != nil {
		return err
	}
	steps, err := m.look(ctx, catalogue)
	if err != nil || len(steps) == 0 {
		return err
	}
	running := make(chan []result, 1)
	m.running = running
	m.wait.Go(func() { running <- m.run(life, steps) })
	return nil
}

// idle reports whether no statement is being run. It takes the results of those
// that were.
func (m *Manager) idle() bool {
	if m.running == nil {
		return true
	}
	select {
	case results := <-m.running:
		m.running = nil
		for _, r := range results {
			m.note(r)
		}
		return true
	default:
		return false
	}
}

// due reports whether everything is to be looked at.
func (m *Manager) due(ctx context.Context, now time.Time, catalogue Catalogue) (bool, error) {
	if !now.Before(m.wholeAt) {
		return true, nil
	}
	mark, err := catalogue.ManagedMark(ctx)
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
func (m *Manager) look(ctx context.Context, catalogue Catalogue) ([]step, error) {
	var err error
	if m.permitted, err = m.mayManage(ctx, catalogue); err != nil {
		return nil, err
	}
	var managed sqlserver.Managed
	if m.permitted {
		if managed, err = catalogue.Managed(ctx, m.selection); err != nil {
			return nil, err
		}
	}
	m.wholeAt = time.Now().Add(wholeInterval)
	enable := m.opts.Enable
	if tables := len(managed.Tables); enable && m.opts.Most > 0 && tables > m.opts.Most {
		enable = false
		m.opts.Warn("", fmt.Sprintf("tables without a capture instance get none, because the lists name %d tables, more than the %d of guardrail_collections_max", tables, m.opts.Most))
	}
	terms := Terms{
		Owner: m.opts.Owner, Enable: enable, Readable: m.selection.MatchInstance, Names: managed.Names,
		Read:       func(table int32) bool { return m.read[table] },
		Settled:    func(ci *sqlserver.ManagedInstance) bool { return m.settled[identify(ci)] },
		LastColumn: func(ci *sqlserver.ManagedInstance) int { return m.lastColumns[identify(ci)] },
	}
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

// mayManage reports whether instances may be made and dropped here, and warns if
// they may not.
func (m *Manager) mayManage(ctx context.Context, catalogue Catalogue) (bool, error) {
	rights, err := catalogue.ManageRights(ctx)
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
	var (
		results []result
		session Session
	)
	for _, s := range steps {
		if ctx.Err() != nil {
			break
		}
		var err error
		if session == nil {
			if session, err = m.opts.Connect(ctx); err != nil {
				results = append(results, result{s, fmt.Errorf("connecting: %w", err)})
				break
			}
		}
		statement := s.plan.Statement()
		m.opts.Logger.Info("managing capture instances", "table", name(s.table), "reason", s.plan.Reason, "statement", sqlserver.Managing(statement))
		if err = session.Manage(ctx, statement); err != nil {
			m.close(session)
			session = nil
		}
		results = append(results, result{s, err})
	}
	if session != nil {
		m.close(session)
	}
	return results
}

func (m *Manager) close(session Session) {
	if err := session.Close(); err != nil {
		m.opts.Logger.Debug("closing the connection that manages capture instances", "error", err)
	}
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

// Close waits for the statement that is being run, which the end of its context
// ends. A nil manager has none.
func (m *Manager) Close(ctx context.Context) {
	if m == nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.wait.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func identify(ci *sqlserver.ManagedInstance) Identity { return Identity{ci.ObjectID, ci.CreateDate} }

// name returns the name of a table, for people.
func name(t *sqlserver.ManagedTable) string { return t.Schema + "." + t.Name }
