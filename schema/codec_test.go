package schema

import (
	"database/sql/driver"
	"math"
	"testing"
	"time"

	common "github.com/redpanda-data/benthos/v4/public/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	bitType      = Type{Kind: Bit, Name: "bit"}
	tinyIntType  = Type{Kind: TinyInt, Name: "tinyint"}
	smallIntType = Type{Kind: SmallInt, Name: "smallint"}
	intType      = Type{Kind: Int, Name: "int"}
	bigIntType   = Type{Kind: BigInt, Name: "bigint"}
	realType     = Type{Kind: Real, Name: "real"}
	floatType    = Type{Kind: Float, Name: "float"}
	moneyType    = Type{Kind: Money, Name: "money", Precision: 19, Scale: 4}
	smallMoney   = Type{Kind: SmallMoney, Name: "smallmoney", Precision: 10, Scale: 4}
	charType     = Type{Kind: Char, Name: "char", Length: 3}
	textType     = Type{Kind: Text, Name: "text", Length: Max}
	xmlType      = Type{Kind: XML, Name: "xml", Length: Max}
	guidType     = Type{Kind: UniqueIdentifier, Name: "uniqueidentifier"}
	binaryType   = Type{Kind: Binary, Name: "binary", Length: 4}
	rowVersion   = Type{Kind: RowVersion, Name: "timestamp", Length: 8}
	dateType     = Type{Kind: Date, Name: "date"}
	dateTime     = Type{Kind: DateTime, Name: "datetime"}
	smallDate    = Type{Kind: SmallDateTime, Name: "smalldatetime"}
)

func decimalType(precision, scale int) Type {
	return Type{Kind: Decimal, Name: "decimal", Precision: precision, Scale: scale}
}

func scaled(kind Kind, name string, scale int) Type {
	return Type{Kind: kind, Name: name, Scale: scale}
}
func timeType(scale int) Type  { return scaled(Time, "time", scale) }
func dateTime2(scale int) Type { return scaled(DateTime2, "datetime2", scale) }

func utc(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05.999999999", text)
	if err != nil {
		panic(err)
	}
	return t
}

// clock is a time(n) value as the driver gives it: on the first of January of
// the year 1.
func clock(text string) time.Time { return utc("0001-01-01 " + text) }

