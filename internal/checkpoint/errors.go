package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// The reasons of the errors of this package that a person must cure.
const (
	ReasonDamaged = "checkpoint_damaged"
	ReasonFormat  = "checkpoint_format"
	ReasonTaken   = "checkpoint_taken"
	ReasonCache   = "checkpoint_cache"
)

// DamagedError says that a document exists in a cache and cannot be trusted.
// Starting afresh instead would silently repeat or skip changes, so a person
// has to decide.
type DamagedError struct {
	// Keys are the cache keys of the slots, and Problems what is wrong with
	// each, in the same order.
	Keys     []string
	Problems []string
	// WithoutIt says what goes on without the document; see [StoreOptions].
	WithoutIt string
}

// Error names the keys, what is wrong with them and what to do.
func (e *DamagedError) Error() string {
	var b bytes.Buffer
	b.WriteString("the checkpoint is damaged:")
	for i, key := range e.Keys {
		fmt.Fprintf(&b, " %q: %s;", key, e.Problems[i])
	}
	b.WriteString(" " + e.Remedy())
	return b.String()
}

// Reason is a fixed word, for metrics.
func (e *DamagedError) Reason() string { return ReasonDamaged }

// Remedy says how to go on.
func (e *DamagedError) Remedy() string {
	text := "restore one of the keys from a backup of the cache, or start afresh"
	if e.WithoutIt != "" {
		text += fmt.Sprintf("; with only %q and %q removed, %s", e.Keys[0], e.Keys[1], e.WithoutIt)
	}
	return text
}

// LostError says that a cache has no value for documents that were saved in it,
// and has kept what proves it. That is no fresh start: what was changed since would
// never be read.
type LostError struct {
	// Keys are those of the documents, each without a value in both slots.
	Keys [2]string
	// Proof is the key that shows that they had one.
	Proof string
}

// Error names the keys, the proof and what to do.
func (e *LostError) Error() string {
	return fmt.Sprintf("the checkpoint cache has lost the position: %q and %q, .a and .b of each, have no value, and %q shows that they had; %s",
		e.Keys[0], e.Keys[1], e.Proof, e.Remedy())
}

// Reason is a fixed word, for metrics.
func (e *LostError) Reason() string { return ReasonDamaged }

// Remedy says how to go on.
func (e *LostError) Remedy() string {
	return "see that the cache neither evicts nor expires what it is given, and restore them from a backup of it, or start afresh"
}

// FormatError says that a document was written by a newer version of the
// plugin, which this one cannot read.
type FormatError struct {
	Key    string
	Format int // of the document
}

// Error names the key and what to do.
func (e *FormatError) Error() string {
	return fmt.Sprintf("checkpoint key %q has format %d, of a newer version of this plugin; %s", e.Key, e.Format, e.Remedy())
}

// Reason is a fixed word, for metrics.
func (e *FormatError) Reason() string { return ReasonFormat }

// Remedy says how to go on.
func (e *FormatError) Remedy() string { return "upgrade the plugin, or start afresh" }

// TakenError says that another owner keeps its documents under the same key.
type TakenError struct {
	Key string
	By  Owner
}

// Error names the other owner and what to do.
func (e *TakenError) Error() string {
	return fmt.Sprintf("another input, on host %q since %s, keeps its position under the same key (%q names it) and goes on from there; this one has stopped, and saves nothing any more; %s",
		e.By.Host, e.By.Since.Format(time.RFC3339), e.Key, e.Remedy())
}

// Reason is a fixed word, for metrics.
func (e *TakenError) Reason() string { return ReasonTaken }

// Remedy says how to go on.
func (e *TakenError) Remedy() string {
	return "stop one of the two; if both are wanted, give one another topic_prefix or checkpoint_cache_key, and restart it"
}

// CacheError says that a cache cannot keep a position, and that time does not
// change it: its folder is missing or not for us to write, or it forgets what it
// is given.
type CacheError struct {
	Key string
	Err error
}

// Error names the key and what to do.
func (e *CacheError) Error() string {
	return fmt.Sprintf("the checkpoint cache does not keep key %q: %v; %s", e.Key, e.Err, e.Remedy())
}

// Unwrap returns what the cache said.
func (e *CacheError) Unwrap() error { return e.Err }

// Reason is a fixed word, for metrics.
func (e *CacheError) Reason() string { return ReasonCache }

// Remedy says how to go on.
func (e *CacheError) Remedy() string {
	return "make the folder of a file cache, writable for this process, or name a cache in checkpoint_cache that persists"
}

// refused returns the error of a first write to a cache. One that is down may
// come back; the rest is a person's to cure.
func refused(key string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EROFS) {
		return &CacheError{key, err}
	}
	return fmt.Errorf("writing key %q to the checkpoint cache, which must be writable before anything is read: %w", key, err)
}
