package engine

import (
	"encoding/base64"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// forQuery compiles a query with FOR XML or FOR JSON: its one row has one
// column, the text of all rows (MS docs: FOR XML, Format query results as JSON).
func (c *compiler) forQuery(q *tsql.SelectQuery, outer *block, ctes map[string]*cteDef) (*queryPlan, error) {
	plain := *q
	plain.For = nil
	inner, err := c.queryWith(&plain, outer, ctes)
	if err != nil {
		return nil, err
	}
	if err := c.showMasked(inner); err != nil {
		return nil, err
	}
	f := &forPlan{mode: q.For.Mode, columns: inner.columns}
	if inner.spec != nil {
		f.json = make([]bool, len(inner.columns))
		for i, e := range inner.spec.out {
			f.json[i] = e.json
		}
		if f.mode == "AUTO" {
			if err := f.autoElement(inner.spec, q.Body); err != nil {
				return nil, err
			}
		}
	} else if f.mode == "AUTO" {
		return nil, unsupported("FOR " + q.For.Kind + " AUTO of a set operation")
	}
	var write func(x *Exec, outer *frame) (string, bool, error)
	out := columnDesc{name: "XML_F52E2B61-18A1-11d1-B105-00805F49916B", nullable: true, typ: sqltypes.NVarCharOf(sqltypes.Max)}
	out.typ.Collation = c.x.collation()
	if q.For.Kind == "XML" {
		x, err := newXMLWriter(q.For, f)
		if err != nil {
			return nil, err
		}
		if x.typed {
			out.typ = sqltypes.Simple(sqltypes.XML)
		}
		write = func(e *Exec, outer *frame) (string, bool, error) { return x.write(e, inner, outer) }
	} else {
		j, err := newJSONWriter(q.For, f)
		if err != nil {
			return nil, err
		}
		out.name = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"
		write = func(e *Exec, outer *frame) (string, bool, error) { return j.write(e, inner, outer) }
	}
	return &queryPlan{
		columns: []columnDesc{out}, outerUses: inner.outerUses, volatile: inner.volatile,
		json: q.For.Kind == "JSON" && !f.bare,
		run: func(x *Exec, outer *frame, emit func([]value) error) error {
			text, found, err := write(x, outer)
			if err != nil || !found {
				return err
			}
			return emit([]value{sqltypes.StringOf(text)})
		},
	}, nil
}

// forPlan is what both formats know of the query.
type forPlan struct {
	mode    string
	columns []columnDesc
	// json marks columns that are JSON text already.
	json []bool
	// element names the rows of AUTO: the table's alias.
	element string
	// bare says that the JSON text is no array (WITHOUT_ARRAY_WRAPPER), so that an
	// enclosing FOR JSON takes it for plain text.
	bare bool
}

// autoElement finds the one table that AUTO names its rows after. Nesting by
// several tables is not modelled.
func (f *forPlan) autoElement(p *selectPlan, body tsql.QueryBody) error {
	spec, ok := body.(*tsql.SelectSpec)
	if !ok || p.sources != 1 {
		return unsupported("FOR XML AUTO and FOR JSON AUTO without exactly one table")
	}
	switch t := spec.From[0].(type) {
	case *tsql.TableRef:
		f.element = t.Alias
		if f.element == "" {
			f.element = t.Name.Base()
		}
	case *tsql.VariableTable:
		f.element = t.Alias
		if f.element == "" {
			f.element = t.Name
		}
	case *tsql.DerivedTable:
		f.element = t.Alias
	default:
		return unsupported("FOR XML AUTO and FOR JSON AUTO of this table source")
	}
	return nil
}

// forText is a value as XML and JSON show it: dates in ISO 8601, binary values
// in base 64, floats with all digits.
func forText(v value, t sqltypes.Type) (string, error) {
	if t.ID == sqltypes.SQLVariant {
		v, t = v.Variant()
	}
	style := 0
	switch {
	case t.ID.IsBinary() || t.ID == sqltypes.Image || t.ID == sqltypes.RowVersion:
		return base64.StdEncoding.EncodeToString([]byte(v.Raw())), nil
	case t.ID == sqltypes.Real:
		style = 1
	case t.ID == sqltypes.Float, t.ID.IsMoney():
		style = 2
	case t.ID == sqltypes.Date, t.ID == sqltypes.DateTime, t.ID == sqltypes.SmallDateTime, t.ID == sqltypes.DateTime2, t.ID == sqltypes.DateTimeOffset:
		style = 126
	}
	w, err := sqltypes.Convert(v, t, sqltypes.NVarCharOf(sqltypes.Max), style)
	return w.Str(), err
}

// chunkLength is the number of characters in which the server sends the text of
// FOR XML and FOR JSON to a client.
const chunkLength = 2033

// chunked sends the text of FOR XML or FOR JSON in rows of at most chunkLength
// characters, as clients get it.
func chunked(emit func([]value) error) func([]value) error {
	return func(row []value) error {
		text := row[0].Str()
		for n, at := 0, 0; ; n++ {
			end := len(text)
			units := 0
			for i, r := range text[at:] {
				units++
				if r > 0xFFFF {
					units++
				}
				if units > chunkLength {
					end = at + i
					break
				}
			}
			if n > 0 && at == len(text) {
				return nil
			}
			if err := emit([]value{sqltypes.StringOf(text[at:end])}); err != nil {
				return err
			}
			at = end
		}
	}
}
