package engine

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// jsonWriter formats rows as FOR JSON PATH or AUTO.
type jsonWriter struct {
	plan    *forPlan
	root    string
	hasRoot bool
	nulls   bool // INCLUDE_NULL_VALUES
	paths   [][]string
}

func newJSONWriter(f *tsql.ForClause, p *forPlan) (*jsonWriter, error) {
	w := &jsonWriter{plan: p}
	for _, o := range f.Options {
		switch o.Name {
		case "ROOT":
			w.root, w.hasRoot = "root", true
			if o.HasValue {
				w.root = o.Value
			}
		case "INCLUDE_NULL_VALUES":
			w.nulls = true
		case "WITHOUT_ARRAY_WRAPPER":
			p.bare = true
		default:
			return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", o.Name)
		}
	}
	if w.hasRoot && p.bare {
		return nil, raise(13620, "ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. Remove one of these options.")
	}
	taken := map[string]bool{}
	closed := map[string]bool{}
	last := ""
	for _, c := range p.columns {
		if c.unnamed || c.name == "" {
			return nil, raise(13605, "Column expressions and data sources without names or aliases cannot be formatted as JSON text using FOR JSON clause. Add alias to the unnamed column or table.")
		}
		path := []string{c.name}
		if f.Mode == "PATH" {
			path = strings.Split(c.name, ".")
		}
		full, parent := strings.Join(path, "\x00"), strings.Join(path[:len(path)-1], "\x00")
		conflict := taken[full] || closed[parent]
		for k := 1; k < len(path); k++ {
			conflict = conflict || taken[strings.Join(path[:k], "\x00")+"\x00leaf"]
		}
		if conflict || taken[full+"\x00inner"] {
			return nil, raise(13601, "Property '%s' cannot be generated in JSON output due to a conflict with another column name or alias. Use different names and aliases for each column in SELECT list.", c.name)
		}
		taken[full], taken[full+"\x00leaf"] = true, true
		for k := 1; k < len(path); k++ {
			taken[strings.Join(path[:k], "\x00")+"\x00inner"] = true
		}
		// An object that has ended cannot be taken up again.
		if last != "" && last != parent && !strings.HasPrefix(parent+"\x00", last+"\x00") {
			closed[last] = true
		}
		last = parent
		w.paths = append(w.paths, path)
	}
	return w, nil
}

func (w *jsonWriter) write(x *Exec, q *queryPlan, outer *frame) (string, bool, error) {
	var out strings.Builder
	rows := 0
	err := q.run(x, outer, func(row []value) error {
		if rows > 0 {
			out.WriteByte(',')
		}
		rows++
		return w.writeRow(&out, row)
	})
	if err != nil {
		return "", false, err
	}
	text := out.String()
	if !w.plan.bare {
		text = "[" + text + "]"
	}
	if w.hasRoot {
		return "{" + quoteJSON(w.root) + ":" + text + "}", true, nil
	}
	return text, rows > 0, nil
}

func (w *jsonWriter) writeRow(out *strings.Builder, row []value) error {
	var open []string
	first := true
	out.WriteByte('{')
	for i, v := range row {
		if v.IsNull() && !w.nulls {
			continue
		}
		path := w.paths[i]
		parents := path[:len(path)-1]
		same := 0
		for same < len(parents) && same < len(open) && open[same] == parents[same] {
			same++
		}
		for len(open) > same {
			out.WriteByte('}')
			open = open[:len(open)-1]
			first = false
		}
		for _, name := range parents[same:] {
			if !first {
				out.WriteByte(',')
			}
			out.WriteString(quoteJSON(name) + ":{")
			open = append(open, name)
			first = true
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		text, err := w.valueText(i, v)
		if err != nil {
			return err
		}
		out.WriteString(quoteJSON(path[len(path)-1]) + ":" + text)
	}
	out.WriteString(strings.Repeat("}", len(open)+1))
	return nil
}

func (w *jsonWriter) valueText(i int, v value) (string, error) {
	t := w.plan.columns[i].typ
	if v.IsNull() {
		return "null", nil
	}
	if w.plan.json != nil && w.plan.json[i] {
		return v.Str(), nil
	}
	if t.ID == sqltypes.SQLVariant {
		v, t = v.Variant()
	}
	text, err := forText(v, t)
	if err != nil {
		return "", err
	}
	switch {
	case t.ID == sqltypes.Bit:
		if v.Int64() != 0 {
			return "true", nil
		}
		return "false", nil
	case t.ID.IsNumber():
		return text, nil
	case t.ID == sqltypes.Geometry, t.ID == sqltypes.Geography, t.ID == sqltypes.HierarchyID:
		return "", raise(13604, "FOR JSON cannot serialize CLR objects. Cast CLR types explicitly into one of the supported types in FOR JSON queries.")
	}
	return quoteJSON(text), nil
}

// quoteJSON writes a string as FOR JSON escapes it, the solidus included.
func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch ch := s[i]; ch {
		case '"', '\\', '/':
			b.WriteByte('\\')
			b.WriteByte(ch)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if ch < 0x20 {
				fmt.Fprintf(&b, `\u%04x`, ch)
			} else {
				b.WriteByte(ch)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
