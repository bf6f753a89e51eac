package stream

import (
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// InstanceIdentity tells a capture instance from a later one of the same name,
// and from where on it is read. It does not change once made.
type InstanceIdentity struct {
	Schema         string `json:"schema"`
	Table          string `json:"table"`
	SourceObjectID int32  `json:"source_object_id"`
	Name           string `json:"name"`
	// ObjectID and CreateDate are the change table's object id and
	// cdc.change_tables.create_date (server-local).
	ObjectID   int32     `json:"object_id"`
	CreateDate time.Time `json:"create_date"`
	// FirstStart is the first commit LSN that is read from the instance: the
	// one it was gone over to at, or its start_lsn when it was first seen.
	// Cleanup moves the catalogue's up, so that is no lower bound.
	FirstStart lsn.LSN `json:"first_start"`
	// Replaced is the instance of the table that is read below FirstStart: nil
	// if there was none, or if everything below is delivered and stored as
	// such. Identities are stored before the events in between are
	// acknowledged, so a position may go back to those.
	Replaced *InstanceIdentity `json:"replaced,omitempty"`
	// Skipped are changes that were cleaned up and passed over, in their order.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Reread is set while the rows of the table are to be read again, until no
	// restart can go back before that.
	Reread *Reread `json:"reread,omitempty"`
}

// identify returns the identity of an instance that is read from its beginning
// on.
func identify(t *sqlserver.Table, c *sqlserver.CaptureInstance) InstanceIdentity {
	return InstanceIdentity{
		Schema: t.Source.Schema, Table: t.Source.Name, SourceObjectID: c.SourceObjectID,
		Name: c.Name, ObjectID: c.ObjectID, CreateDate: c.CreateDate, FirstStart: c.StartLSN,
	}
}

// is reports whether c is the instance that id stands for.
func (id *InstanceIdentity) is(c *sqlserver.CaptureInstance) bool {
	return id.ObjectID == c.ObjectID && id.CreateDate.Equal(c.CreateDate)
}

// includes reports whether a change table is that of the instance or of one that
// it replaced.
func (id *InstanceIdentity) includes(objectID int32) bool {
	for ; id != nil; id = id.Replaced {
		if id.ObjectID == objectID {
			return true
		}
	}
	return false
}

// find returns the instance among those of a table, or nil.
func (id *InstanceIdentity) find(t *sqlserver.Table) *sqlserver.CaptureInstance {
	if at := slices.IndexFunc(t.Instances, id.is); at >= 0 {
		return t.Instances[at]
	}
	return nil
}

// stillHas reports whether an instance, which id stands for, still has all that is
// read of it from a commit LSN on. Without a beginning it has lost nothing.
func (id *InstanceIdentity) stillHas(c *sqlserver.CaptureInstance, need lsn.LSN) bool {
	return id.FirstStart.IsZero() || !c.StartLSN.After(lowerBound(id.FirstStart, need))
}

// begun returns which of an instance and those that it replaced is read at a
// commit LSN, and the one that will be gone over to from it, if there is one.
func (id *InstanceIdentity) begun(need lsn.LSN) (begun, pending *InstanceIdentity) {
	for begun = id; begun != nil && begun.Replaced != nil && begun.FirstStart.After(need); begun = begun.Replaced {
		pending = begun
	}
	return begun, pending
}

// IdentityOf finds what is known of a table: by its instances, which a renamed
// table keeps, else by its name.
func IdentityOf(t *sqlserver.Table, known []InstanceIdentity) *InstanceIdentity {
	for i := range known {
		for id := &known[i]; id != nil; id = id.Replaced {
			if id.find(t) != nil {
				return &known[i]
			}
		}
	}
	for i := range known {
		if known[i].Schema == t.Source.Schema && known[i].Table == t.Source.Name {
			return &known[i]
		}
	}
	return nil
}

// sameIdentity compares two identities with those that they replaced.
func sameIdentity(a, b InstanceIdentity) bool {
	if !a.CreateDate.Equal(b.CreateDate) || (a.Replaced == nil) != (b.Replaced == nil) {
		return false
	}
	if a.Replaced != nil && !sameIdentity(*a.Replaced, *b.Replaced) {
		return false
	}
	if (a.Reread == nil) != (b.Reread == nil) || a.Reread != nil && *a.Reread != *b.Reread {
		return false
	}
	return a.Schema == b.Schema && a.Table == b.Table && a.SourceObjectID == b.SourceObjectID &&
		a.Name == b.Name && a.ObjectID == b.ObjectID && a.FirstStart == b.FirstStart && slices.Equal(a.Skipped, b.Skipped)
}
