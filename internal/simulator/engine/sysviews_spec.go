package engine

import (
	_ "embed" // the descriptions of the system views
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// viewDescriptions holds the columns of the system views, by release; see its
// first lines for the form.
//
//go:embed sysviews_spec.txt
var viewDescriptions string

// viewSpec describes a system view over all releases.
type viewSpec struct {
	schema, name string
	since        Release
	// azure and notAzure are set on views that only one of Azure SQL Database
	// and the other products has.
	azure, notAzure bool
	columns         []columnSpec
}

// columnSpec is a column of a view: since which release, and what it holds
// when a row says nothing.
type columnSpec struct {
	Column
	since   Release
	initial value
}

// viewSpecs are the descriptions by schema and name.
var viewSpecs = sync.OnceValue(func() map[string]*viewSpec {
	specs, err := parseViewSpecs(viewDescriptions)
	if err != nil {
		panic(err) // a mistake in the embedded file, which every test would meet
	}
	return specs
})

func parseViewSpecs(text string) (map[string]*viewSpec, error) {
	specs := map[string]*viewSpec{}
	var current *viewSpec
	for n, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] != ' ':
			var err error
			if current, err = parseViewHead(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			specs[hookName(current.schema, current.name)] = current
		default:
			for _, part := range splitOutside(line) {
				if err := current.add(part, specs); err != nil {
					return nil, fmt.Errorf("line %d: %w", n+1, err)
				}
			}
		}
	}
	return specs, nil
}

func parseViewHead(line string) (*viewSpec, error) {
	words := strings.Fields(line)
	schema, name, _ := strings.Cut(words[0], ".")
	v := &viewSpec{schema: schema, name: name}
	for _, w := range words[1:] {
		switch w {
		case "@azure":
			v.azure = true
		case "@not-azure":
			v.notAzure = true
		default:
			p, err := lookupProduct(strings.TrimPrefix(w, "@"))
			if err != nil {
				return nil, err
			}
			v.since = p.release
		}
	}
	return v, nil
}

// add reads one column, or takes those of another view.
func (v *viewSpec) add(part string, specs map[string]*viewSpec) error {
	if other, ok := strings.CutPrefix(part, "..."); ok {
		from := specs[fold(other)]
		if from == nil {
			return fmt.Errorf("no view %q before this line", other)
		}
		v.columns = append(v.columns, from.columns...)
		return nil
	}
	name, rest, _ := strings.Cut(part, " ")
	c := columnSpec{Column: Column{Name: name}}
	if before, release, ok := strings.Cut(rest, "@"); ok {
		p, err := lookupProduct(release)
		if err != nil {
			return err
		}
		rest, c.since = before, p.release
	}
	typ, initial, hasInitial := strings.Cut(rest, "=")
	typ, c.Nullable = strings.CutSuffix(typ, "?")
	var err error
	if c.Type, err = (storedType{Type: typ}).load(); err != nil {
		return fmt.Errorf("column %q: %w", name, err)
	}
	if c.Type.ID.IsText() {
		c.Type.Collation = sqltypes.DefaultCollation
	}
	if hasInitial {
		c.initial = sqltypes.StringOf(initial)
		if number, err := strconv.ParseInt(initial, 10, 64); err == nil && !c.Type.ID.IsText() {
			c.initial = integer(number)
		}
	}
	v.columns = append(v.columns, c)
	return nil
}

// splitOutside splits at the commas that are outside of parentheses and braces.
func splitOutside(line string) []string {
	var parts []string
	depth, start := 0, 0
	for i, r := range line {
		switch r {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(line[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(line[start:]); last != "" {
		parts = append(parts, last)
	}
	return parts
}

// existsIn reports whether an instance has the view.
func (v *viewSpec) existsIn(in *Instance) bool {
	return in.AtLeast(v.since) && !(v.azure && !in.IsAzure()) && !(v.notAzure && in.IsAzure())
}

// fields are the values of a row by column name.
type fields = map[string]value

// rowFiller makes rows of a view as one release has it.
type rowFiller struct {
	name string
	// slots has the place of each column, -1 for those that came later.
	slots   map[string]int
	initial []value
	row     []value
	emit    rowEmitter
}

// add emits a row. Columns that the release does not have are left out; a name
// that no release has is an error, since it can only be a misspelling.
func (f *rowFiller) add(rows ...fields) error {
	copy(f.row, f.initial)
	for _, row := range rows {
		for name, v := range row {
			slot, ok := f.slots[name]
			if !ok {
				return fmt.Errorf("the view %s has no column %s", f.name, name)
			}
			if slot >= 0 {
				f.row[slot] = v
			}
		}
	}
	return f.emit(f.row)
}

// describedView registers a view of the descriptions. rows may be nil for a
// view that is always empty here.
func (in *Instance) describedView(name string, rows func(x *Exec, db *Database, out *rowFiller) error) {
	spec := viewSpecs()[fold(name)]
	if !spec.existsIn(in) {
		return
	}
	v := View{Schema: spec.schema, Name: spec.name}
	slots, initial := map[string]int{}, []value{}
	for _, c := range spec.columns {
		slots[c.Name] = -1
		if in.AtLeast(c.since) {
			slots[c.Name] = len(v.Columns)
			v.Columns = append(v.Columns, c.Column)
			initial = append(initial, c.initial)
		}
	}
	v.Rows = func(x *Exec, db *Database, emit func([]sqltypes.Value) error) error {
		if rows == nil {
			return nil
		}
		return rows(x, db, &rowFiller{name: name, slots: slots, initial: initial, row: make([]value, len(initial)), emit: emit})
	}
	in.RegisterView(v)
}

// registerDescribed registers every described view: those that have a filler,
// and the others empty.
func (in *Instance) registerDescribed(fillers map[string]func(x *Exec, db *Database, out *rowFiller) error) {
	known := map[string]func(x *Exec, db *Database, out *rowFiller) error{}
	for name, rows := range fillers {
		known[fold(name)] = rows
	}
	for name := range viewSpecs() {
		in.describedView(name, known[name])
	}
}
