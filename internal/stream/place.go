package stream

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Place is how far a database is read: everything up to Position, except that
// of the tables which are held only what stands at or before their own.
type Place struct {
	Position lsn.Position
	Held     []Held

	turn turn
}

// turn tells whose events end at a place: while a held table catches up, its own
// stand alone in their batches. The zero turn is that of all the others.
type turn struct {
	held  bool
	index int // of the held table, into Place.Held
}

// Held is a table that cannot be read on, and how far it is read.
type Held struct {
	Schema string `json:"schema"`
	Table  string `json:"table"`
	// SourceObjectID is the table's object id, which a new name does not change.
	SourceObjectID int32 `json:"source_object_id"`
	// Position and ByCommand are the table's own, as those of [State] are the
	// others'.
	Position  lsn.Position `json:"position"`
	ByCommand bool         `json:"by_command"`
}

// Behind returns the place behind one event of a batch, given the place behind
// the last.
func (p Place) Behind(event lsn.Position) Place {
	if !p.turn.held {
		p.Position = event
		return p
	}
	p.Held = slices.Clone(p.Held)
	p.Held[p.turn.index].Position = event
	return p
}

// of returns the position up to which a table is read.
func (p Place) of(id *InstanceIdentity) lsn.Position {
	if i := slices.IndexFunc(p.Held, func(h Held) bool { return h.is(id) }); i >= 0 {
		return p.Held[i].Position
	}
	return p.Position
}

// is reports whether h is the table of an identity. A table that was dropped and
// made again is the same to whoever reads its events.
func (h Held) is(id *InstanceIdentity) bool {
	return h.SourceObjectID == id.SourceObjectID || h.names(id.Schema, id.Table)
}

// names reports whether h is the table of a name.
func (h Held) names(schema, table string) bool { return h.Schema == schema && h.Table == table }

// Name returns the table's name, for people.
func (h Held) Name() string { return h.Schema + "." + h.Table }

// placeAt returns the place of the reader at a position of its own.
func (r *Reader) placeAt(position lsn.Position) Place { return Place{Position: position, Held: r.held} }
