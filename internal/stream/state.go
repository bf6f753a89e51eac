package stream

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
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
	// Held are the tables that are not read up to Position, because they cannot
	// be read on.
	Held []Held `json:"held,omitempty"`
	// Instances are the capture instances that were read.
	Instances []InstanceIdentity `json:"instances,omitempty"`
	// Structures are what consumers were told of the tables.
	Structures []Structure `json:"structures,omitempty"`

	turn turn // of the place that the state is at; not stored
}

// Place returns how far the database is read.
func (s State) Place() Place { return Place{Position: s.Position, Held: s.Held, turn: s.turn} }

// At returns the state at another place.
func (s State) At(p Place) State {
	s.Position, s.Held, s.turn = p.Position, p.Held, p.turn
	return s
}

// Known is what must be stored of the tables before the first event that was
// read with it.
type Known struct {
	Instances  []InstanceIdentity `json:"instances"`
	Structures []Structure        `json:"structures,omitempty"`
}

// TakenUp returns what is known once a table, of which no row was read before,
// is read by another choice.
func (k Known) TakenUp(c Choice) Known {
	shape := c.First().Shape
	k.Instances, k.Structures = slices.Clone(k.Instances), slices.Clone(k.Structures)
	for i := range k.Instances {
		if k.Instances[i].SourceObjectID == c.Identity.SourceObjectID {
			k.Instances[i] = c.Identity
		}
	}
	for i := range k.Structures {
		if k.Structures[i].names(shape) {
			k.Structures[i] = structureOf(shape, event.TableCreated)
		}
	}
	return k
}

// same compares what is known with what was.
func (k Known) same(o Known) bool {
	return slices.EqualFunc(k.Instances, o.Instances, sameIdentity) && slices.EqualFunc(k.Structures, o.Structures, sameStructure)
}
