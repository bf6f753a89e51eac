package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/builtin"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// parse compiles PARSE and TRY_PARSE, which read text as a culture writes it.
func (c *compiler) parse(p *tsql.ParseCall, b *block) (*expr, error) {
	x, err := c.expr(p.X, b)
	if err != nil {
		return nil, err
	}
	to, err := c.typeOf(p.Type)
	if err != nil {
		return nil, err
	}
	culture := constExpr(sqltypes.StringOf("en-US"), sqltypes.NVarCharOf(30))
	if p.Culture != nil {
		if culture, err = c.expr(p.Culture, b); err != nil {
			return nil, err
		}
	}
	x = implicit(x, sqltypes.NVarCharOf(4000))
	out := derived(to, x, culture)
	out.nullable = true
	out.eval = func(fr *frame) (value, error) {
		name, err := culture.eval(fr)
		if err != nil || name.IsNull() {
			return value{}, err
		}
		v, err := x.eval(fr)
		if err != nil {
			return value{}, err
		}
		w, err := builtin.Parse(v, to, name.Str())
		if e := asServerError(err); p.Try && e != nil && e.Number == errNotParsed {
			return value{}, nil
		}
		return w, err
	}
	return fold1(out), nil
}

// errNotParsed is the error of text that PARSE cannot read, which TRY_PARSE
// takes for NULL.
const errNotParsed = 9819

// atTimeZone compiles X AT TIME ZONE zone.
func (c *compiler) atTimeZone(e *tsql.AtTimeZone, b *block) (*expr, error) {
	list, err := c.exprs([]tsql.Expr{e.X, e.Zone}, b)
	if err != nil {
		return nil, err
	}
	x, zone := list[0], list[1]
	to, err := builtin.AtTimeZoneType(x.typ)
	if err != nil {
		return nil, err
	}
	out := derived(to, x, zone)
	out.eval = func(fr *frame) (value, error) {
		v, err := x.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		name, err := zone.eval(fr)
		if err != nil || name.IsNull() {
			return value{}, err
		}
		return builtin.AtTimeZone(v, x.typ, name.Str())
	}
	return fold1(out), nil
}

// narrowLiteral gives an integer literal beside a decimal no more digits than
// it has: 1.0/3 is numeric(7,6), not as wide as an int would make it.
// Source: MS docs, "int, bigint, smallint, and tinyint", on constants that are
// converted to decimal.
func narrowLiteral(source tsql.Expr, e, beside *expr) *expr {
	if !beside.typ.ID.IsDecimal() || e.typ.ID != sqltypes.Int {
		return e
	}
	if u, ok := source.(*tsql.Unary); ok {
		source = u.X
	}
	literal, ok := source.(*tsql.Literal)
	if !ok || literal.Kind != tsql.IntLiteral {
		return e
	}
	digits := max(1, len(strings.TrimLeft(literal.Text, "0")))
	return implicit(e, sqltypes.NumericOf(uint8(digits), 0))
}
