package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// collationRank says how much the collation of an expression counts against
// that of another: a COLLATE clause before a column, a column before a literal,
// a variable or a function of these.
// Source: MS docs, "Collation precedence".
type collationRank uint8

const (
	collationDefault collationRank = iota
	collationImplicit
	collationNone // of two columns that disagree
	collationExplicit
)

// coercion is the collation of an expression as far as others may change it.
type coercion struct {
	rank collationRank
	// against is the other collation of a conflict.
	against *sqltypes.Collation
}

// joinCollations finds the collation in which texts meet, nil where none of
// them has one.
func joinCollations(list ...*expr) (*sqltypes.Collation, coercion) {
	var collation *sqltypes.Collation
	var k coercion
	for _, e := range list {
		if e == nil || !e.typ.ID.IsText() || e.typ.Collation == nil {
			continue
		}
		switch {
		case collation == nil || e.coercion.rank > k.rank:
			collation, k = e.typ.Collation, e.coercion
		case e.coercion.rank < k.rank || k.rank == collationNone || e.typ.Collation == collation:
		case k.rank == collationImplicit:
			k = coercion{rank: collationNone, against: e.typ.Collation}
		case k.rank == collationExplicit && k.against == nil:
			k.against = e.typ.Collation
		}
	}
	return collation, k
}

// conflictIn is error 468 where an operation needs one collation.
func (k coercion) conflictIn(operation string, collation *sqltypes.Collation) error {
	if k.against == nil {
		return nil
	}
	return sqltypes.Errorf(468, 9, 16, "Cannot resolve the collation conflict between \"%s\" and \"%s\" in the %s operation.",
		k.against.Name, collation.Name, operation)
}

// operationNames are those of comparisons in error texts.
var operationNames = map[string]string{
	"=": "equal to", "<>": "not equal to", "<": "less than", "<=": "less than or equal to", ">": "greater than", ">=": "greater than or equal to",
}