func TestEncode_DefaultModes(t *testing.T) {
	nines := "99999999999999999999999999999999999999"
	tests := []struct {
		name string
		typ  Type
		v    driver.Value
		want string
	}{
		{"bit", bitType, true, "true"},
		{"bit", bitType, false, "false"},
		{"tinyint is unsigned", tinyIntType, int64(255), "255"},
		{"smallint", smallIntType, int64(-32768), "-32768"},
		{"int", intType, int64(-2147483648), "-2147483648"},
		{"bigint least", bigIntType, int64(math.MinInt64), "-9223372036854775808"},
		{"bigint greatest", bigIntType, int64(math.MaxInt64), "9223372036854775807"},

		{"real", realType, float64(float32(0.1)), "0.1"},
		{"real that cannot be NULL", realType, float32(0.1), "0.1"},
		{"real beyond 1e7", realType, float64(float32(16777216)), "1.6777216E7"},
		{"real smallest", realType, float64(math.SmallestNonzeroFloat32), "1.4E-45"},
		{"real greatest", realType, float64(math.MaxFloat32), "3.4028235E38"},
		{"float", floatType, 100.0, "100.0"},
		{"float smallest", floatType, math.SmallestNonzeroFloat64, "4.9E-324"},
		{"float greatest", floatType, math.MaxFloat64, "1.7976931348623157E308"},
		{"float negative zero", floatType, math.Copysign(0, -1), "-0.0"},

		{"decimal", decimalType(5, 3), []byte("1.123"), `"BGM="`},
		{"decimal", decimalType(10, 4), []byte("5.3230"), `"AM/u"`},
		{"decimal", decimalType(10, 4), []byte("-1.5000"), `"xWg="`},
		{"decimal zero", decimalType(6, 3), []byte("0.000"), `"AA=="`},
		{"decimal needs a sign byte", decimalType(6, 3), []byte("0.128"), `"AIA="`},
		{"decimal", decimalType(6, 3), []byte("-0.001"), `"/w=="`},
		{"decimal", decimalType(6, 3), []byte("-0.128"), `"gA=="`},
		{"decimal", decimalType(6, 3), []byte("-0.129"), `"/38="`},
		{"decimal 38 nines", decimalType(38, 0), []byte(nines), `"SztMqFqGxHoJiiI//////w=="`},
		{"decimal 38 nines below zero", decimalType(38, 0), []byte("-" + nines), `"tMSzV6V5O4X2dd3AAAAAAQ=="`},
		{"decimal(38,38) smallest", decimalType(38, 38), []byte("0.00000000000000000000000000000000000001"), `"AQ=="`},
		{"decimal(38,38) greatest", decimalType(38, 38), []byte("0." + nines), `"SztMqFqGxHoJiiI//////w=="`},
		{"money least", moneyType, []byte("-922337203685477.5808"), `"gAAAAAAAAAA="`},
		{"smallmoney", smallMoney, []byte("-0.5000"), `"7Hg="`},

		{"char keeps its blanks", charType, "cc ", `"cc "`},
		{"empty string", charType, "", `""`},
		{"text", textType, "a\"b", `"a\"b"`},
		{"xml", xmlType, "<a/>", `"<a/>"`},
		{"uniqueidentifier", guidType, []byte{0xff, 0x19, 0x96, 0x6f, 0x86, 0x8b, 0x11, 0xd0, 0xb4, 0x2d, 0x00, 0xc0, 0x4f, 0xc9, 0x64, 0xff}, `"6F9619FF-8B86-D011-B42D-00C04FC964FF"`},
		{"binary", binaryType, []byte{1, 2, 0, 0}, `"AQIAAA=="`},
		{"empty binary", binaryType, []byte{}, `""`},
		{"rowversion", rowVersion, []byte{0, 0, 0, 0, 0, 0, 0x07, 0xd1}, `"AAAAAAAAB9E="`},
		{"hierarchyid", Type{Kind: HierarchyID, Name: "hierarchyid"}, []byte{0x5b, 0x5e}, `"W14="`},

		{"date", dateType, utc("2018-07-13 00:00:00"), "17725"},
		{"date first", dateType, utc("0001-01-01 00:00:00"), "-719162"},
		{"date last", dateType, utc("9999-12-31 00:00:00"), "2932896"},
		{"date before the epoch", dateType, utc("1969-12-31 00:00:00"), "-1"},
		{"time(0)", timeType(0), clock("10:23:45"), "37425000"},
		{"time(2)", timeType(2), clock("10:23:45.68"), "37425680"},
		{"time(3) last", timeType(3), clock("23:59:59.999"), "86399999"},
		{"time(4)", timeType(4), clock("10:23:45.6789"), "37425678900"},
		{"time(6) last", timeType(6), clock("23:59:59.999999"), "86399999999"},
		{"time(7)", timeType(7), clock("10:23:45.6789012"), "37425678901200"},
		{"time(7) last", timeType(7), clock("23:59:59.9999999"), "86399999999900"},
		{"time(7) midnight", timeType(7), clock("00:00:00"), "0"},
		{"datetime", dateTime, utc("2018-07-13 13:23:45.78"), "1531488225780"},
		{"datetime first", dateTime, utc("1753-01-01 00:00:00"), "-6847804800000"},
		{"smalldatetime", smallDate, utc("2018-07-13 14:24:00"), "1531491840000"},
		{"datetime2(3)", dateTime2(3), utc("9999-12-31 23:59:59.999"), "253402300799999"},
		{"datetime2(3) below zero", dateTime2(3), utc("1969-12-31 23:59:59.999"), "-1"},
		{"datetime2(3) first", dateTime2(3), utc("0001-01-01 00:00:00"), "-62135596800000"},
		{"datetime2(6)", dateTime2(6), utc("9999-12-31 23:59:59.999999"), "253402300799999999"},
		{"datetime2(7)", dateTime2(7), utc("2018-07-13 11:23:45.34"), "1531481025340000000"},
		{"datetime2(7) latest", dateTime2(7), utc("2262-04-11 23:47:16.8547758"), "9223372036854775800"},
		{"datetime2(7) earliest", dateTime2(7), utc("1677-09-21 00:12:43.1452242"), "-9223372036854775800"},
		{"datetime2(7) below zero", dateTime2(7), utc("1969-12-31 23:59:59.9999999"), "-100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, encodeOne(t, tt.typ, DefaultModes(), tt.v))
		})
	}
}

