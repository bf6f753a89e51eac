package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// method compiles value and exist of an xml value, for simple paths (MS docs: xml
// Data Type Methods). Other methods, and all other XQuery, are refused.
func (c *compiler) method(e *tsql.MethodCall, b *block) (*expr, error) {
	name := strings.ToLower(e.Name)
	if !e.Call || name != "value" && name != "exist" {
		return nil, unsupported("The method " + e.Name)
	}
	x, err := c.expr(e.X, b)
	if err != nil {
		return nil, err
	}
	if x.typ.ID != sqltypes.XML {
		return nil, sqltypes.Errorf(258, 1, 15, "Cannot call methods on %s.", x.typ.Name())
	}
	texts, err := methodTexts(e, name)
	if err != nil {
		return nil, err
	}
	path, ok := parseNodePath(texts[0])
	if !ok {
		return nil, unsupported("The XQuery path '" + texts[0] + "'")
	}
	out := &expr{nullable: true, uses: x.uses, volatile: x.volatile}
	if name == "exist" {
		out.typ = sqltypes.Simple(sqltypes.Bit)
		out.eval = onNodes(x, path, func(found []*xmlNode) (value, error) {
			return sqltypes.BoolOf(len(found) > 0), nil
		})
		return out, nil
	}
	if !path.single() {
		return nil, sqltypes.Errorf(2389, 1, 16, "XQuery [value()]: 'value()' requires a singleton (or empty sequence), found operand of type 'xdt:untypedAtomic *'")
	}
	if out.typ, err = c.namedType(texts[1]); err != nil {
		return nil, err
	}
	out.eval = onNodes(x, path, func(found []*xmlNode) (value, error) {
		if len(found) == 0 {
			return value{}, nil
		}
		return sqltypes.Convert(sqltypes.StringOf(found[0].content()), sqltypes.NVarCharOf(sqltypes.Max), out.typ, 0)
	})
	return out, nil
}

// columnMethod reads a call such as t.doc.value(..), which looks like one of a
// function in a schema; nil when the name before is no xml column.
func (c *compiler) columnMethod(f *tsql.FuncCall, b *block) *tsql.MethodCall {
	last := len(f.Name.Parts) - 1
	if b == nil || last > 2 {
		return nil
	}
	ref := &tsql.ColumnRef{Name: tsql.Name{Parts: f.Name.Parts[:last]}}
	if _, err := b.resolve(ref.Name); err != nil {
		return nil
	}
	if k, err := c.expr(ref, b); err != nil || k.typ.ID != sqltypes.XML {
		return nil
	}
	return &tsql.MethodCall{Span: f.Span, X: ref, Name: f.Name.Parts[last], Args: f.Args, Call: true}
}

// methodTexts are a method's arguments, which must be string literals.
func methodTexts(e *tsql.MethodCall, name string) ([]string, error) {
	want := map[string]int{"value": 2, "exist": 1}[name]
	if len(e.Args) != want {
		return nil, argumentCount(name, want)
	}
	texts := make([]string, len(e.Args))
	for i, a := range e.Args {
		lit, ok := a.(*tsql.Literal)
		if !ok || lit.Kind != tsql.StringLiteral && lit.Kind != tsql.NStringLiteral {
			return nil, sqltypes.Errorf(8172, 1, 16, "The argument %d of the XML data type method \"%s\" must be a string literal.", i+1, name)
		}
		texts[i] = lit.Text
	}
	return texts, nil
}

// namedType resolves a type that stands in a string.
func (c *compiler) namedType(text string) (sqltypes.Type, error) {
	name, err := tsql.ParseType(text, tsql.Options{})
	if err != nil {
		return sqltypes.Type{}, err
	}
	t, _, err := c.x.resolveType(name)
	return t, err
}

// onNodes evaluates x, finds the path's nodes in it, and hands them to f.
func onNodes(x *expr, path nodePath, f func([]*xmlNode) (value, error)) func(fr *frame) (value, error) {
	return func(fr *frame) (value, error) {
		v, err := x.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		root, err := parseXML(v.Str())
		if err != nil {
			return value{}, err
		}
		return f(path.find(root))
	}
}
