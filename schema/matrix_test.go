package schema

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	common "github.com/redpanda-data/benthos/v4/public/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allModes are all combinations of modes.
func allModes() []Modes {
	var modes []Modes
	for _, tm := range []TimeMode{TimeAdaptive, TimeAdaptiveTimeMicroseconds, TimeConnect, TimeISOString, TimeMicroseconds, TimeNanoseconds} {
		for _, dm := range []DecimalMode{DecimalPrecise, DecimalString, DecimalDouble} {
			for _, bm := range []BinaryMode{BinaryBytes, BinaryBase64, BinaryBase64URLSafe, BinaryHex} {
				modes = append(modes, Modes{Time: tm, Decimal: dm, Binary: bm, Placeholder: DefaultModes().Placeholder})
			}
		}
	}
	return modes
}

// sample is a type with a value of it.
type sample struct {
	typ Type
	v   driver.Value
}

// samples has a value of every type that events carry.
func samples() []sample {
	at := time.Date(2018, 7, 13, 11, 23, 45, 345678900, time.UTC)
	all := []sample{
		{bitType, true},
		{tinyIntType, int64(255)},
		{smallIntType, int64(-1)},
		{intType, int64(math.MinInt32)},
		{bigIntType, int64(math.MaxInt64)},
		{realType, 1.5},
		{floatType, 1e300},
		{decimalType(10, 2), []byte("12345678.90")},
		{Type{Kind: Numeric, Name: "numeric", Precision: 5}, []byte("7")},
		{moneyType, []byte("1.5000")},
		{smallMoney, []byte("-0.5000")},
		{charType, "cc "},
		{Type{Kind: VarChar, Name: "varchar", Length: 9}, ""},
		{textType, "t"},
		{Type{Kind: NChar, Name: "nchar", Length: 3}, "né "},
		{nvarcharMax, "😀"},
		{ntextType, "t"},
		{xmlType, "<a/>"},
		{guidType, make([]byte, 16)},
		{binaryType, []byte{0, 0, 0, 0}},
		{varbinaryMax, []byte{}},
		{imageType, []byte{1}},
		{rowVersion, make([]byte, 8)},
		{Type{Kind: HierarchyID, Name: "hierarchyid", Length: 892}, []byte{0x58}},
		{Type{Kind: Geography, Name: "geography", Length: Max}, []byte{1}},
		{dateType, at.Truncate(24 * time.Hour)},
		{dateTime, at.Truncate(time.Millisecond)},
		{smallDate, at.Truncate(time.Minute)},
		{scaled(DateTimeOffset, "datetimeoffset", 7), at.In(time.FixedZone("", 3600))},
	}
	for scale := range 8 {
		unit := time.Second
		for range scale {
			unit /= 10
		}
		all = append(all, sample{timeType(scale), at.Truncate(unit)}, sample{dateTime2(scale), at.Truncate(unit)})
	}
	return all
}

// The row's common schema, once read back by Benthos's package, describes the
// values as they are in raw and in structured messages.
func TestPlan_CommonFitsValues(t *testing.T) {
	for _, m := range allModes() {
		t.Run(fmt.Sprintf("%s,%s,%s", m.Time, m.Decimal, m.Binary), func(t *testing.T) {
			for _, s := range samples() {
				raw := encodeOne(t, s.typ, m, s.v)
				decoder := json.NewDecoder(bytes.NewReader([]byte(raw)))
				decoder.UseNumber()
				var value any
				require.NoError(t, decoder.Decode(&value))
				p := oneColumn(t, s.typ, m)
				described := p.Common()
				c, err := common.ParseFromAny(described.ToAny())
				require.NoError(t, err)
				require.Equal(t, described, c)
				assertCommon(t, c.Children[0], value)
				twin, err := p.StructuredRow([]driver.Value{s.v}, RowImage{})
				require.NoError(t, err)
				assertCommonOfGo(t, c.Children[0], twin["v"])
			}
		})
	}
}

func assertCommon(t *testing.T, c common.Common, value any) {
	t.Helper()
	switch c.Type {
	case common.Boolean:
		assert.IsType(t, true, value)
	case common.Int32, common.Int64:
		require.IsType(t, json.Number(""), value)
		n, err := value.(json.Number).Int64()
		require.NoError(t, err)
		assert.True(t, c.Type == common.Int64 || n == int64(int32(n)))
	case common.Float32, common.Float64:
		assert.IsType(t, json.Number(""), value)
	case common.String:
		assert.IsType(t, "", value)
	case common.Decimal:
		require.IsType(t, "", value)
		_, fraction, _ := strings.Cut(value.(string), ".")
		assert.Len(t, fraction, int(c.Logical.Decimal.Scale))
	default:
		assert.Fail(t, "a type that no value has", "%s", c.Type)
	}
}

// assertCommonOfGo compares the type with that of a value in structured
// messages, where integers and floats have one size each.
func assertCommonOfGo(t *testing.T, c common.Common, value any) {
	t.Helper()
	want := map[common.CommonType]any{
		common.Boolean: true, common.Int32: int64(0), common.Int64: int64(0),
		common.Float32: 0.0, common.Float64: 0.0, common.String: "", common.Decimal: "",
	}[c.Type]
	assert.IsType(t, want, value, "%s", c.Type)
	if c.Type == common.Decimal {
		_, err := c.Logical.Decimal.Parse(value.(string))
		assert.NoError(t, err)
	}
}

// A row is the same whether a snapshot or a change table gave it.
func TestPlan_SnapshotEqualsStream(t *testing.T) {
	table := &Table{Database: "db", Schema: "dbo", Name: "every_type"}
	var row []driver.Value
	for i, s := range samples() {
		table.Columns = append(table.Columns, Column{Name: fmt.Sprint("c", i), Type: s.typ, ID: i + 1, Ordinal: i + 1})
		row = append(row, s.v)
	}
	for _, m := range allModes() {
		t.Run(fmt.Sprintf("%s,%s,%s", m.Time, m.Decimal, m.Binary), func(t *testing.T) {
			p, err := Compile(table, m)
			require.NoError(t, err)
			snapshot, err := p.AppendRow(nil, row, RowImage{Role: Snapshot})
			require.NoError(t, err)
			mask := maskOf(len(row), 1)
			for _, img := range []RowImage{{Role: Inserted}, {Role: Deleted}, {Role: Before, Mask: mask}, {Role: After, Mask: mask}} {
				streamed, err := p.AppendRow(nil, row, img)
				require.NoError(t, err)
				require.Equal(t, string(snapshot), string(streamed))
			}
		})
	}
}
