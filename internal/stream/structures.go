package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Structure is what consumers were told last of a table's structure.
type Structure struct {
	Schema string `json:"schema"`
	Table  string `json:"table"`
	// Digest stands for the columns and the key.
	Digest string `json:"digest"`
	// Change is the type of the message that told of it, one of those of
	// package event, and At its position: after a restart behind an earlier
	// one the message is sent again. At is zero for what the snapshot told.
	Change string       `json:"change"`
	At     lsn.Position `json:"at"`
}

// Structures are those of instances that a snapshot tells of.
func Structures(choices []Choice) []Structure {
	var list []Structure
	for _, c := range choices {
		list = append(list, structureOf(c, event.TableCreated, lsn.Position{}))
	}
	return list
}

func structureOf(c Choice, change string, at lsn.Position) Structure {
	shape := c.Instance.Shape
	return Structure{Schema: shape.Schema, Table: shape.Name, Digest: event.StructureDigest(shape), Change: change, At: at}
}

// structureChange is a change that is to be told of.
type structureChange struct {
	kind  string
	table *schema.Table // of a dropped one, the name alone
	at    lsn.Position
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

// compareStructures returns what is known of the tables' structures once the
// changes returned, which come after a position, are told. Where nothing is
// known, nothing is new.
func (r *Reader) compareStructures(next []Choice, at lsn.Position) (known []Structure, changes []structureChange) {
	told := at
	change := func(kind string, table *schema.Table) lsn.Position {
		if r.opts.SchemaChanges == nil {
			return told
		}
		at = beside(at)
		changes = append(changes, structureChange{kind, table, at})
		return at
	}
	for _, old := range r.structures {
		i := slices.IndexFunc(next, func(c Choice) bool {
			return c.Instance.Shape.Schema == old.Schema && c.Instance.Shape.Name == old.Table
		})
		untold := told.Before(old.At)
		switch {
		case i >= 0:
			now := structureOf(next[i], old.Change, old.At)
			switch {
			case old.Change == event.TableDropped || untold && old.Change == event.TableCreated:
				now.Change = event.TableCreated
				now.At = change(now.Change, next[i].Instance.Shape)
			case untold || old.Digest != now.Digest:
				now.Change = event.TableAltered
				now.At = change(now.Change, next[i].Instance.Shape)
			}
			old = now
		case old.Change == event.TableDropped && !untold:
		case r.opts.Selection == nil || r.opts.Selection.Match(old.Schema, old.Table):
			old.Change = event.TableDropped
			old.At = change(old.Change, &schema.Table{Database: r.opts.Database, Schema: old.Schema, Name: old.Table})
		}
		known = append(known, old)
	}
	for _, c := range next {
		shape := c.Instance.Shape
		if slices.ContainsFunc(known, func(s Structure) bool { return s.Schema == shape.Schema && s.Table == shape.Name }) {
			continue
		}
		s := structureOf(c, event.TableCreated, lsn.Position{})
		if len(r.structures) > 0 {
			s.At = change(s.Change, shape)
		}
		known = append(known, s)
	}
	return known, changes
}

// previous is the event before, which the source blocks of schema changes
// show.
type previous struct {
	table          schema.TableID
	commit, change lsn.LSN
	serial         int64
	time           time.Time
}

// tell appends the messages of the changes that are pending. As Debezium does,
// those of a new table show it as their source, and others the event before.
func (r *Reader) tell(b *event.Batch) error {
	for _, c := range r.pending {
		id := c.table.ID()
		if c.kind != event.TableAltered {
			r.previous.table, r.previous.time = id, time.Now()
		}
		if r.previous.commit.IsZero() {
			r.previous.commit, r.previous.change = r.position.Commit, r.position.Change
		}
		p := r.previous
		if p.time.IsZero() {
			p.time = time.Now()
		}
		err := r.opts.SchemaChanges.Append(b, event.SchemaChange{
			Type: c.kind, Table: c.table, DDL: noDDL, SourceTable: p.table, Position: c.at,
			CommitLSN: p.commit, ChangeLSN: p.change, SourceTime: p.time, Serial: p.serial,
		})
		if err != nil {
			return fmt.Errorf("telling of a change of table %s: %w", id, err)
		}
	}
	r.pending = nil
	return nil
}

// noDDL stands for the statement, which change data capture does not record
// with the structure.
const noDDL = "N/A"

// tellAlone emits the changes that are pending and have no event to come
// before.
func (r *Reader) tellAlone(ctx context.Context) error {
	if len(r.pending) == 0 {
		return nil
	}
	b := event.NewBatch(len(r.pending))
	if err := r.tell(b); err != nil {
		return err
	}
	upTo := b.Messages[len(b.Messages)-1].Position
	if err := r.sink.Emit(ctx, b, upTo); err != nil {
		r.loaded = false // compare again: nobody was told
		return err
	}
	r.position = upTo
	return nil
}

// tellGone emits, before the error about it ends the reading, that the table
// of an instance is captured no more. Where some messages of the last row may
// be missing yet, it does not: they come first.
func (r *Reader) tellGone(ctx context.Context, cause error) error {
	var gone *InstanceError
	wholeRows := r.position.Command == lsn.MaxCommand || r.position.Ordinal >= rowOrdinals
	if !errors.As(cause, &gone) || gone.New != nil || r.opts.SchemaChanges == nil || !wholeRows {
		return cause
	}
	i := slices.IndexFunc(r.structures, func(s Structure) bool { return s.Schema == gone.Old.Schema && s.Table == gone.Old.Table })
	if i < 0 || r.structures[i].Change == event.TableDropped && !r.position.Before(r.structures[i].At) {
		return cause
	}
	structures := slices.Clone(r.structures)
	structures[i].Change, structures[i].At = event.TableDropped, beside(r.position)
	if err := r.store(ctx, r.byCommand, Known{Instances: r.known, Structures: structures}); err != nil {
		return err
	}
	r.structures = structures
	table := &schema.Table{Database: r.opts.Database, Schema: gone.Old.Schema, Name: gone.Old.Table}
	r.pending = []structureChange{{event.TableDropped, table, structures[i].At}}
	return cmp.Or(r.tellAlone(ctx), cause)
}
