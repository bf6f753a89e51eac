package engine

import (
	"context"
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
	// Version is the product version, "16.0.4165.4" by default.
	Version string
	// Edition is the edition's name, "Developer Edition (64-bit)" by default.
	Edition    string
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
}

// Instance is one SQL Server: its databases, logins and sessions.
type Instance struct {
	hooks     hooks
	faultHook atomic.Pointer[func(StatementInfo) Fault]
}

// New opens an instance and creates its system databases when they are missing.
func New(opts Options) (*Instance, error) { panic("unfinished") }

// Login opens a session. It fails with a *sqltypes.Error 18456 for wrong
// credentials and 4060 for a database that cannot be opened.
func (in *Instance) Login(l Login) (*Session, error) { panic("unfinished") }

// System runs f in a session and transaction of its own as the system, for
// background jobs. The transaction is committed when f returns nil.
func (in *Instance) System(database string, f func(x *Exec) error) error { panic("unfinished") }

// Close ends all sessions and closes the storage if the instance opened it.
func (in *Instance) Close() error { panic("unfinished") }

// Session is one connection's state. Its methods are not safe for concurrent
// use; a running call is ended through its context.
type Session struct{}

func (s *Session) Batch(ctx context.Context, sql string, sink Sink) error { panic("unfinished") }
func (s *Session) Call(ctx context.Context, proc string, args []Arg, sink Sink) error {
	panic("unfinished")
}
func (s *Session) Begin(ctx context.Context, isolation byte, name string, sink Sink) error {
	panic("unfinished")
}
func (s *Session) Commit(ctx context.Context, name string, sink Sink) error   { panic("unfinished") }
func (s *Session) Rollback(ctx context.Context, name string, sink Sink) error { panic("unfinished") }
func (s *Session) Save(ctx context.Context, name string, sink Sink) error     { panic("unfinished") }
func (s *Session) Reset(ctx context.Context, keepTransaction bool, sink Sink) error {
	panic("unfinished")
}
func (s *Session) Close()           { panic("unfinished") }
func (s *Session) SPID() int        { panic("unfinished") }
func (s *Session) Database() string { panic("unfinished") }

// Done is closed when the session is killed or its instance closes.
func (s *Session) Done() <-chan struct{}                         { panic("unfinished") }
func (s *Session) Transaction() (descriptor uint64, active bool) { panic("unfinished") }

// Exec is the context of a running statement, handed to hooks.
type Exec struct{}

func (x *Exec) Context() context.Context                          { panic("unfinished") }
func (x *Exec) Session() *Session                                 { panic("unfinished") }
func (x *Exec) Instance() *Instance                               { panic("unfinished") }
func (x *Exec) Database() *Database                               { panic("unfinished") }
func (x *Exec) Txn() *storage.Txn                                 { panic("unfinished") }
func (x *Exec) Sink() Sink                                        { panic("unfinished") }
func (x *Exec) Now() time.Time                                    { panic("unfinished") }
func (x *Exec) Query(sql string, args ...Arg) (*ResultSet, error) { panic("unfinished") }
func (x *Exec) Exec(sql string, args ...Arg) (int64, error)       { panic("unfinished") }
func (x *Exec) Message(m *Message) error                          { panic("unfinished") }

// ResultSet is a query's answer held in memory.
type ResultSet struct {
	Columns []Column
	Rows    [][]sqltypes.Value
}

// Database is one database of the catalogue.
type Database struct{}

// Table is a table's definition in the catalogue.
type Table struct{}