func TestEncode_DateTimeOffset(t *testing.T) {
	offset := func(text string, minutes int) time.Time {
		local := utc(text)
		return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(),
			local.Nanosecond(), time.FixedZone("", minutes*60))
	}
	tests := []struct {
		v    time.Time
		want string
	}{
		{offset("2018-07-13 12:23:45.456", 660), "2018-07-13T12:23:45.456+11:00"},
		{offset("2018-07-13 12:23:00", 0), "2018-07-13T12:23:00Z"},
		{offset("2018-07-13 12:23:45.1000000", -330), "2018-07-13T12:23:45.1-05:30"},
		{offset("2018-07-13 12:23:45.0000001", -30), "2018-07-13T12:23:45.0000001-00:30"},
		{offset("1969-12-31 23:59:59.5", 0), "1969-12-31T23:59:59.5Z"},
		{offset("0001-01-01 00:00:00", 0), "0001-01-01T00:00:00Z"},
		{offset("9999-12-31 23:59:59.9999999", 840), "9999-12-31T23:59:59.9999999+14:00"},
		{offset("9999-12-31 09:59:59.9999999", -840), "9999-12-31T09:59:59.9999999-14:00"},
	}
	for _, mode := range []TimeMode{TimeAdaptive, TimeConnect, TimeISOString, TimeNanoseconds} {
		for _, tt := range tests {
			t.Run(string(mode)+"/"+tt.want, func(t *testing.T) {
				m := DefaultModes()
				m.Time = mode
				assert.Equal(t, `"`+tt.want+`"`, encodeOne(t, scaled(DateTimeOffset, "datetimeoffset", 7), m, tt.v))
			})
		}
	}
}

