package streamtest

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// Cache is a cache resource in memory that outlives streams. Its hooks, when
// set, may fail, delay or mangle; they are set before a stream begins.
type Cache struct {
	// OnGet is given what Get would return, nil if there is nothing.
	OnGet func(key string, value []byte) ([]byte, error)
	// OnSet is called before a value is kept.
	OnSet func(ctx context.Context, key string, value []byte) error

	mu     sync.Mutex
	values map[string][]byte
}

var _ service.Cache = (*Cache)(nil)

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{values: map[string][]byte{}} }

// Copy returns a cache with the values of now and no hooks: what a crash
// leaves.
func (c *Cache) Copy() *Cache { return &Cache{values: c.Values()} }

// Values returns what the cache holds. The slices are not to be changed.
func (c *Cache) Values() map[string][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.values)
}

// Put sets a value without asking hooks.
func (c *Cache) Put(key string, value []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] = bytes.Clone(value)
}

// Get implements [service.Cache].
func (c *Cache) Get(_ context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	value, ok := c.values[key]
	c.mu.Unlock()
	if c.OnGet != nil {
		var err error
		if value, err = c.OnGet(key, value); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, service.ErrKeyNotFound
	}
	return bytes.Clone(value), nil
}

// Set implements [service.Cache].
func (c *Cache) Set(ctx context.Context, key string, value []byte, _ *time.Duration) error {
	if c.OnSet != nil {
		if err := c.OnSet(ctx, key, value); err != nil {
			return err
		}
	}
	c.Put(key, value)
	return nil
}

// Add implements [service.Cache].
func (c *Cache) Add(_ context.Context, key string, value []byte, _ *time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.values[key]; ok {
		return service.ErrKeyAlreadyExists
	}
	c.values[key] = bytes.Clone(value)
	return nil
}

// Delete implements [service.Cache].
func (c *Cache) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.values, key)
	return nil
}

// Close implements [service.Cache].
func (c *Cache) Close(context.Context) error { return nil }
