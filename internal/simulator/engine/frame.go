package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

type value = sqltypes.Value

// frame is the state of one running query block: the current row of each of its
// sources, and what grouping and windows computed for the row at hand.
type frame struct {
	x     *Exec
	rows  [][]value
	outer *frame
	// ids are the row ids of the sources, kept for the target of an UPDATE,
	// DELETE or MERGE.
	ids []storage.RowID
	// params are the arguments when the block is an inlined function's body.
	params []value
	aggs   []value
	wins   []value
	// keys are the group's values of the grouping expressions, and nulled has a
	// bit for each that is not in the group's grouping set.
	keys   []value
	nulled uint64
}

func (fr *frame) up(level int) *frame {
	for ; level > 0; level-- {
		fr = fr.outer
	}
	return fr
}

// tri is a truth value of three-valued logic.
type tri int8

const (
	no      tri = 0
	yes     tri = 1
	unknown tri = -1
)

func triOf(b bool) tri {
	if b {
		return yes
	}
	return no
}

func (t tri) not() tri {
	switch t {
	case yes:
		return no
	case no:
		return yes
	default:
		return unknown
	}
}

type evalFunc func(fr *frame) (value, error)

// expr is a compiled scalar expression.
type expr struct {
	typ      sqltypes.Type
	nullable bool
	coercion coercion // of text
	eval     evalFunc
	// uses has a bit for each source of the block that the expression reads.
	uses uint64
	// volatile marks what may differ between two evaluations for one row set.
	volatile bool
	// constant says that the value depends on nothing but the text.
	constant bool
	// column is set for a plain column of a source of this block or an outer one.
	column *columnUse
	// isNull marks the untyped literal NULL.
	isNull bool
	// json marks text that FOR JSON takes over as it is.
	json bool
}

// columnUse is a resolved column reference.
type columnUse struct {
	level, source, ordinal int
	desc                   *columnDesc
}

type condFunc func(fr *frame) (tri, error)

// cond is a compiled Boolean expression. The shape fields let the planner find
// ranges in it.
type cond struct {
	eval     condFunc
	uses     uint64
	volatile bool
	// and, or hold the operands of a conjunction or disjunction.
	and, or []*cond
	// compare is set for "column op value" comparisons, one entry for each side
	// that is a column.
	compare []comparison
	// in is set for "column IN (values)".
	in *inList
	// aggregated marks conditions that read aggregates or windows.
	aggregated bool
}

// comparison is "column op value", where value does not read column's source.
type comparison struct {
	column *columnUse
	op     string
	value  *expr
}

type inList struct {
	column *columnUse
	values []*expr
}

func andConds(list []*cond) *cond {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	c := &cond{and: list}
	for _, k := range list {
		c.uses |= k.uses
		c.volatile = c.volatile || k.volatile
		c.aggregated = c.aggregated || k.aggregated
	}
	c.eval = func(fr *frame) (tri, error) {
		result := yes
		for _, k := range list {
			t, err := k.eval(fr)
			if err != nil {
				return unknown, err
			}
			if t == no {
				return no, nil
			}
			if t == unknown {
				result = unknown
			}
		}
		return result, nil
	}
	return c
}

func orConds(list []*cond) *cond {
	if len(list) == 1 {
		return list[0]
	}
	c := &cond{or: list}
	for _, k := range list {
		c.uses |= k.uses
		c.volatile = c.volatile || k.volatile
		c.aggregated = c.aggregated || k.aggregated
	}
	c.eval = func(fr *frame) (tri, error) {
		result := no
		for _, k := range list {
			t, err := k.eval(fr)
			if err != nil {
				return unknown, err
			}
			if t == yes {
				return yes, nil
			}
			if t == unknown {
				result = unknown
			}
		}
		return result, nil
	}
	return c
}

// conjuncts flattens nested conjunctions.
func conjuncts(c *cond) []*cond {
	if c == nil {
		return nil
	}
	if c.and == nil {
		return []*cond{c}
	}
	var all []*cond
	for _, k := range c.and {
		all = append(all, conjuncts(k)...)
	}
	return all
}

// columnDesc describes a column that a source offers.
type columnDesc struct {
	name     string
	typ      sqltypes.Type
	nullable bool
	identity bool
	computed bool
	rowguid  bool
	// table is the base table's name, set when the column comes straight from one.
	table     string
	updatable bool
	// unnamed marks a result column without a name, which cannot be referenced.
	unnamed bool
	// mask is the masking function through which the session sees the column.
	mask string
}

func (d *columnDesc) result() Column {
	return Column{
		Name: d.name, Type: d.typ, Nullable: d.nullable, Identity: d.identity, Computed: d.computed,
		CaseSensitive: d.typ.Collation != nil && d.typ.Collation.CaseSensitive,
		Updatable:     d.updatable, Table: d.table,
	}
}

// compareOp applies a comparison operator to the outcome of a three-way compare.
func compareOp(op string, c int) bool {
	switch op {
	case "=":
		return c == 0
	case "<>":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	default:
		return c >= 0
	}
}

// flipOp is the operator with its operands exchanged.
func flipOp(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	default:
		return op
	}
}

// negateOp is the operator of the negated comparison.
func negateOp(op string) string {
	switch op {
	case "=":
		return "<>"
	case "<>":
		return "="
	case "<":
		return ">="
	case "<=":
		return ">"
	case ">":
		return "<="
	default:
		return "<"
	}
}

// compareValues orders two non-null values of type t, with short cuts for the
// kinds that scans compare most.
func compareValues(a, b value, t sqltypes.Type) int {
	switch {
	case a.Kind() == sqltypes.KindInt && b.Kind() == sqltypes.KindInt:
		x, y := a.Int64(), b.Int64()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		default:
			return 0
		}
	case a.Kind() == sqltypes.KindBytes && b.Kind() == sqltypes.KindBytes && len(a.Raw()) == len(b.Raw()):
		return strings.Compare(a.Raw(), b.Raw())
	}
	return sqltypes.Compare(a, b, t)
}