func TestEncode_TimeModes(t *testing.T) {
	at := utc("2018-07-13 11:23:45.3456789")
	of := clock("11:23:45.3456789")
	tests := []struct {
		mode TimeMode
		typ  Type
		v    time.Time
		json string
		name string
	}{
		{TimeAdaptiveTimeMicroseconds, dateType, at, "17725", `{"type":"int32","optional":true,"name":"io.debezium.time.Date","version":1}`},
		{TimeAdaptiveTimeMicroseconds, timeType(2), of, "41025345678", `{"type":"int64","optional":true,"name":"io.debezium.time.MicroTime","version":1}`},
		{TimeAdaptiveTimeMicroseconds, timeType(7), of, "41025345678", `{"type":"int64","optional":true,"name":"io.debezium.time.MicroTime","version":1}`},
		{TimeAdaptiveTimeMicroseconds, dateTime2(7), at, "1531481025345678900", `{"type":"int64","optional":true,"name":"io.debezium.time.NanoTimestamp","version":1}`},
		{TimeConnect, dateType, at, "17725", `{"type":"int32","optional":true,"name":"org.apache.kafka.connect.data.Date","version":1}`},
		{TimeConnect, timeType(7), of, "41025345", `{"type":"int32","optional":true,"name":"org.apache.kafka.connect.data.Time","version":1}`},
		{TimeConnect, dateTime2(7), at, "1531481025345", `{"type":"int64","optional":true,"name":"org.apache.kafka.connect.data.Timestamp","version":1}`},
		{TimeConnect, dateTime2(7), utc("9999-12-31 23:59:59.9999999"), "253402300799999", `{"type":"int64","optional":true,"name":"org.apache.kafka.connect.data.Timestamp","version":1}`},
		{TimeConnect, dateTime2(7), utc("1969-12-31 23:59:59.9999999"), "-1", `{"type":"int64","optional":true,"name":"org.apache.kafka.connect.data.Timestamp","version":1}`},
		{TimeISOString, dateType, at, `"2018-07-13Z"`, `{"type":"string","optional":true,"name":"io.debezium.time.IsoDate","version":1}`},
		{TimeISOString, timeType(2), clock("10:23:45.68"), `"10:23:45.68Z"`, `{"type":"string","optional":true,"name":"io.debezium.time.IsoTime","version":1}`},
		{TimeISOString, dateTime2(7), utc("2018-07-13 11:23:45.34"), `"2018-07-13T11:23:45.34Z"`, `{"type":"string","optional":true,"name":"io.debezium.time.IsoTimestamp","version":1}`},
		{TimeISOString, dateTime2(7), utc("9999-12-31 23:59:59.9999999"), `"9999-12-31T23:59:59.9999999Z"`, `{"type":"string","optional":true,"name":"io.debezium.time.IsoTimestamp","version":1}`},
		{TimeISOString, dateTime2(7), utc("0001-01-01 00:00:00"), `"0001-01-01T00:00:00Z"`, `{"type":"string","optional":true,"name":"io.debezium.time.IsoTimestamp","version":1}`},
		{TimeMicroseconds, dateType, at, "17725", `{"type":"int32","optional":true,"name":"io.debezium.time.Date","version":1}`},
		{TimeMicroseconds, timeType(0), clock("00:00:01"), "1000000", `{"type":"int64","optional":true,"name":"io.debezium.time.MicroTime","version":1}`},
		{TimeMicroseconds, dateTime, utc("2018-07-13 13:23:45.783"), "1531488225783000", `{"type":"int64","optional":true,"name":"io.debezium.time.MicroTimestamp","version":1}`},
		{TimeNanoseconds, timeType(0), clock("00:00:01"), "1000000000", `{"type":"int64","optional":true,"name":"io.debezium.time.NanoTime","version":1}`},
		{TimeNanoseconds, smallDate, utc("2018-07-13 14:24:00"), "1531491840000000000", `{"type":"int64","optional":true,"name":"io.debezium.time.NanoTimestamp","version":1}`},
	}
	for _, tt := range tests {
		t.Run(string(tt.mode)+"/"+tt.typ.Name+"/"+tt.json, func(t *testing.T) {
			m := DefaultModes()
			m.Time = tt.mode
			assert.Equal(t, tt.json, encodeOne(t, tt.typ, m, tt.v))
			assert.Equal(t, tt.name, connectJSON(t, tt.typ, m))
		})
	}
}

func TestEncode_OtherModes(t *testing.T) {
	t.Run("decimal string", func(t *testing.T) {
		m := DefaultModes()
		m.Decimal = DecimalString
		for _, tt := range []struct {
			typ     Type
			v, want string
		}{
			{decimalType(10, 4), "5.3230", "5.3230"},
			{decimalType(6, 3), "-0.001", "-0.001"},
			{decimalType(6, 3), "0.000", "0.000"},
			{decimalType(6, 3), "-0.000", "0.000"},
			{decimalType(6, 0), "120", "120"},
			{smallMoney, "-0.5000", "-0.5000"},
			{moneyType, "-922337203685477.5808", "-922337203685477.5808"},
			{decimalType(38, 38), "0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"},
			{decimalType(38, 0), "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"},
		} {
			assert.Equal(t, `"`+tt.want+`"`, encodeOne(t, tt.typ, m, []byte(tt.v)))
		}
		assert.Equal(t, `{"type":"string","optional":true}`, connectJSON(t, moneyType, m))
	})
	t.Run("decimal double", func(t *testing.T) {
		m := DefaultModes()
		m.Decimal = DecimalDouble
		assert.Equal(t, "5.323", encodeOne(t, decimalType(10, 4), m, []byte("5.3230")))
		assert.Equal(t, "1.0E38", encodeOne(t, decimalType(38, 0), m, []byte("99999999999999999999999999999999999999")))
		assert.Equal(t, "0.0", encodeOne(t, decimalType(6, 3), m, []byte("-0.000")), "decimals have no negative zero")
		assert.Equal(t, `{"type":"double","optional":true}`, connectJSON(t, moneyType, m))
	})
	for mode, want := range map[BinaryMode]string{
		BinaryBase64: `"+/8A"`, BinaryBase64URLSafe: `"-_8A"`, BinaryHex: `"fbff00"`,
	} {
		t.Run("binary "+string(mode), func(t *testing.T) {
			m := DefaultModes()
			m.Binary = mode
			assert.Equal(t, want, encodeOne(t, binaryType, m, []byte{0xfb, 0xff, 0x00}))
			assert.Equal(t, `{"type":"string","optional":true}`, connectJSON(t, binaryType, m))
		})
	}
}

