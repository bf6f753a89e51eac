package stream

import (
	"context"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// optionalAt returns the columns of which consumers knew at a position that
// their fields are optional.
func (r *Reader) optionalAt(t *tracked, at lsn.Position) []string {
	for i := range r.structures {
		if s := &r.structures[i]; s.names(t.shape) {
			if told := s.toldAt(at); told != nil {
				return told.Optional
			}
		}
	}
	return nil
}

// Optional returns the columns of a table whose fields consumers know to have
// become optional.
func (k Known) Optional(table *schema.Table) []string {
	for i := range k.Structures {
		if k.Structures[i].names(table) {
			return k.Structures[i].Optional
		}
	}
	return nil
}

// WithOptional returns what is known once fields of a table have become
// optional in a snapshot.
func (k Known) WithOptional(table *schema.Table, columns []string) Known {
	k.Structures = slices.Clone(k.Structures)
	for i, s := range k.Structures {
		if s.names(table) {
			s.Digest, s.Optional = event.StructureDigest(table.WithNullable(columns)), slices.Clone(columns)
			k.Structures[i] = s
		}
	}
	return k
}

// makeOptional makes fields optional of which consumers know that they are.
func (t *tracked) makeOptional(columns []string) error {
	t.optional = columns
	missing := slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return slices.Contains(t.encoder.Optional(), name) })
	if err := t.encoder.MakeOptional(missing); err != nil {
		return fmt.Errorf("preparing table %s: %w", t.name(), err)
	}
	return nil
}

// tellOptional tells consumers, before the messages of a row that begin at had
// in the batch, of the fields that became optional with it. That is stored
// before: a restart behind the message knows them to be optional, one before it
// tells of them again. It returns where the row's messages begin then. On an
// error they are taken out.
func (p *pass) tellOptional(ctx context.Context, t *tracked, row lsn.Position, had int) (int, error) {
	var news []string
	for _, name := range t.encoder.Optional() {
		if !slices.Contains(t.optional, name) {
			news = append(news, name)
		}
	}
	at := p.position
	if had > 0 {
		at = p.batch.Messages[had-1].Position
	}
	// Not between the messages of a row of which some were delivered.
	if at = beside(at); len(news) == 0 || !at.Before(row) {
		return had, nil
	}
	end := len(p.batch.Messages)
	err := p.becomeOptional(ctx, t, slices.Concat(t.optional, news), at)
	if err == nil {
		err = p.tell(p.batch, row)
	}
	if err != nil {
		p.batch.Messages = p.batch.Messages[:had]
		return had, err
	}
	// What was told goes before the row.
	told := slices.Clone(p.batch.Messages[end:])
	p.batch.Messages = slices.Insert(p.batch.Messages[:end], had, told...)
	return had + len(told), nil
}

// becomeOptional notes that fields of a table are optional from a position on,
// where consumers are to be told of it, in all versions of the table from there
// on.
func (r *Reader) becomeOptional(ctx context.Context, t *tracked, columns []string, at lsn.Position) error {
	pending := slices.Clone(r.pending)
	for i, c := range pending {
		if c.table.ID() == t.shape.ID() && c.kind != event.TableDropped {
			pending[i].table = c.table.WithNullable(columns)
		}
	}
	table := t.shape.WithNullable(columns)
	now := structureOf(table, event.TableAltered)
	now.At, now.Optional = at, columns
	structures := slices.Clone(r.structures)
	for i, s := range structures {
		if s.names(table) {
			structures[i] = *s.insert(now, pending)
		}
	}
	if err := r.store(ctx, r.byCommand, Known{Instances: r.known, Structures: structures}); err != nil {
		return err
	}
	for _, other := range r.tracked {
		if other.shape.ID() != t.shape.ID() {
			continue
		}
		if err := other.makeOptional(columns); err != nil {
			return err
		}
	}
	if r.opts.SchemaChanges != nil {
		pending = slices.Insert(pending, 0, structureChange{event.TableAltered, table, at})
	}
	r.structures, r.pending = structures, pending
	return nil
}

// insert returns what is known of a table's structure with a change that is told
// before others that are still to be told.
func (s *Structure) insert(change Structure, pending []structureChange) *Structure {
	if s == nil || !change.At.Before(s.At) {
		change.Previous = s
		return &change
	}
	later := *s
	later.Previous, later.Optional = s.Previous.insert(change, pending), change.Optional
	i := slices.IndexFunc(pending, func(c structureChange) bool { return c.at == s.At && c.kind != event.TableDropped })
	if i >= 0 {
		later.Digest = event.StructureDigest(pending[i].table)
	}
	return &later
}
