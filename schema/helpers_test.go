package schema

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

// testingT is what the helpers need of testing.T and rapid.T.
type testingT interface {
	require.TestingT
	Helper()
}

// oneColumn compiles a table with the column v of a type.
func oneColumn(t testingT, typ Type, m Modes) *Plan {
	t.Helper()
	p, err := Compile(&Table{
		Database: "db", Schema: "dbo", Name: "t",
		Columns: []Column{{Name: "v", Type: typ, Nullable: true, ID: 1, Ordinal: 1}},
	}, m)
	require.NoError(t, err)
	return p
}

// encodeOne returns the JSON of a value, having checked that the structured
// twin is what a reader of that JSON gets.
func encodeOne(t testingT, typ Type, m Modes, v driver.Value) string {
	t.Helper()
	p := oneColumn(t, typ, m)
	raw, err := p.AppendRow(nil, []driver.Value{v}, RowImage{})
	require.NoError(t, err)
	twin, err := p.StructuredRow([]driver.Value{v}, RowImage{})
	require.NoError(t, err)
	requireSame(t, raw, twin)
	value, ok := strings.CutPrefix(string(raw), `{"v":`)
	require.True(t, ok)
	return strings.TrimSuffix(value, "}")
}

// requireSame compares a row's JSON with its structured twin, numbers exactly.
func requireSame(t testingT, raw []byte, twin map[string]any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var decoded map[string]any
	require.NoError(t, decoder.Decode(&decoded), "%s", raw)
	require.Len(t, decoded, len(twin))
	for name, want := range twin {
		got, ok := decoded[name]
		require.True(t, ok, "no field %q in %s", name, raw)
		number, ok := got.(json.Number)
		if !ok {
			require.Equal(t, want, got)
			continue
		}
		switch want := want.(type) {
		case int64:
			n, err := number.Int64()
			require.NoError(t, err)
			require.Equal(t, want, n)
		case float64:
			f, err := number.Float64()
			require.NoError(t, err)
			require.Equal(t, want, f)
		default:
			require.Fail(t, "a number in JSON", "%s is %T in the structured row", number, want)
		}
	}
}

// connectJSON renders the schema of a column's field.
func connectJSON(t testingT, typ Type, m Modes) string {
	t.Helper()
	s := oneColumn(t, typ, m).RowSchema("S")
	text := string(s.Append(nil))
	text, ok := strings.CutPrefix(text, `{"type":"struct","fields":[`)
	require.True(t, ok)
	text, ok = strings.CutSuffix(text, `,"field":"v"}],"optional":false,"name":"S"}`)
	require.True(t, ok)
	return text + "}"
}