func TestConnectSchema_DefaultModes(t *testing.T) {
	tests := []struct {
		typ  Type
		want string
	}{
		{bitType, `{"type":"boolean","optional":true}`},
		{tinyIntType, `{"type":"int16","optional":true}`},
		{smallIntType, `{"type":"int16","optional":true}`},
		{intType, `{"type":"int32","optional":true}`},
		{bigIntType, `{"type":"int64","optional":true}`},
		{realType, `{"type":"float","optional":true}`},
		{floatType, `{"type":"double","optional":true}`},
		{decimalType(18, 2), `{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"18"}}`},
		{moneyType, `{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"4","connect.decimal.precision":"19"}}`},
		{charType, `{"type":"string","optional":true}`},
		{textType, `{"type":"string","optional":true}`},
		{xmlType, `{"type":"string","optional":true,"name":"io.debezium.data.Xml","version":1}`},
		{guidType, `{"type":"string","optional":true}`},
		{binaryType, `{"type":"bytes","optional":true}`},
		{rowVersion, `{"type":"bytes","optional":true}`},
		{dateType, `{"type":"int32","optional":true,"name":"io.debezium.time.Date","version":1}`},
		{timeType(3), `{"type":"int32","optional":true,"name":"io.debezium.time.Time","version":1}`},
		{timeType(4), `{"type":"int64","optional":true,"name":"io.debezium.time.MicroTime","version":1}`},
		{timeType(7), `{"type":"int64","optional":true,"name":"io.debezium.time.NanoTime","version":1}`},
		{dateTime, `{"type":"int64","optional":true,"name":"io.debezium.time.Timestamp","version":1}`},
		{dateTime2(6), `{"type":"int64","optional":true,"name":"io.debezium.time.MicroTimestamp","version":1}`},
		{dateTime2(7), `{"type":"int64","optional":true,"name":"io.debezium.time.NanoTimestamp","version":1}`},
		{scaled(DateTimeOffset, "datetimeoffset", 7), `{"type":"string","optional":true,"name":"io.debezium.time.ZonedTimestamp","version":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.typ.Name, func(t *testing.T) {
			assert.Equal(t, tt.want, connectJSON(t, tt.typ, DefaultModes()))
		})
	}
}

func TestConnectSchema_Append(t *testing.T) {
	s := ConnectSchema{
		Type: "struct", Name: "n", Version: 2,
		Fields: []ConnectField{
			{"list", ConnectSchema{Type: "array", Items: &ConnectSchema{Type: "string", Optional: true}}},
			{"map", ConnectSchema{Type: "map", Keys: &ConnectSchema{Type: "string"}, Values: &ConnectSchema{Type: "string"}, Optional: true}},
			{`q"`, ConnectSchema{Type: "int32", Parameters: []Parameter{{"b", "1"}, {"a", "2"}}, Default: []byte("7")}},
		},
	}
	assert.Equal(t, `{"type":"struct","fields":[`+
		`{"type":"array","items":{"type":"string","optional":true},"optional":false,"field":"list"},`+
		`{"type":"map","keys":{"type":"string","optional":false},"values":{"type":"string","optional":false},"optional":true,"field":"map"},`+
		`{"type":"int32","optional":false,"parameters":{"b":"1","a":"2"},"default":7,"field":"q\""}],"optional":false,"name":"n","version":2}`,
		string(s.Append(nil)))
}

