package storage

import (
	"strings"
	"sync"
)

// counters are durable numbers outside of transactions. mu is a leaf.
type counters struct {
	mu     sync.Mutex
	values map[string]int64
	// dirty holds the keys that changed since they were last written to the file.
	dirty map[string]bool
}

func newCounters() *counters {
	return &counters{values: make(map[string]int64), dirty: make(map[string]bool)}
}

// counterValue is a counter for the file; a missing one was deleted.
type counterValue struct {
	key     string
	value   int64
	deleted bool
}

func (c *counters) add(key string, delta int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] += delta
	c.dirty[key] = true
	return c.values[key]
}

func (c *counters) set(key string, value int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] = value
	c.dirty[key] = true
}

func (c *counters) get(key string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key]
}

func (c *counters) deletePrefix(prefix string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.values {
		if strings.HasPrefix(key, prefix) {
			delete(c.values, key)
			c.dirty[key] = true
		}
	}
}

// takeDirty returns what must be written.
func (c *counters) takeDirty() []counterValue {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]counterValue, 0, len(c.dirty))
	for key := range c.dirty {
		value, ok := c.values[key]
		list = append(list, counterValue{key: key, value: value, deleted: !ok})
	}
	clear(c.dirty)
	return list
}

// all returns every counter.
func (c *counters) all() []counterValue {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]counterValue, 0, len(c.values))
	for key, value := range c.values {
		list = append(list, counterValue{key: key, value: value})
	}
	return list
}

// markAllDirty makes the next commit write every counter, after a write that failed.
func (c *counters) markAllDirty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.values {
		c.dirty[key] = true
	}
}

// apply takes values from the file.
func (c *counters) apply(list []counterValue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range list {
		if v.deleted {
			delete(c.values, v.key)
		} else {
			c.values[v.key] = v.value
		}
	}
}

// Counter returns the value of a durable counter; 0 if it was never set.
//
// Counters serve identities, rowversions and object ids: they take part in no
// transaction (a rollback does not take back a number, as on the server). A change
// becomes durable with the next commit.
func (db *Database) Counter(key string) int64 { return db.counters.get(key) }

// AddCounter adds delta and returns the new value.
func (db *Database) AddCounter(key string, delta int64) int64 { return db.counters.add(key, delta) }

// SetCounter sets a counter.
func (db *Database) SetCounter(key string, value int64) { db.counters.set(key, value) }

// DeleteCounters removes the counters whose keys begin with prefix.
func (db *Database) DeleteCounters(prefix string) { db.counters.deletePrefix(prefix) }
