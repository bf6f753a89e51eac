package storage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrDirInUse says that another process has the store's folder open.
var ErrDirInUse = errors.New("data folder is in use by another process")

const (
	filePrefix = "database-"
	fileSuffix = ".log"
	tempSuffix = ".tmp"
	lockName   = "lock"
)

func filePath(dir string, id int) string {
	return filepath.Join(dir, filePrefix+strconv.Itoa(id)+fileSuffix)
}

// openDir locks the folder and reads its databases.
func (s *Store) openDir() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("opening the data folder: %w", err)
	}
	var err error
	if s.lock, err = lockDir(filepath.Join(s.dir, lockName)); err != nil {
		return fmt.Errorf("opening the data folder %q: %w", s.dir, err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("opening the data folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), tempSuffix):
			// Left by a crash in the middle of a creation or a compaction.
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("removing an unfinished file: %w", err)
			}
		case strings.HasPrefix(e.Name(), filePrefix) && strings.HasSuffix(e.Name(), fileSuffix):
			if err := s.openFile(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// openFile reads one database.
func (s *Store) openFile(path string) error {
	db, err := s.loadFile(path)
	if err != nil {
		return err
	}
	if s.databases[db.id] != nil || path != filePath(s.dir, db.id) {
		return errors.Join(fmt.Errorf("database file %q holds the database with id %d", path, db.id), db.closeFile())
	}
	s.databases[db.id] = db
	return db.compact(path)
}

// loadFile replays a file and cuts a torn tail.
func (s *Store) loadFile(path string) (*Database, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a database file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading database file %q: %w", path, err), f.Close())
	}
	db, end, err := s.replay(f, info.Size(), path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Truncate(end); err != nil {
		return nil, errors.Join(fmt.Errorf("cutting the torn end of database file %q: %w", path, err), f.Close())
	}
	db.file = &logFile{f: f, size: end}
	return db, nil
}

// replay rebuilds the database of a file; end is where its last whole record ends.
func (s *Store) replay(f io.ReaderAt, size int64, path string) (db *Database, end int64, err error) {
	frames := &frameReader{r: f, size: size}
	db = newDatabase(s, "", 0)
	r := &replayer{db: db}
	for {
		at := frames.off
		kind, payload, ok, err := frames.next()
		if err != nil {
			return nil, 0, fmt.Errorf("reading database file %q: %w", path, err)
		}
		if !ok {
			break
		}
		if err := r.frame(kind, payload); err != nil {
			return nil, 0, &CorruptFileError{Path: path, Offset: at, Reason: err.Error()}
		}
		if !r.pending() {
			end = frames.off
		}
	}
	damaged, err := frames.anyAfter(frames.off)
	if err != nil {
		return nil, 0, fmt.Errorf("reading database file %q: %w", path, err)
	}
	if damaged || !r.seenHeader {
		return nil, 0, &CorruptFileError{Path: path, Offset: frames.off, Reason: "checksum or length does not match"}
	}
	r.finish()
	return db, end, nil
}

// createFile makes the file of a new database: whole or not at all.
func (db *Database) createFile(dir string) error {
	path := filePath(dir, db.id)
	return db.replaceFile(path, func(l *logFile) error { return l.writeHeader(db.id, db.name) })
}

// replaceFile puts a new file with what write writes in the place of path.
func (db *Database) replaceFile(path string, write func(*logFile) error) error {
	f, err := os.OpenFile(path+tempSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	l := &logFile{f: f}
	err = write(l)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && db.file != nil {
		// Windows renames over closed files only.
		err = db.file.close()
		db.file = nil
	}
	if err == nil {
		err = rename(f, path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(path+tempSuffix))
	}
	if l.f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	db.file = l
	return syncDir(filepath.Dir(path))
}

// rename closes the finished temporary file and gives it its name.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// syncDir makes a rename durable. Some systems cannot open folders; there a rename is
// durable with the next flush of the file.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	_ = d.Sync()
	return d.Close()
}

// closeFile writes what is not written yet and closes the file.
func (db *Database) closeFile() error {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	if db.file == nil {
		return nil
	}
	var err error
	if dirty := db.counters.takeDirty(); len(dirty) > 0 {
		err = db.file.writeCounters(dirty)
	}
	err = errors.Join(err, db.file.close())
	db.file = nil
	db.closed = true
	return err
}

// removeFile ends a database and deletes its file.
func (db *Database) removeFile() error {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	db.closed = true
	if db.file == nil {
		return nil
	}
	name := db.file.f.Name()
	err := errors.Join(db.file.f.Close(), os.Remove(name))
	db.file = nil
	if err != nil {
		return fmt.Errorf("dropping database %q: %w", db.name, err)
	}
	return nil
}