func TestEncode_OutOfRange(t *testing.T) {
	tests := []struct {
		name string
		typ  Type
		v    driver.Value
		want []string
	}{
		{"one tick too late", dateTime2(7), utc("2262-04-11 23:47:16.8547759"), []string{"2262-04-11 23:47:16.8547759", "time_precision_mode", "datetime2(6)"}},
		{"one tick too early", dateTime2(7), utc("1677-09-21 00:12:43.1452241"), []string{"1677-09-21 00:12:43.1452241", "time_precision_mode"}},
		{"the last moment", dateTime2(7), utc("9999-12-31 23:59:59.9999999"), []string{`"v"`, "db.dbo.t", "9999-12-31 23:59:59.9999999"}},
		{"decimal with a finer scale", decimalType(6, 2), []byte("1.234"), []string{"more decimals"}},
		{"decimal with 39 digits", decimalType(38, 0), []byte("999999999999999999999999999999999999999"), []string{"38 digits"}},
		{"not a decimal", decimalType(6, 2), []byte("1e5"), []string{"not a decimal"}},
		{"no digits", decimalType(6, 2), []byte("-"), []string{"not a decimal"}},
		{"wrong Go type", intType, "5", []string{"string", "int64"}},
		{"short uniqueidentifier", guidType, []byte{1}, []string{"16 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := oneColumn(t, tt.typ, DefaultModes())
			_, err := p.AppendRow(nil, []driver.Value{tt.v}, RowImage{})
			_, twin := p.StructuredRow([]driver.Value{tt.v}, RowImage{})
			var value *ValueError
			require.ErrorAs(t, err, &value)
			require.EqualError(t, twin, err.Error())
			for _, part := range tt.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
	t.Run("a long value is cut", func(t *testing.T) {
		p := oneColumn(t, intType, DefaultModes())
		_, err := p.AppendRow(nil, []driver.Value{string(make([]byte, 5000))}, RowImage{})
		assert.Less(t, len(err.Error()), 300)
	})
}

func TestEncode_WallTime(t *testing.T) {
	// The driver places zone-less values in the location of its parameter
	// "timezone"; the clock on the wall is what was stored.
	zone := time.FixedZone("", 5*3600+1800)
	assert.Equal(t, "17725", encodeOne(t, dateType, DefaultModes(), time.Date(2018, 7, 13, 0, 0, 0, 0, zone)))
	assert.Equal(t, "1531481025340000000", encodeOne(t, dateTime2(7), DefaultModes(), time.Date(2018, 7, 13, 11, 23, 45, 340000000, zone)))
	assert.Equal(t, "37425680", encodeOne(t, timeType(2), DefaultModes(), time.Date(1, 1, 1, 10, 23, 45, 680000000, zone)))
}

func TestPlan_Common(t *testing.T) {
	m := DefaultModes()
	m.Decimal = DecimalString
	p, err := Compile(&Table{Name: "t", Columns: []Column{
		{Name: "i", Type: intType},
		{Name: "l", Type: bigIntType, Nullable: true},
		{Name: "b", Type: bitType},
		{Name: "r", Type: realType},
		{Name: "f", Type: floatType},
		{Name: "d", Type: decimalType(10, 2)},
		{Name: "s", Type: charType},
		{Name: "x", Type: binaryType},
		{Name: "t", Type: dateTime2(7)},
		{Name: "g", Type: guidType},
	}}, m)
	require.NoError(t, err)
	c := p.Common()
	require.NoError(t, c.Validate())
	parsed, err := common.ParseFromAny(c.ToAny())
	require.NoError(t, err)
	var types []common.CommonType
	for _, child := range parsed.Children {
		types = append(types, child.Type)
	}
	assert.Equal(t, []common.CommonType{
		common.Int32, common.Int64, common.Boolean, common.Float32, common.Float64, common.Decimal,
		common.String, common.String, common.Int64, common.String,
	}, types)
	assert.True(t, parsed.Children[1].Optional)
	assert.Equal(t, common.DecimalParams{Precision: 10, Scale: 2}, *parsed.Children[5].Logical.Decimal)
}
