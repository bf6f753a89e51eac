package stream

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// State is what must be stored to go on later. Its JSON form holds LSNs and
// positions as text.
type State struct {
	// Position is that of the last event delivered, or [lsn.EndOf] a commit
	// up to which everything is delivered.
	Position lsn.Position `json:"position"`
	// ByCommand tells how the events of a transaction were ordered when
	// Position was taken: by command id, or by change LSN.
	ByCommand bool `json:"by_command"`
	// Instances are the capture instances that were read.
	Instances []InstanceIdentity `json:"instances,omitempty"`
	// Structures are what consumers were told of the tables.
	Structures []Structure `json:"structures,omitempty"`
}

// Known is what must be stored of the tables before the first event that was
// read with it.
type Known struct {
	Instances  []InstanceIdentity `json:"instances"`
	Structures []Structure        `json:"structures,omitempty"`
}

// InstanceIdentity tells a capture instance from a later one of the same name.
type InstanceIdentity struct {
	Schema         string `json:"schema"`
	Table          string `json:"table"`
	SourceObjectID int32  `json:"source_object_id"`
	Name           string `json:"name"`
	// ObjectID and CreateDate are the change table's object id and
	// cdc.change_tables.create_date (server-local).
	ObjectID   int32     `json:"object_id"`
	CreateDate time.Time `json:"create_date"`
	// FirstStart is the instance's start_lsn when it was first seen. Cleanup
	// moves the catalogue's up, so the catalogue's is no lower bound.
	FirstStart lsn.LSN `json:"first_start"`
	// Replaced is the instance of the table that was read before this one, and
	// is gone: changes before FirstStart were in that alone. Identities are
	// stored before the events in between are acknowledged, so a position may
	// go back to those.
	Replaced *InstanceIdentity `json:"replaced,omitempty"`
}

// identify returns the identity of an instance, given what was read of its
// table before: nil if nothing was.
func identify(t *sqlserver.Table, c *sqlserver.CaptureInstance, before *InstanceIdentity) InstanceIdentity {
	id := InstanceIdentity{
		Schema: t.Source.Schema, Table: t.Source.Name, SourceObjectID: c.SourceObjectID,
		Name: c.Name, ObjectID: c.ObjectID, CreateDate: c.CreateDate, FirstStart: c.StartLSN,
	}
	switch {
	case before == nil:
	case before.is(c):
		id.Replaced = before.Replaced
		if !before.FirstStart.IsZero() {
			id.FirstStart = before.FirstStart
		}
	default:
		old := *before
		old.Replaced = nil
		id.Replaced = &old
	}
	return id
}

// is reports whether c is the instance that id stands for.
func (id InstanceIdentity) is(c *sqlserver.CaptureInstance) bool {
	return id.ObjectID == c.ObjectID && id.CreateDate.Equal(c.CreateDate)
}
