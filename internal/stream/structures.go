package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Structure is what consumers were told last of a table's structure. It does
// not change once made.
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
	// Optional are the columns whose fields became optional, with a message like
	// this, because CDC recorded a NULL in a NOT NULL column.
	Optional []string `json:"optional,omitempty"`
	// Previous is what they were told before: it counts after such a restart.
	// Nil if nothing was, or once no restart can go back there.
	Previous *Structure `json:"previous,omitempty"`
}

// Structures are those of instances that a snapshot tells of.
func Structures(choices []Choice) []Structure {
	var list []Structure
	for _, c := range choices {
		list = append(list, structureOf(c.First().Shape, event.TableCreated))
	}
	return list
}

func structureOf(shape *schema.Table, change string) Structure {
	return Structure{Schema: shape.Schema, Table: shape.Name, Digest: event.StructureDigest(shape), Change: change}
}

// names reports whether s is of a table.
func (s *Structure) names(t *schema.Table) bool { return s.Schema == t.Schema && s.Table == t.Name }

// toldAt returns what had been told at a position; nil if nothing had.
func (s *Structure) toldAt(at lsn.Position) *Structure {
	for ; s != nil; s = s.Previous {
		switch {
		case !at.Before(s.At):
			return s
		case s.Previous == nil && s.Change != event.TableCreated:
			// What came before is not known any more, but something did.
			return &Structure{Schema: s.Schema, Table: s.Table, Change: event.TableCreated}
		}
	}
	return nil
}

func sameStructure(a, b Structure) bool { return reflect.DeepEqual(a, b) }

// previous is the event before, which the source blocks of schema changes
// show.
type previous struct {
	table          schema.TableID
	commit, change lsn.LSN
	serial         int64
	time           time.Time
}

// tell appends the messages of the changes that are pending and come before a
// position. As Debezium does, those of a new table show it as their source, and
// others the event before.
func (r *Reader) tell(b *event.Batch, before lsn.Position) error {
	for len(r.pending) > 0 && r.pending[0].at.Before(before) {
		c := r.pending[0]
		if r.superseded(before) {
			r.pending = r.pending[1:]
			continue
		}
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
		r.pending = r.pending[1:]
	}
	return nil
}

// superseded reports whether the first pending change is another structure of a
// table that has one more before a position, and so no row of this one.
func (r *Reader) superseded(before lsn.Position) bool {
	first := r.pending[0]
	return first.kind == event.TableAltered && slices.ContainsFunc(r.pending[1:], func(c structureChange) bool {
		return c.kind == event.TableAltered && c.table.ID() == first.table.ID() && c.at.Before(before)
	})
}

// noDDL stands for the statement, which change data capture does not record
// with the structure.
const noDDL = "N/A"

// tellAlone emits the changes that are pending up to the end of a commit LSN and
// have no event to come before.
func (r *Reader) tellAlone(ctx context.Context, commit lsn.LSN) error {
	end := lsn.EndOf(commit)
	end.Ordinal = math.MaxUint64
	b := event.NewBatch(len(r.pending))
	if err := r.tell(b, end); err != nil || len(b.Messages) == 0 {
		return err
	}
	upTo := b.Messages[len(b.Messages)-1].Position
	if err := r.sink.Emit(ctx, b, r.placeAt(upTo)); err != nil {
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
	if !errors.As(cause, &gone) || gone.New != nil || !r.bound.IsZero() || r.opts.SchemaChanges == nil || !wholeRows {
		return cause
	}
	i := slices.IndexFunc(r.structures, func(s Structure) bool { return s.Schema == gone.Old.Schema && s.Table == gone.Old.Table })
	if i < 0 || r.structures[i].Change == event.TableDropped && !r.position.Before(r.structures[i].At) {
		return cause
	}
	structures := slices.Clone(r.structures)
	told := r.structures[i].toldAt(r.position)
	structures[i].Change, structures[i].At, structures[i].Previous = event.TableDropped, beside(r.position), told
	if err := r.store(ctx, r.byCommand, Known{Instances: r.known, Structures: structures}); err != nil {
		return err
	}
	r.structures = structures
	table := &schema.Table{Database: r.opts.Database, Schema: gone.Old.Schema, Name: gone.Old.Table}
	r.pending = []structureChange{{event.TableDropped, table, structures[i].At}}
	return cmp.Or(r.tellAlone(ctx, r.position.Commit), cause)
}
