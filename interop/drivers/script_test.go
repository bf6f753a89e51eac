//go:build interop

package drivers

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
)

// parseStep reads one step of a script. The commands are described in
// README.md.
func parseStep(d *datadriven.TestData) (step, error) {
	s := step{Op: d.Cmd}
	var err error
	switch d.Cmd {
	case "batch", "cancel", "timeout":
		s.SQL = d.Input
	case "begin", "commit":
	case "save", "rollback", "bulk", "call":
		s.Name = argument(d, "name")
		if d.Cmd == "bulk" || d.Cmd == "call" {
			_, err = s.parseTable(d.Input)
		}
	case "params":
		s.SQL, err = s.parseTable(d.Input)
	case "tvp":
		s.Type = argument(d, "type")
		s.SQL, err = s.parseTable(d.Input)
	case "kill":
		var found bool
		s.SQL, s.Then, found = strings.Cut(d.Input, "\nthen\n")
		if !found {
			err = fmt.Errorf("no line %q", "then")
		}
	case "connects":
		s.Times, err = strconv.Atoi(argument(d, "times"))
	case "metadata":
		s.Name = argument(d, "name")
		if d.Input != "" {
			s.Args = strings.Split(d.Input, " | ")
		}
	default:
		err = fmt.Errorf("unknown command")
	}
	return s, err
}

func argument(d *datadriven.TestData, key string) string {
	for _, arg := range d.CmdArgs {
		if arg.Key == key && len(arg.Vals) == 1 {
			return arg.Vals[0]
		}
	}
	return ""
}

// parseTable reads parameters or columns (a line of "name type" separated by
// bars), lines of their values, and behind a line "run" the statement.
func (s *step) parseTable(input string) (statement string, err error) {
	table, statement, _ := strings.Cut(input+"\n", "\nrun\n")
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	for _, declaration := range strings.Split(lines[0], " | ") {
		name, kind, found := strings.Cut(strings.TrimPrefix(declaration, "@"), " ")
		if !found {
			return "", fmt.Errorf("parameter %q has no type", declaration)
		}
		kind, output := strings.CutSuffix(kind, " output")
		s.Params = append(s.Params, param{Name: name, Type: kind, Output: output})
	}
	for _, line := range lines[1:] {
		row, err := parseRow(line)
		if err != nil {
			return "", err
		}
		if len(row) != len(s.Params) {
			return "", fmt.Errorf("%d values in %q, for %d parameters", len(row), line, len(s.Params))
		}
		s.Rows = append(s.Rows, row)
	}
	return strings.TrimSuffix(statement, "\n"), nil
}

func parseRow(line string) ([]*string, error) {
	var row []*string
	for _, text := range strings.Split(line, " | ") {
		value, err := parseValue(text)
		if err != nil {
			return nil, err
		}
		row = append(row, value)
	}
	return row, nil
}

// repeated is a value too long for a script: "x" * 1000.
var repeated = regexp.MustCompile(`^(".*") \* (\d+)$`)

// parseValue reads a value as cell.String writes it, nil for NULL.
func parseValue(text string) (*string, error) {
	if text == "NULL" {
		return nil, nil
	}
	times := 1
	if m := repeated.FindStringSubmatch(text); m != nil {
		text = m[1]
		times, _ = strconv.Atoi(m[2])
	}
	if strings.HasPrefix(text, `"`) {
		unquoted, err := strconv.Unquote(text)
		if err != nil {
			return nil, fmt.Errorf("value %q: %w", text, err)
		}
		text = unquoted
	}
	text = strings.Repeat(text, times)
	return &text, nil
}

// roundTrip writes the steps that send values of a type into a table and read
// them back: as literals, and as parameters of one statement run once for each
// value. Both must be equal in the server.
//
// The input is the type, then a line for each value.
type roundTrip struct {
	Type   string
	Values []*string
}

func parseRoundTrip(input string) (roundTrip, error) {
	lines := strings.Split(input, "\n")
	rt := roundTrip{Type: lines[0]}
	for _, line := range lines[1:] {
		value, err := parseValue(line)
		if err != nil {
			return roundTrip{}, err
		}
		rt.Values = append(rt.Values, value)
	}
	return rt, nil
}

// table creates the table of the round trip, with the values as literals in
// column l.
func (rt roundTrip) table() step {
	rows := make([]string, len(rt.Values))
	for i, value := range rt.Values {
		rows[i] = fmt.Sprintf("(%d, %s)", i+1, literal(rt.Type, value))
	}
	return step{Op: "batch", SQL: fmt.Sprintf(
		"IF OBJECT_ID('dbo.round_trip') IS NOT NULL DROP TABLE dbo.round_trip;\n"+
			"CREATE TABLE dbo.round_trip (id int NOT NULL PRIMARY KEY, l %[1]s NULL, v %[1]s NULL);\n"+
			"INSERT dbo.round_trip (id, l) VALUES %s", rt.Type, strings.Join(rows, ", "))}
}

// parameters sends the values into column v.
func (rt roundTrip) parameters() step {
	s := step{
		Op:     "params",
		SQL:    "UPDATE dbo.round_trip SET v = @v WHERE id = @id",
		Params: []param{{Name: "v", Type: rt.Type}, {Name: "id", Type: "int"}},
	}
	for i, value := range rt.Values {
		id := strconv.Itoa(i + 1)
		s.Rows = append(s.Rows, []*string{value, &id})
	}
	return s
}

// different counts the values that arrived otherwise than the literals.
func (rt roundTrip) different() step {
	l, v := "l", "v"
	if isOneOf(rt.Type, "text", "ntext", "xml", "image") {
		target := "nvarchar(max)"
		if isOneOf(rt.Type, "image") {
			target = "varbinary(max)"
		}
		l, v = "CAST(l AS "+target+")", "CAST(v AS "+target+")"
	}
	return step{Op: "batch", SQL: fmt.Sprintf(
		"SELECT COUNT(*) AS different FROM dbo.round_trip WHERE %[1]s <> %[2]s OR (l IS NULL AND v IS NOT NULL) OR (l IS NOT NULL AND v IS NULL)", l, v)}
}

// values reads column v.
func (rt roundTrip) values() step {
	return step{Op: "batch", SQL: "SELECT v FROM dbo.round_trip ORDER BY id"}
}

// literal writes a value as T-SQL does.
func literal(kind string, value *string) string {
	switch {
	case value == nil:
		return "NULL"
	case isOneOf(kind, "binary", "varbinary", "image", "float", "real", "bit",
		"tinyint", "smallint", "int", "bigint", "decimal", "numeric", "money", "smallmoney"):
		return *value
	}
	return "N'" + strings.ReplaceAll(*value, "'", "''") + "'"
}

func isOneOf(kind string, names ...string) bool {
	name, _, _ := strings.Cut(kind, "(")
	return slices.Contains(names, name)
}
