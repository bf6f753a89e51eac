package engine

import (
	"sort"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func isAggregate(name string) bool {
	switch name {
	case "COUNT", "COUNT_BIG", "SUM", "AVG", "MIN", "MAX", "STRING_AGG", "CHECKSUM_AGG", "STDEV", "STDEVP", "VAR", "VARP":
		return true
	}
	return false
}

// aggregate is one aggregate function of a grouped block.
type aggregate struct {
	name     string
	arg      *expr // nil for COUNT(*)
	typ      sqltypes.Type
	distinct bool
	// separator and order belong to STRING_AGG.
	separator *expr
	order     []sortKey
}

func (c *compiler) aggregateCall(name string, f *tsql.FuncCall, b *block) (*expr, error) {
	if b == nil {
		return nil, errAggregatePlace()
	}
	switch b.phase {
	case phaseSelect:
	case phaseAggregate:
		return nil, raise(130, "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.")
	default:
		return nil, errAggregatePlace()
	}
	a, err := c.aggregateSpec(name, f, b)
	if err != nil {
		return nil, err
	}
	at := len(b.aggregates)
	b.aggregates = append(b.aggregates, a)
	return &expr{typ: a.typ, nullable: name != "COUNT" && name != "COUNT_BIG", eval: func(fr *frame) (value, error) {
		return fr.aggs[at], nil
	}}, nil
}

func errAggregatePlace() error {
	return sqltypes.Errorf(147, 1, 15, "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.")
}

func (c *compiler) aggregateSpec(name string, f *tsql.FuncCall, b *block) (*aggregate, error) {
	a := &aggregate{name: name, distinct: f.Distinct}
	if f.Star {
		if name != "COUNT" && name != "COUNT_BIG" {
			return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '*'.")
		}
		a.typ = countType(name)
		return a, nil
	}
	want := 1
	if name == "STRING_AGG" {
		want = 2
	}
	if len(f.Args) != want {
		return nil, argumentCount(strings.ToLower(name), want)
	}
	old := b.phase
	b.phase = phaseAggregate
	defer func() { b.phase = old }()
	var err error
	if a.arg, err = c.expr(f.Args[0], b); err != nil {
		return nil, err
	}
	if name == "STRING_AGG" {
		if a.separator, err = c.expr(f.Args[1], b); err != nil {
			return nil, err
		}
		for _, o := range f.WithinGroup {
			k, err := c.expr(o.Expr, b)
			if err != nil {
				return nil, err
			}
			a.order = append(a.order, sortKey{expr: k, desc: o.Desc})
		}
	}
	a.typ, err = aggregateType(name, a.arg.typ)
	if err == nil && (name == "SUM" || name == "AVG") {
		a.arg = implicit(a.arg, sumType(a.arg.typ))
	}
	if name == "STRING_AGG" {
		a.arg = implicit(a.arg, a.typ)
	}
	return a, err
}

func countType(name string) sqltypes.Type {
	if name == "COUNT_BIG" {
		return typeBigInt
	}
	return typeInt
}

// aggregateType follows MS docs: SUM, AVG, MIN, STRING_AGG.
func aggregateType(name string, t sqltypes.Type) (sqltypes.Type, error) {
	switch name {
	case "COUNT", "COUNT_BIG":
		return countType(name), nil
	case "MIN", "MAX":
		switch t.ID {
		case sqltypes.Bit, sqltypes.Text, sqltypes.NText, sqltypes.Image, sqltypes.XML:
			return t, raise(8117, "Operand data type %s is invalid for %s operator.", t.Name(), strings.ToLower(name))
		}
		return t, nil
	case "SUM", "AVG":
		switch {
		case t.ID == sqltypes.Bit || !t.ID.IsNumber() && t.ID != sqltypes.Unknown:
			return t, raise(8117, "Operand data type %s is invalid for %s operator.", t.Name(), strings.ToLower(name))
		case t.ID.IsDecimal():
			s := t.Scale
			if name == "AVG" {
				s = max(s, 6)
			}
			return sqltypes.Type{ID: t.ID, Precision: 38, Scale: s}, nil
		case t.ID.IsMoney():
			return sqltypes.Simple(sqltypes.Money), nil
		case t.ID.IsFloat():
			return sqltypes.Simple(sqltypes.Float), nil
		case t.ID == sqltypes.BigInt:
			return t, nil
		}
		return typeInt, nil
	case "STRING_AGG":
		r := sqltypes.VarCharOf(8000)
		if t.ID.IsNational() || !t.ID.IsText() {
			r = sqltypes.NVarCharOf(4000)
		}
		if t.Length == sqltypes.Max {
			r.Length = sqltypes.Max
		}
		r.Collation = t.Collation
		return r, nil
	case "CHECKSUM_AGG":
		return typeInt, nil
	default:
		return t, unsupported("The aggregate " + name)
	}
}

// sumType is the type in which a sum is kept.
func sumType(t sqltypes.Type) sqltypes.Type {
	switch {
	case t.ID.IsDecimal():
		return sqltypes.Type{ID: t.ID, Precision: 38, Scale: t.Scale}
	case t.ID.IsMoney():
		return sqltypes.Simple(sqltypes.Money)
	case t.ID.IsFloat():
		return sqltypes.Simple(sqltypes.Float)
	}
	return typeBigInt
}

// aggState is an aggregate's value for one group.
type aggState struct {
	count int64
	acc   value
	seen  *rowSet
	parts []aggPart
}

type aggPart struct {
	text string
	keys []value
}

// add takes in the row of the frame.
func (a *aggregate) add(s *aggState, fr *frame) error {
	if a.arg == nil {
		s.count++
		return nil
	}
	v, err := a.arg.eval(fr)
	if err != nil {
		return err
	}
	if v.IsNull() {
		fr.x.nullEliminated = true
		return nil
	}
	if a.distinct {
		if s.seen == nil {
			s.seen = newRowSet([]sqltypes.Type{a.arg.typ})
		}
		if _, added := s.seen.add([]value{v}); !added {
			return nil
		}
	}
	s.count++
	switch a.name {
	case "SUM", "AVG":
		if s.count == 1 {
			s.acc = v
			return nil
		}
		if a.arg.typ.ID == sqltypes.BigInt {
			n, m := s.acc.Int64(), v.Int64()
			if r := n + m; (r > n) == (m > 0) {
				s.acc = sqltypes.IntOf(r)
				return nil
			}
		}
		w, _, err := sqltypes.Arithmetic("+", s.acc, a.arg.typ, v, a.arg.typ)
		s.acc = w
		return err
	case "MIN":
		if s.count == 1 || compareValues(v, s.acc, a.arg.typ) < 0 {
			s.acc = v
		}
	case "MAX":
		if s.count == 1 || compareValues(v, s.acc, a.arg.typ) > 0 {
			s.acc = v
		}
	case "CHECKSUM_AGG":
		s.acc = sqltypes.IntOf(int64(int32(s.acc.Int64()) ^ int32(v.Int64())))
	case "STRING_AGG":
		keys := make([]value, len(a.order))
		for i, k := range a.order {
			if keys[i], err = k.expr.eval(fr); err != nil {
				return err
			}
		}
		s.parts = append(s.parts, aggPart{text: v.Str(), keys: keys})
	}
	return nil
}

// result is the aggregate's value.
func (a *aggregate) result(s *aggState, fr *frame) (value, error) {
	switch a.name {
	case "COUNT", "COUNT_BIG":
		if a.name == "COUNT" && s.count != int64(int32(s.count)) {
			return value{}, raise(8115, "Arithmetic overflow error converting expression to data type int.")
		}
		return sqltypes.IntOf(s.count), nil
	}
	if s.count == 0 {
		return value{}, nil
	}
	switch a.name {
	case "SUM":
		return sqltypes.Convert(s.acc, a.arg.typ, a.typ, 0)
	case "AVG":
		t := a.arg.typ
		if t.ID == sqltypes.BigInt {
			return sqltypes.Convert(sqltypes.IntOf(s.acc.Int64()/s.count), typeBigInt, a.typ, 0)
		}
		v, rt, err := sqltypes.Arithmetic("/", s.acc, t, sqltypes.IntOf(s.count), typeInt)
		if err != nil {
			return value{}, err
		}
		return sqltypes.Convert(v, rt, a.typ, 0)
	case "STRING_AGG":
		return a.joinParts(s, fr)
	}
	return s.acc, nil
}

func (a *aggregate) joinParts(s *aggState, fr *frame) (value, error) {
	sep, err := a.separator.eval(fr)
	if err != nil {
		return value{}, err
	}
	if len(a.order) > 0 {
		sort.SliceStable(s.parts, func(i, j int) bool {
			return compareKeys(s.parts[i].keys, s.parts[j].keys, a.order) < 0
		})
	}
	var out strings.Builder
	for i, p := range s.parts {
		if i > 0 && !sep.IsNull() {
			out.WriteString(sep.Str())
		}
		out.WriteString(p.text)
	}
	if a.typ.Length != sqltypes.Max && sqltypes.UTF16Len(out.String()) > a.typ.Length {
		return value{}, raise(9829, "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid result truncation.")
	}
	return sqltypes.StringOf(out.String()), nil
}

// sortKey is one key of an ORDER BY.
type sortKey struct {
	expr *expr
	desc bool
}

func compareKeys(a, b []value, keys []sortKey) int {
	for i := range keys {
		if r := compareNullable(a[i], b[i], keys[i].expr.typ); r != 0 {
			if keys[i].desc {
				return -r
			}
			return r
		}
	}
	return 0
}

// compareNullable orders values with NULL lowest, as ORDER BY does.
func compareNullable(a, b value, t sqltypes.Type) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return -1
	case b.IsNull():
		return 1
	}
	return compareValues(a, b, t)
}
