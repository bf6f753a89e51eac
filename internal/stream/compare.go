package stream

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// structureChange is a change that is to be told of.
type structureChange struct {
	kind  string
	table *schema.Table // of a dropped one, the name alone
	at    lsn.Position
}

// structureDiff finds out what consumers are to be told of the tables' structures
// behind a position.
type structureDiff struct {
	reader  *Reader
	at      lsn.Position
	changes []found
}

// found is a change, before the position of its message is known.
type found struct {
	structureChange
	// after is what the message comes after.
	after lsn.Position
	entry *Structure
}

// compareStructures returns what is known of the tables' structures once the
// changes returned, which come after a position, are told. Where nothing is
// known, nothing is new.
func (r *Reader) compareStructures(next []Choice, at lsn.Position) (known []Structure, changes []structureChange) {
	c := structureDiff{reader: r, at: at}
	var entries []*Structure
	for _, old := range r.structures {
		told := old.toldAt(at)
		i := slices.IndexFunc(next, func(n Choice) bool { return old.names(n.Instance.Shape) })
		switch {
		case r.isHeldStructure(&old):
			entries = append(entries, &old) // what is told of it is told when it is read
		case i >= 0:
			entries = append(entries, c.versions(next[i], told))
		case told == nil, told.Change == event.TableDropped:
			entries = append(entries, told)
		case r.opts.Selection == nil || r.opts.Selection.Match(old.Schema, old.Table):
			name := &schema.Table{Database: r.opts.Database, Schema: old.Schema, Name: old.Table}
			entries = append(entries, c.change(event.TableDropped, name, told, at))
		default:
			entries = append(entries, told)
		}
	}
	for _, n := range next {
		if slices.ContainsFunc(r.structures, func(s Structure) bool { return s.names(n.Instance.Shape) }) {
			continue
		}
		var told *Structure
		if len(r.structures) == 0 && r.bound.IsZero() {
			first := structureOf(n.First().Shape, event.TableCreated)
			told = &first
		}
		entries = append(entries, c.versions(n, told))
	}
	changes = c.place()
	for _, e := range entries {
		if e != nil {
			known = append(known, *e)
		}
	}
	return known, changes
}

// versions compares the structures of what is read of a table, one after the
// other, with what was told of it: nil if nothing was.
func (c *structureDiff) versions(choice Choice, told *Structure) *Structure {
	now := choice.First().Shape
	last := c.version(now, told, c.at)
	if choice.Before == nil {
		return last
	}
	// The newer instance's comes before its first row, wherever reading began.
	return c.version(choice.Instance.Shape, last, lsn.EndOf(choice.Identity.FirstStart.Prev()))
}

func (c *structureDiff) version(now *schema.Table, told *Structure, after lsn.Position) *Structure {
	if told != nil {
		now = now.WithNullable(told.Optional)
	}
	switch {
	case told == nil || told.Change == event.TableDropped:
		return c.change(event.TableCreated, now, told, after)
	case told.Digest != event.StructureDigest(now):
		return c.change(event.TableAltered, now, told, after)
	default:
		return told
	}
}

// change notes a change, and returns what is known once it is told.
func (c *structureDiff) change(kind string, now *schema.Table, told *Structure, after lsn.Position) *Structure {
	var digest string
	if kind != event.TableDropped {
		digest = event.StructureDigest(now)
	} else if told != nil {
		digest = told.Digest
	}
	entry := &Structure{Schema: now.Schema, Table: now.Name, Digest: digest, Change: kind, At: c.at}
	if told != nil {
		entry.Optional = told.Optional
	}
	if c.reader.opts.SchemaChanges == nil {
		return entry
	}
	entry.Previous = told
	c.changes = append(c.changes, found{structureChange{kind: kind, table: now}, after, entry})
	return entry
}

// place gives the messages their positions, one after the other.
func (c *structureDiff) place() (changes []structureChange) {
	slices.SortStableFunc(c.changes, func(a, b found) int { return a.after.Compare(b.after) })
	at := c.at
	for _, f := range c.changes {
		if at.Before(f.after) {
			at = f.after
		}
		at = beside(at)
		f.at, f.entry.At = at, at
		changes = append(changes, f.structureChange)
	}
	return changes
}

// rowOrdinals is more than the messages that one row has.
const rowOrdinals = 8

// beside returns the position of a message that comes after all messages of
// the row at a position, or after the transaction that it stands for, and
// before whatever comes next.
func beside(at lsn.Position) lsn.Position {
	at.Ordinal = max(at.Ordinal+1, rowOrdinals)
	return at
}
