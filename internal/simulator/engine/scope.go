package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// variables are the local variables and parameters of a batch or module, known
// before it runs: in T-SQL a DECLARE holds for the whole rest of the batch.
type variables struct {
	slots map[string]int
	types []sqltypes.Type
	// tables are the declared table variables.
	tables map[string]*Table
	// cursors are the scope's own cursors and its cursor variables, nil while
	// those are empty.
	cursors map[string]*cursor
}

func newVariables() *variables {
	return &variables{slots: map[string]int{}, tables: map[string]*Table{}, cursors: map[string]*cursor{}}
}

func (v *variables) declare(name string, t sqltypes.Type) error {
	key := fold(name)
	if _, ok := v.slots[key]; ok {
		return sqltypes.Errorf(134, 2, 15, "The variable name '%s' has already been declared. Variable names must be unique within a query batch or stored procedure.", name)
	}
	v.slots[key] = len(v.types)
	v.types = append(v.types, t)
	return nil
}

// source is one item of a FROM clause, with the columns that it offers.
type source struct {
	alias string
	// qualifier parts for references such as dbo.t.c.
	schema, database string
	columns          []columnDesc
	table            *Table
	db               *Database
	names            nameRules
	// restricted says that rights on single columns may matter.
	restricted bool
	// read are the columns that the statement reads.
	read readColumns
}

// slot is the place of a column's value in the source's rows.
func (s *source) slot(column int) int {
	if s.table != nil {
		return s.table.Columns[column].slot()
	}
	return column
}

func (s *source) find(name string) int {
	for i := range s.columns {
		if !s.columns[i].unnamed && s.names.same(s.columns[i].name, name) {
			return i
		}
	}
	return -1
}

func (s *source) answersTo(n tsql.Name) bool {
	// n is the qualifier of a column: table, schema.table or db.schema.table.
	if !s.names.same(s.alias, n.Base()) {
		return false
	}
	if sc := n.Schema(); sc != "" && !s.names.same(sc, s.schema) {
		return false
	}
	if d := n.Database(); d != "" && !strings.EqualFold(d, s.database) {
		return false
	}
	return true
}

// block is the name space of one query block while it is compiled.
type block struct {
	outer   *block
	sources []*source
	names   nameRules
	// hidden are sources that names do not reach: in ON clauses all but the joined
	// ones, in derived tables the siblings.
	hidden uint64
	// params are the parameters of an inlined function body.
	params     []string
	paramTypes []sqltypes.Type

	ctes map[string]*cteDef

	aggregates []*aggregate
	windows    []*window
	// phase says which functions are allowed where the compiler is.
	phase phase
	// grouped is set while select list, HAVING and ORDER BY of a grouped block
	// are compiled; groupKeys maps the printed grouping expressions to their
	// places.
	grouped    bool
	groupKeys  map[string]int
	inGroupKey int
	// groupSets says that the block has several grouping sets, so that a grouping
	// expression is NULL in the groups of sets without it.
	groupSets bool
	// outerUses has the bits of the outer block's sources that this block reads,
	// and outerBit when it reads something further out.
	outerUses uint64
	volatile  bool
}

type phase int

const (
	phaseFrom phase = iota
	phaseWhere
	phaseSelect
	phaseAggregate
)

// resolve finds a column by its possibly qualified name.
func (b *block) resolve(n tsql.Name) (*columnUse, error) {
	name := n.Base()
	qualifier := tsql.Name{Parts: n.Parts[:len(n.Parts)-1]}
	level := 0
	for s := b; s != nil; s, level = s.outer, level+1 {
		var found *columnUse
		qualified := false
		for i, src := range s.sources {
			if s.hidden&(1<<i) != 0 {
				continue
			}
			if !qualifier.IsZero() {
				if !src.answersTo(qualifier) {
					continue
				}
				qualified = true
			}
			at := src.find(name)
			if at < 0 {
				continue
			}
			if found != nil {
				return nil, raise(209, "Ambiguous column name '%s'.", name)
			}
			found = &columnUse{level: level, source: i, ordinal: src.slot(at), desc: &src.columns[at]}
		}
		if found != nil {
			b.noteOuter(level, 1<<found.source)
			return found, nil
		}
		if qualified {
			return nil, errInvalidColumn(name)
		}
	}
	if !qualifier.IsZero() {
		return nil, raise(4104, "The multi-part identifier \"%s\" could not be bound.", n.String())
	}
	return nil, errInvalidColumn(name)
}

// outerBit stands in a set of sources for everything outside the block: outer
// rows and the parameters of an inlined function.
const outerBit = uint64(1) << 63

// noteOuter records that the block reads something level blocks further out.
func (b *block) noteOuter(level int, bits uint64) {
	for k, t := 0, b; k < level; k, t = k+1, t.outer {
		if k == level-1 {
			t.outerUses |= bits
		} else {
			t.outerUses |= outerBit
		}
	}
}

// param finds an inlined function's parameter.
func (b *block) param(name string) (level, index int, t sqltypes.Type, ok bool) {
	for s := b; s != nil; s, level = s.outer, level+1 {
		for i, p := range s.params {
			if strings.EqualFold(p, name) {
				b.noteOuter(level, outerBit)
				return level, i, s.paramTypes[i], true
			}
		}
		if s.params != nil {
			// A function's body sees its own parameters only.
			return 0, 0, t, false
		}
	}
	return 0, 0, t, false
}

// cte finds a common table expression and the number of blocks between b and
// the query that defines it.
func (b *block) cte(name string) (*cteDef, int) {
	level := 0
	for s := b; s != nil; s, level = s.outer, level+1 {
		if d, ok := s.ctes[fold(name)]; ok {
			return d, level
		}
	}
	return nil, 0
}

// cteDef is a common table expression in scope. Its query sees the expressions
// defined before it, and what lies outside the query that defines it.
type cteDef struct {
	name    string
	columns []string
	query   *tsql.SelectQuery
	before  map[string]*cteDef
	outer   *block
	// recursing is set while the recursive member is compiled.
	recursing *recursion
}

// recursion identifies a recursive common table expression while it runs; its
// references read the rows of the previous step.
type recursion struct {
	columns []columnDesc
	used    bool
}
