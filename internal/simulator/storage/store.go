// Package storage is the row store of the simulator.
package storage

// Store is a set of databases.
type Store struct{}

// Open returns the store of opts.Dir with every commit that reached its files, or an
// empty store. Errors are *CorruptFileError or come from the file system.
func Open(opts Options) (*Store, error) { panic("unfinished") }

// Close ends the store and its files. Open transactions must have ended. Closing
// twice is fine.
func (s *Store) Close() error { panic("unfinished") }

// CreateDatabase makes an empty database. id is chosen by the caller (sys.databases'
// database_id) and must be free, and so must the name.
func (s *Store) CreateDatabase(name string, id int) (*Database, error) { panic("unfinished") }

// DropDatabase removes a database and its file. The caller has ended its
// transactions.
func (s *Store) DropDatabase(id int) error { panic("unfinished") }

// RenameDatabase changes a database's name. Durable.
func (s *Store) RenameDatabase(id int, name string) error { panic("unfinished") }

// Databases returns the databases by id.
func (s *Store) Databases() []*Database { panic("unfinished") }

// Database returns the database of that id, or nil.
func (s *Store) Database(id int) *Database { panic("unfinished") }
