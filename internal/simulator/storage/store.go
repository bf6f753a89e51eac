package storage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Store is a set of databases. All methods are safe for concurrent use.
type Store struct {
	clock Clock
	fsync FsyncPolicy
	dir   string
	lock  *dirLock
	locks *lockManager

	mu        sync.RWMutex
	databases map[int]*Database
}

// Open returns the store of opts.Dir with every commit that reached its files, or an
// empty store. Errors are *CorruptFileError, [ErrDirInUse], or come from the file
// system.
func Open(opts Options) (*Store, error) {
	s := &Store{
		clock: opts.Clock, fsync: opts.Fsync, dir: opts.Dir,
		databases: make(map[int]*Database),
	}
	if s.clock == nil {
		s.clock = SystemClock{}
	}
	s.locks = newLockManager(s.now)
	if s.dir == "" {
		return s, nil
	}
	if err := s.openDir(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// now is the wall clock's time as a file gives it back.
func (s *Store) now() time.Time { return time.Unix(0, s.clock.Now().UnixNano()).UTC() }

// Close ends the store and its files. Open transactions must have ended. Closing
// twice is fine.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, db := range s.databases {
		errs = append(errs, db.closeFile())
	}
	errs = append(errs, s.lock.release())
	s.lock = nil
	return errors.Join(errs...)
}

// CreateDatabase makes an empty database. id is chosen by the caller (sys.databases'
// database_id) and must be positive and free.
func (s *Store) CreateDatabase(name string, id int) (*Database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id <= 0 || s.databases[id] != nil {
		return nil, fmt.Errorf("creating database %q: id %d is not free", name, id)
	}
	db := newDatabase(s, name, id)
	if s.dir != "" {
		if err := db.createFile(s.dir); err != nil {
			return nil, fmt.Errorf("creating database %q: %w", name, err)
		}
	}
	s.databases[id] = db
	return db, nil
}

// DropDatabase removes a database and its file. Its transactions cannot commit any
// more.
func (s *Store) DropDatabase(id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.databases[id]
	if db == nil {
		return fmt.Errorf("dropping database: no database with id %d", id)
	}
	delete(s.databases, id)
	return db.removeFile()
}

// RenameDatabase changes a database's name. Durable.
func (s *Store) RenameDatabase(id int, name string) error {
	db := s.Database(id)
	if db == nil {
		return fmt.Errorf("renaming database: no database with id %d", id)
	}
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	if db.file != nil {
		if err := db.file.writeName(name); err != nil {
			return fmt.Errorf("renaming database %q: %w", db.name, err)
		}
	}
	db.name = name
	return nil
}

// Databases returns the databases by id.
func (s *Store) Databases() []*Database {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []*Database
	for _, id := range slices.Sorted(maps.Keys(s.databases)) {
		list = append(list, s.databases[id])
	}
	return list
}

// Database returns the database of that id, or nil.
func (s *Store) Database(id int) *Database {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.databases[id]
}
