package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Options configure an instance. The zero value is a server in memory with the
// login sa and an empty password.
type Options struct {
	// Storage is the store to use; when nil one is opened on Dir.
	Storage *storage.Store
	// Dir is the data folder; empty keeps everything in memory.
	Dir   string
	Clock storage.Clock
	// Location is the server's time zone; nil is UTC.
	Location *time.Location
	// Version is the product that is played, one of Versions(): "2022" by default.
	Version string
	// Edition is one of Editions(): "Developer" by default. Azure SQL Database
	// and Managed Instance have none.
	Edition string
	// Collation is the server's, and that of new databases;
	// SQL_Latin1_General_CP1_CI_AS by default.
	Collation  string
	ServerName string
	// Logins are SQL logins and their passwords, created when missing. The login
	// sa always exists and is a sysadmin.
	Logins map[string]string
}

// Login is what a client presents.
type Login struct {
	User, Password, Database string
	Host, App, Language      string
	ReadIntent               bool
	// Replica is the replica that the client has connected to, nil for the
	// instance itself.
	Replica *Replica
	// Connection is how the client is connected, for sys.dm_exec_connections.
	Connection ConnectionInfo
}

// ConnectionInfo describes a client's connection. The zero value is that of a
// session without one.
type ConnectionInfo struct {
	Encrypted bool
	// Protocol is the TDS version as LOGIN7 carries it, 0x74000004 for 7.4.
	Protocol uint32
	// PacketSize is in bytes.
	PacketSize int
	// ClientAddress and ClientPort are empty for a connection that is not of TCP.
	ClientAddress string
	ClientPort    int
}

// Instance is one SQL Server: its databases, logins and sessions.
type Instance struct {
	opts     Options
	product  product
	edition  string
	store    *storage.Store
	ownStore bool
	clock    storage.Clock
	location *time.Location
	started  time.Time

	hooks       hooks
	faultHook   atomic.Pointer[func(StatementInfo) Fault]
	versions    atomic.Int64
	descriptors atomic.Uint64

	programs  *programCache
	planCache *planCache
	modules   sync.Map // *Module -> *parsedModule

	mu        sync.Mutex
	databases map[string]*Database
	sessions  map[int]*Session
	logins    map[string]*login

	users userChanges
	media backupMedia

	sequentialIDs sequentialIDs

	master, tempdb, model, msdb *Database

	replicas replicaSet

	settingsMu     sync.Mutex
	trace          traceFlags
	serverSettings map[string]serverSetting // by configuration option
}

// New opens an instance and creates its system databases when they are missing.
func New(opts Options) (*Instance, error) {
	if opts.Clock == nil {
		opts.Clock = storage.SystemClock{}
	}
	if opts.Location == nil {
		opts.Location = time.UTC
	}
	if opts.Collation == "" {
		opts.Collation = sqltypes.DefaultCollation.Name
	}
	collation, ok := sqltypes.LookupCollation(opts.Collation)
	if !ok {
		return nil, fmt.Errorf("unknown collation %q", opts.Collation)
	}
	opts.Collation = collation.Name
	played, err := lookupProduct(opts.Version)
	if err != nil {
		return nil, err
	}
	edition, err := lookupEdition(opts.Edition)
	if err != nil {
		return nil, err
	}
	if opts.ServerName == "" {
		opts.ServerName = "SIMULATOR"
	}
	in := &Instance{
		opts: opts, product: played, edition: edition, store: opts.Storage, clock: opts.Clock, location: opts.Location,
		hooks: newHooks(), programs: newProgramCache(), planCache: newPlanCache(),
		databases: map[string]*Database{}, sessions: map[int]*Session{}, logins: map[string]*login{},
		serverSettings: map[string]serverSetting{},
	}
	if _, err := in.collation(opts.Collation); err != nil {
		return nil, fmt.Errorf("collation %q in version %s: %w", opts.Collation, in.product.name, err)
	}
	in.started = in.Now()
	if in.store == nil {
		store, err := storage.Open(storage.Options{Dir: opts.Dir, Clock: opts.Clock})
		if err != nil {
			return nil, fmt.Errorf("opening storage: %w", err)
		}
		in.store, in.ownStore = store, true
	}
	if err := in.openDatabases(); err != nil {
		return nil, err
	}
	if err := in.loadLogins(); err != nil {
		return nil, err
	}
	in.registerSystemObjects()
	return in, nil
}

// Now is the time of the server's clock in its time zone.
func (in *Instance) Now() time.Time { return in.clock.Now().In(in.location) }

// Clock is the clock that the instance was opened with.
func (in *Instance) Clock() storage.Clock { return in.clock }

// Location is the server's time zone.
func (in *Instance) Location() *time.Location { return in.location }

// ServerName is the name the server gives itself (@@SERVERNAME).
func (in *Instance) ServerName() string { return in.opts.ServerName }

