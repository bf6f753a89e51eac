package schema

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every codec writes what the second implementation does, in every mode; a value
// without an exact form is an error that names column, value and remedy, and
// null once that was asked for, never another value.
func TestCodecs_AgainstReference(t *testing.T) {
	modes := allModes()
	rapid.Check(t, func(t *rapid.T) {
		q := anyQuantity(t)
		m := rapid.SampledFrom(modes).Draw(t, "modes")
		if want := q.json(m); want != "" {
			require.Equal(t, want, encodeOne(t, q.typ, m, q.v), "%s", q.typ.Name)
			return
		}
		requireNoForm(t, q, m)
	})
}

// requireNoForm checks what becomes of a value without an exact form: in rows
// and keys, raw and structured, where null may stand for it and where not.
func requireNoForm(t testingT, q quantity, m Modes) {
	t.Helper()
	row := []driver.Value{q.v}
	p := oneColumn(t, q.typ, m)
	raw, err := p.AppendRow(nil, row, RowImage{})
	requireNamed(t, err, q, m)
	require.Equal(t, `{"v":`, string(raw), "nothing of the value")
	_, err = p.StructuredRow(row, RowImage{})
	requireNamed(t, err, q, m)

	var told []*ValueError
	p.OnValue = func(e *ValueError) { told = append(told, e) }
	raw, err = p.AppendRow(nil, row, RowImage{})
	require.NoError(t, err)
	require.Equal(t, `{"v":null}`, string(raw))
	twin, err := p.StructuredRow(row, RowImage{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"v": nil}, twin)
	require.Len(t, told, 2)
	for _, e := range told {
		requireNamed(t, e, q, m)
	}

	keyed, err := Compile(&Table{
		Database: "db", Schema: "dbo", Name: "t", Key: []int{0},
		Columns: []Column{{Name: "v", Type: q.typ, ID: 1, Ordinal: 1}},
	}, m)
	require.NoError(t, err)
	keyed.OnValue = p.OnValue
	_, err = keyed.AppendKey(nil, row)
	requireNamed(t, err, q, m)
	_, err = keyed.StructuredKey(row)
	requireNamed(t, err, q, m)
	_, err = keyed.AppendRow(nil, row, RowImage{})
	var null *NullError
	require.ErrorAs(t, err, &null, "a required field has no place for null")
	require.Equal(t, "v", null.Column)
}

func requireNamed(t testingT, err error, q quantity, m Modes) {
	t.Helper()
	var value *ValueError
	require.ErrorAs(t, err, &value)
	require.Equal(t, "v", value.Column)
	require.Equal(t, TableID{Database: "db", Schema: "dbo", Name: "t"}, value.Table)
	require.Contains(t, value.Value, q.v.(time.Time).Format("2006-01-02 15:04:05.9999999"))
	require.Contains(t, value.Remedy, "time_precision_mode")
	require.Equal(t, m.Time != TimeNanoseconds, strings.Contains(value.Remedy, "datetime2(6)"), "which helps where the scale decides")
	require.ErrorContains(t, err, value.Remedy)
}

// The remedy that the error names writes every such value.
func TestCodecs_RemedyHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anyTimestamp(t)
		for _, mode := range []TimeMode{TimeISOString, TimeMicroseconds} {
			m := DefaultModes()
			m.Time = mode
			require.Equal(t, q.json(m), encodeOne(t, q.typ, m, q.v))
		}
		q.typ = dateTime2(6)
		encodeOne(t, q.typ, DefaultModes(), q.v)
	})
}

// A decimal that does not fit its column, or is none, is an error in every mode
// and never another number.
func TestCodecs_DecimalsThatDoNotFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := decimalType(38, rapid.IntRange(0, 38).Draw(t, "scale"))
		var text string
		switch rapid.IntRange(0, 2).Draw(t, "fault") {
		case 0: // beyond 127 bits
			n := new(big.Int).Lsh(big.NewInt(1), 127)
			text = pointed(n.Add(n, big.NewInt(rapid.Int64Range(0, 1<<62).Draw(t, "over"))), typ.Scale)
		case 1: // a digit too many behind the point
			text = pointed(big.NewInt(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "v")*10+1), typ.Scale+1)
		default:
			text = rapid.SampledFrom([]string{"", "-", ".", "1e5", "1E5", "NaN", "Infinity", "-inf", "0x10", "1_0", "1,5", " 1", "1 ", "--1", "1.2.3", "٣"}).Draw(t, "text")
		}
		for _, mode := range DecimalModes {
			m := DefaultModes()
			m.Decimal = mode
			_, err := oneColumn(t, typ, m).AppendRow(nil, []driver.Value{[]byte(text)}, RowImage{})
			var value *ValueError
			require.ErrorAs(t, err, &value, "%s in mode %s", text, mode)
		}
	})
}

// A driver value of another Go type than a column's is an error that says so,
// not a panic and not some value.
func TestCodecs_OtherGoTypes(t *testing.T) {
	values := []driver.Value{true, int64(1), 1.5, float32(1.5), "text", []byte("text"), utc("2018-07-13 11:23:45"), struct{}{}}
	for _, s := range samples() {
		for _, v := range values {
			if sameGoType(s.v, v) {
				continue
			}
			for _, m := range allModes() {
				p := oneColumn(t, s.typ, m)
				_, err := p.AppendRow(nil, []driver.Value{v}, RowImage{})
				_, twin := p.StructuredRow([]driver.Value{v}, RowImage{})
				require.ErrorContains(t, err, fmt.Sprintf("%T", v), "%s", s.typ.Name)
				require.EqualError(t, twin, err.Error())
			}
		}
	}
}

// sameGoType reports whether a column takes both. Floats come in two sizes.
func sameGoType(a, b driver.Value) bool {
	if _, float := a.(float64); float {
		_, single := b.(float32)
		_, double := b.(float64)
		return single || double
	}
	return fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b)
}

// No type is written by two of the modes, in values and in schemas: what one
// mode makes of a type is the same with every choice of the others. That is why
// a play for each value of each mode stands for all of their combinations.
func TestModes_Disjoint(t *testing.T) {
	for _, s := range samples() {
		forms := map[string]map[string]bool{"time": {}, "decimal": {}, "binary": {}}
		whole := func(m Modes) string { return encodeOne(t, s.typ, m, s.v) + connectJSON(t, s.typ, m) }
		for _, m := range allModes() {
			only := DefaultModes()
			only.Time = m.Time
			forms["time"][whole(only)] = true
			only = DefaultModes()
			only.Decimal = m.Decimal
			forms["decimal"][whole(only)] = true
			only = DefaultModes()
			only.Binary = m.Binary
			forms["binary"][whole(only)] = true
		}
		writer := ""
		for mode, texts := range forms {
			if len(texts) > 1 {
				assert.Empty(t, writer, "%s: written by %s too", s.typ.Name, mode)
				writer = mode
			}
		}
		for _, m := range allModes() {
			only := DefaultModes()
			switch writer {
			case "time":
				only.Time = m.Time
			case "decimal":
				only.Decimal = m.Decimal
			case "binary":
				only.Binary = m.Binary
			}
			assert.Equal(t, whole(only), whole(m), "%s in %v", s.typ.Name, m)
		}
	}
}
