package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// backupFolder is the folder of backup files inside the data folder.
const backupFolder = "backup"

// backupMedia keeps the backup files of a server that has no folder.
type backupMedia struct {
	mu    sync.Mutex
	files map[string][]byte
}

// backupSet is one backup in a file: a line of JSON, then Size bytes of package
// storage's. Several follow each other.
type backupSet struct {
	Format   string
	Kind     string // "database" or "log"
	Server   string
	Database string
	// Family is the family_guid of the database, Fork its recovery_fork_guid.
	Family, Fork string
	LastLSN      string
	Finished     time.Time
	Size         int
	data         []byte
}

// backupFormat names the file format; anything else is not a backup of ours (3241).
const backupFormat = "benthos-sqlserver-cdc simulator backup 1"

func (b *backupSet) append(file []byte) ([]byte, error) {
	b.Format, b.Size = backupFormat, len(b.data)
	head, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	file = append(append(file, head...), '\n')
	return append(file, b.data...), nil
}

// errNotBackup says that a file holds something else than backups.
var errNotBackup = errors.New("not a backup file")

// parseBackup reads the backups of a file.
func parseBackup(file []byte) ([]backupSet, error) {
	var sets []backupSet
	for len(file) > 0 {
		head, rest, ok := bytes.Cut(file, []byte("\n"))
		var b backupSet
		if !ok || json.Unmarshal(head, &b) != nil || b.Format != backupFormat || b.Size < 0 || b.Size > len(rest) {
			return nil, errNotBackup
		}
		b.data, file = rest[:b.Size:b.Size], rest[b.Size:]
		sets = append(sets, b)
	}
	return sets, nil
}

// mediaPath is where a backup file lies. Every file is kept in one folder under its
// whole name as given, so that no statement reaches outside of it.
func (in *Instance) mediaPath(name string) string {
	return filepath.Join(in.opts.Dir, backupFolder, "file-"+url.PathEscape(name))
}

// readMedia returns a backup file; fs.ErrNotExist without one.
func (in *Instance) readMedia(name string) ([]byte, error) {
	if in.opts.Dir != "" {
		return os.ReadFile(in.mediaPath(name))
	}
	in.media.mu.Lock()
	defer in.media.mu.Unlock()
	file, ok := in.media.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return file, nil
}

// writeMedia replaces a backup file: whole or not at all.
func (in *Instance) writeMedia(name string, file []byte) error {
	if in.opts.Dir == "" {
		in.media.mu.Lock()
		defer in.media.mu.Unlock()
		if in.media.files == nil {
			in.media.files = map[string][]byte{}
		}
		in.media.files[name] = file
		return nil
	}
	path := in.mediaPath(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the backup folder: %w", err)
	}
	if err := os.WriteFile(path+".new", file, 0o600); err != nil {
		return fmt.Errorf("writing backup file %q: %w", name, err)
	}
	return os.Rename(path+".new", path)
}
