package snapshot

import (
	"maps"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Progress says how far a snapshot has come. It does not change once made.
type Progress struct {
	// Start is the LSN at which the stream begins: everything after it.
	Start lsn.LSN `json:"start"`
	// NextOrdinal is the first ordinal that no row has had: ordinals are
	// reserved in blocks before they are used.
	NextOrdinal uint64 `json:"next_ordinal"`
	// Told is set when consumers have been told of the tables' structures.
	Told bool `json:"told,omitempty"`
	// Done is set when all tables are.
	Done bool `json:"done"`
	// Tables holds the tables begun, by [schema].[table].
	Tables map[string]TableProgress `json:"tables,omitempty"`
	// Again is the progress of rows that were read again in a pause of the
	// stream: in the latest one. Its Start is where the stream paused.
	Again *Progress `json:"again,omitempty"`
}

// TableProgress says how far a table has come.
type TableProgress struct {
	Done bool `json:"done"`
	// ObjectID tells the table from one made later under its name.
	ObjectID int32 `json:"object_id"`
	// Key is the definition of the paging key. Under another one After is
	// worthless.
	Key string `json:"key,omitempty"`
	// After is the key of the last row acknowledged, one text per column as
	// sqlserver.TableReader makes it; empty when there is none.
	After []string `json:"after,omitempty"`
}

// Position returns where the stream begins once the snapshot is done.
func (p *Progress) Position() lsn.Position { return lsn.EndOf(p.Start) }

// Begun reports whether rows of a table are acknowledged that will not be read
// again.
func (p *Progress) Begun(schema, table string) bool {
	t := p.Tables[tableKey(schema, table)]
	return t.Done || len(t.After) > 0
}

// TableDone reports whether a table is read and acknowledged.
func (p *Progress) TableDone(t Table) bool { return p.Tables[t.key()].Done }

// Pause returns the progress with which rows are read again where the stream
// pauses at a commit LSN: that of an interrupted attempt, or one without any row.
// Before anything was read at all, p may be nil.
func (p *Progress) Pause(at lsn.LSN) *Progress {
	again := &Progress{NextOrdinal: ordinalBlock}
	if p == nil {
		return again
	}
	if p.Again != nil && p.Again.Start == at {
		again = p.Again.clone()
	}
	again.NextOrdinal = max(again.NextOrdinal, p.NextOrdinal)
	return again
}

// Paused returns the progress with that of rows that are read again.
func (p *Progress) Paused(again *Progress) *Progress {
	next := *p
	next.Again, next.NextOrdinal = again, max(next.NextOrdinal, again.NextOrdinal)
	return &next
}

// Afresh returns the progress with nothing of the tables that are not done: where
// the snapshot began stays, and the ordinals are used up.
func (p *Progress) Afresh() *Progress {
	switch {
	case p == nil || p.Done && (p.Again == nil || p.Again.Done):
		return p
	case !p.Done:
		return &Progress{Start: p.Start, NextOrdinal: p.NextOrdinal}
	}
	next := *p
	next.Again = nil
	return &next
}

// clone returns a copy that may be changed.
func (p *Progress) clone() *Progress {
	next := *p
	next.Tables = maps.Clone(p.Tables)
	if next.Tables == nil {
		next.Tables = map[string]TableProgress{}
	}
	return &next
}

// key is a table's name among the tables of a progress.
func (t Table) key() string {
	return tableKey(t.Source.Source.Schema, t.Source.Source.Name)
}

func tableKey(schema, table string) string {
	return sqlserver.Quote(schema) + "." + sqlserver.Quote(table)
}

// blank is the progress of a table of which nothing has been read.
func (t Table) blank() TableProgress {
	return TableProgress{ObjectID: t.Source.ObjectID, Key: sqlserver.KeyDefinition(t.Source.PageKey)}
}

// resume decides from where a table is read, given a stored progress: done,
// after a key, or from its beginning, with the reason if something was stored
// that is of no use.
func (t Table) resume(p *Progress) (from TableProgress, reason string) {
	fresh := t.blank()
	stored, ok := p.Tables[t.key()]
	switch {
	case !ok:
		return fresh, ""
	case stored.ObjectID != fresh.ObjectID:
		return fresh, "the table was made anew since"
	case stored.Done:
		return stored, ""
	case len(stored.After) > 0 && stored.Key != fresh.Key:
		return fresh, "its key has changed since"
	default:
		return stored, ""
	}
}