// The ids of the system databases (MS docs: sys.databases).
const (
	masterID = 1
	tempdbID = 2
	modelID  = 3
	msdbID   = 4
)

func (in *Instance) openDatabases() error {
	names := map[int]string{masterID: "master", tempdbID: "tempdb", modelID: "model", msdbID: "msdb"}
	for _, id := range []int{masterID, tempdbID, modelID, msdbID} {
		sdb := in.store.Database(id)
		if id == tempdbID && sdb != nil {
			// tempdb starts empty with every start of the server.
			if err := in.store.DropDatabase(id); err != nil {
				return fmt.Errorf("clearing tempdb: %w", err)
			}
			sdb = nil
		}
		if sdb == nil {
			if err := in.createDatabase(names[id], id, "sa", ""); err != nil {
				return fmt.Errorf("creating system database %q: %w", names[id], err)
			}
		}
	}
	for _, sdb := range in.store.Databases() {
		if in.databases[fold(sdb.Name())] != nil {
			continue
		}
		db := &Database{in: in, id: sdb.ID(), name: sdb.Name(), store: sdb}
		if err := db.load(); err != nil {
			return fmt.Errorf("loading database %q: %w", sdb.Name(), err)
		}
		in.databases[fold(db.name)] = db
	}
	in.master, in.tempdb = in.databases["master"], in.databases["tempdb"]
	in.model, in.msdb = in.databases["model"], in.databases["msdb"]
	return nil
}

// Database finds a database by name, nil when there is none.
func (in *Instance) Database(name string) *Database {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.databases[fold(name)]
}

// DatabaseByID finds a database by its database_id, nil when there is none.
func (in *Instance) DatabaseByID(id int) *Database {
	for _, db := range in.Databases() {
		if db.id == id {
			return db
		}
	}
	return nil
}

// Databases lists the databases by id.
func (in *Instance) Databases() []*Database {
	in.mu.Lock()
	defer in.mu.Unlock()
	list := make([]*Database, 0, len(in.databases))
	for _, db := range in.databases {
		list = append(list, db)
	}
	slices.SortFunc(list, func(a, b *Database) int { return a.id - b.id })
	return list
}

// Sessions lists the sessions by id.
func (in *Instance) Sessions() []*Session {
	in.mu.Lock()
	defer in.mu.Unlock()
	list := make([]*Session, 0, len(in.sessions))
	for _, s := range in.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Session) int { return a.spid - b.spid })
	return list
}

// Login opens a session. It fails with a *sqltypes.Error 18456 for wrong
// credentials and 4060 for a database that cannot be opened.
func (in *Instance) Login(l Login) (*Session, error) {
	in.mu.Lock()
	known := in.logins[fold(l.User)]
	in.mu.Unlock()
	if known == nil || known.Disabled || known.Password != l.Password {
		return nil, sqltypes.Errorf(18456, 1, 14, "Login failed for user '%s'.", l.User)
	}
	name := l.Database
	if name == "" {
		name = known.DefaultDatabase
	}
	db := in.Database(name)
	if db == nil || !db.accessible(known) {
		return nil, sqltypes.Errorf(4060, 1, 11, "Cannot open database \"%s\" requested by the login. The login failed.", name)
	}
	replica := l.Replica
	if replica == nil && in.replicas.group() != nil {
		replica = in.replicas.members()[0]
	}
	if err := replica.admits(db, l.ReadIntent); err != nil {
		return nil, err
	}
	l.Replica = replica
	s := newSession(in, db, known, l)
	if !in.register(s, db) {
		return nil, sqltypes.Errorf(4060, 1, 11, "Cannot open database \"%s\" requested by the login. The login failed.", name)
	}
	return s, nil
}

// firstSPID is the lowest id of a user session.
const firstSPID = 51

// register gives the session its id. It answers false when the database is in
// single-user mode and taken.
func (in *Instance) register(s *Session, db *Database) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if db.claimed.Load() != nil {
		return false
	}
	if db.Catalog().options.UserAccess == "SINGLE_USER" {
		for _, other := range in.sessions {
			if other.currentDB() == db {
				return false
			}
		}
	}
	for id := firstSPID; ; id++ {
		if in.sessions[id] == nil {
			s.spid, s.owner.SPID = id, id
			in.sessions[id] = s
			s.showOutside()
			return true
		}
	}
}

func (in *Instance) forget(s *Session) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.sessions[s.spid] == s {
		delete(in.sessions, s.spid)
	}
	in.forgetTrace(s)
}

// Close ends all sessions and closes the storage if the instance opened it.
func (in *Instance) Close() error {
	for _, s := range in.Sessions() {
		s.kill()
	}
	for _, s := range in.Sessions() {
		s.Close()
	}
	if in.ownStore {
		return in.store.Close()
	}
	return nil
}
