package checkpoint

import (
	"context"
	"errors"
)

// ErrNotFound is what [Cache.Get] returns for a key that has no value. Any
// other error means that the value could not be read, which is not the same:
// taking it for a fresh start would repeat or skip a whole database.
var ErrNotFound = errors.New("key not found")

// Cache is the key-value store that documents are kept in. Implementations
// must be safe for concurrent use.
type Cache interface {
	// Get returns the value of a key, or an error that wraps [ErrNotFound].
	Get(ctx context.Context, key string) ([]byte, error)
	// Set writes the value of a key. It need not be atomic: a value that is
	// cut short or mangled is found out when it is read.
	Set(ctx context.Context, key string, value []byte) error
}
