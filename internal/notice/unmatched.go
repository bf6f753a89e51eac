package notice

import (
	"maps"
	"slices"
	"sync"
)

// Unmatched gathers from the databases of an input which entries of its lists
// match nothing there. With several databases an entry may be meant for one of
// them: it is worth a warning when it matches in none. It is safe for
// concurrent use.
type Unmatched struct {
	once      *Once
	databases func() int // of the input

	mu   sync.Mutex
	told map[string][]string // what has no match, by the entry of database_names
}

// NewUnmatched returns what warns through once, given how many databases an input
// has at present.
func NewUnmatched(once *Once, databases func() int) *Unmatched {
	return &Unmatched{once: once, databases: databases, told: map[string][]string{}}
}

// Tell takes the remarks on all entries that match nothing in a database, and
// warns of what no database has a match for, once each has told. It does nothing
// for nil, of a database that is only looked at: in a test of the connection,
// or for an offset.
func (u *Unmatched) Tell(database string, remarks []string) {
	if u == nil {
		return
	}
	databases := u.databases()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.told[database] = remarks
	u.warn(databases)
}

// Absent goes on without a database that cannot be read: that an entry protects
// nothing is not to be found out only when all databases work.
func (u *Unmatched) Absent(database string) {
	databases := u.databases()
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.told[database]; !known {
		u.told[database] = nil
		u.warn(databases)
	}
}

func (u *Unmatched) warn(databases int) {
	if len(u.told) < databases {
		return
	}
	readable, counts := 0, map[string]int{}
	for _, remarks := range u.told {
		if remarks == nil {
			continue
		}
		readable++
		for _, remark := range remarks {
			counts[remark]++
		}
	}
	for _, remark := range slices.Sorted(maps.Keys(counts)) {
		if counts[remark] == readable {
			u.once.Warn("", remark)
		}
	}
}
