package sqltypes_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func collation(t testing.TB, name string) *Collation {
	t.Helper()
	c, ok := LookupCollation(name)
	require.True(t, ok, name)
	return c
}

func textType(t testing.TB, id ID, collationName string) Type {
	t.Helper()
	return Type{ID: id, Length: 100, Collation: collation(t, collationName)}
}

func TestCompare_TextOrder(t *testing.T) {
	const sqlDefault = "SQL_Latin1_General_CP1_CI_AS"
	tests := []struct {
		name      string
		id        ID
		collation string
		sorted    []string
	}{
		// Windows word sort: https://ask.sqlservercentral.com/questions/109765 and MS KB 305704.
		{"word sort", NVarChar, sqlDefault, []string{"_'_", "_-_", "_+_", "_0_", "A+A", "A0A", "A'A", "A-A"}},
		{"hyphen last", NVarChar, sqlDefault, []string{"co_op", "coat", "comb", "coop", "co-op", "cork", "went", "were", "we're"}},
		{"KB 305704", VarChar, "Latin1_General_CI_AI", []string{"carps", "cars", "car's", "car-s"}},
		{"legacy order has no word sort", VarChar, sqlDefault, []string{"A'A", "A+A", "A-A", "A0A", "AA", "co-op", "co_op", "coat", "coop"}},
		{"accents after letters", NVarChar, "Latin1_General_CI_AS", []string{"cote", "coté", "côte", "côté", "cotf"}},
		{"small letters first", NVarChar, "Latin1_General_CS_AS", []string{"a", "A", "ab", "Ab", "b", "B"}},
		{"legacy capitals first", VarChar, "SQL_Latin1_General_CP1_CS_AS", []string{"A", "a", "AB", "ab", "B", "b"}},
		{"BIN2", NVarChar, "Latin1_General_BIN2", []string{"", "-", "A", "Z", "_", "a", "é"}},
		{"Swedish letters at the end", NVarChar, "Finnish_Swedish_100_CI_AS", []string{"a", "o", "z", "å", "ä", "ö"}},
		{"German umlauts beside vowels", NVarChar, "Latin1_General_CI_AS", []string{"a", "ä", "b", "o", "ö", "z"}},
		{"symbols, digits, letters", NVarChar, "Latin1_General_CI_AS", []string{" ", "!", "#", "~", "+", "1", "2", "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			typ := textType(t, tt.id, tt.collation)
			got := slices.Clone(tt.sorted)
			slices.Reverse(got)
			slices.SortStableFunc(got, func(a, b string) int { return Compare(StringOf(a), StringOf(b), typ) })
			assert.Equal(t, tt.sorted, got)
		})
	}
}

func TestCompare_TextEquality(t *testing.T) {
	tests := []struct {
		collation string
		id        ID
		a, b      string
		equal     bool
	}{
		{"SQL_Latin1_General_CP1_CI_AS", VarChar, "abc", "ABC", true},
		{"SQL_Latin1_General_CP1_CI_AS", VarChar, "abc", "abc   ", true},
		{"SQL_Latin1_General_CP1_CI_AS", VarChar, "e", "é", false},
		{"SQL_Latin1_General_CP1_CI_AI", VarChar, "e", "é", true},
		{"SQL_Latin1_General_CP1_CS_AS", NVarChar, "abc", "ABC", false},
		{"Latin1_General_CI_AS", NVarChar, "straße", "strasse", true},
		{"Latin1_General_CI_AS", NVarChar, "e\u0301", "é", true},
		{"Latin1_General_CI_AS", NVarChar, "ア", "あ", true},
		{"Latin1_General_CI_AS_KS", NVarChar, "ア", "あ", false},
		{"Latin1_General_CI_AS", NVarChar, "Ａ", "a", true},
		{"Latin1_General_CI_AS_WS", NVarChar, "Ａ", "a", false},
		{"Latin1_General_CI_AS", NVarChar, "😀", "", true},
		{"Latin1_General_100_CI_AS", NVarChar, "😀", "", false},
		{"Latin1_General_100_CI_AS", NVarChar, "😀", "😁", false},
		{"Latin1_General_BIN2", NVarChar, "a", "a ", true},
		{"Latin1_General_BIN2", NVarChar, "a", "A", false},
		{"Turkish_CI_AS", NVarChar, "i", "I", false},
		{"Turkish_CI_AS", NVarChar, "i", "İ", true},
		{"Turkish_CI_AS", NVarChar, "ı", "I", true},
		{"Latin1_General_CI_AS", NVarChar, "i", "I", true},
		{"Latin1_General_CI_AS", NVarChar, "o", "ø", false},
	}
	for _, tt := range tests {
		t.Run(tt.collation+"/"+tt.a+"="+tt.b, func(t *testing.T) {
			typ := textType(t, tt.id, tt.collation)
			a, b := StringOf(tt.a), StringOf(tt.b)
			assert.Equal(t, tt.equal, Compare(a, b, typ) == 0)
			assert.Equal(t, tt.equal, string(AppendKey(nil, a, typ)) == string(AppendKey(nil, b, typ)), "keys agree")
			assert.Equal(t, Compare(a, b, typ), -Compare(b, a, typ))
		})
	}
}

func TestCompare_GUIDTail(t *testing.T) {
	// MS docs, "Comparing GUID and uniqueidentifier values": the last group weighs most.
	sorted := []string{
		"00000001-0000-0000-0000-000000000000",
		"00000100-0000-0000-0000-000000000000",
		"00000000-0001-0000-0000-000000000000",
		"00000000-0000-0001-0000-000000000000",
		"00000000-0000-0000-0100-000000000000",
		"00000000-0000-0000-0000-010000000000",
	}
	values := make([]Value, len(sorted))
	for i, s := range sorted {
		wire, ok := ParseGUID(s)
		require.True(t, ok)
		values[i] = GUIDOf(wire)
		assert.Equal(t, s, FormatGUID(wire))
	}
	// Wire bytes 0-3 are compared left to right, so 0x01 in the first text group, which is
	// wire byte 0, is greater than in the third, wire byte 1.
	values[0], values[1] = values[1], values[0]
	for i := 1; i < len(values); i++ {
		assert.Negative(t, Compare(values[i-1], values[i], Simple(UniqueIdentifier)), "%s", sorted[i])
	}
}

func TestCompare_NullsAndNumbers(t *testing.T) {
	assert.Equal(t, -1, Compare(Null(), IntOf(-5), Simple(Int)))
	assert.Equal(t, 0, Compare(Null(), Null(), Simple(Int)))
	assert.Equal(t, 1, Compare(IntOf(3), IntOf(-5), Simple(Int)))
	assert.Equal(t, 0, Compare(DecOf(Dec{Lo: 150, Scale: 2}), DecOf(Dec{Lo: 15, Scale: 1}), NumericOf(10, 2)))
	assert.Equal(t, -1, Compare(DecOf(Dec{Lo: 2, Neg: true}), DecOf(Dec{Lo: 1, Neg: true}), NumericOf(10, 0)))
	assert.Equal(t, 0, Compare(RawOf("\x01"), RawOf("\x01\x00"), VarBinaryOf(8)))
	assert.Equal(t, TruthUnknown, CompareTruth("=", Null(), Null(), Simple(Int)))
	assert.Equal(t, True, CompareTruth("<>", IntOf(1), IntOf(2), Simple(Int)))
	assert.Equal(t, False, TruthUnknown.And(False))
	assert.Equal(t, True, TruthUnknown.Or(True))
	assert.Equal(t, TruthUnknown, TruthUnknown.Not())
}

func TestCompare_Variants(t *testing.T) {
	variant := Simple(SQLVariant)
	one := VariantOf(IntOf(1), Simple(Int))
	assert.Equal(t, 0, Compare(one, VariantOf(DecOf(Dec{Lo: 10, Scale: 1}), NumericOf(2, 1)), variant))
	assert.Positive(t, Compare(one, VariantOf(StringOf("9"), VarCharOf(1)), variant), "numbers are a higher family than text")
	v, base := VariantOf(StringOf("x"), NVarCharOf(7)).Variant()
	assert.Equal(t, "x", v.Str())
	assert.Equal(t, NVarChar, base.ID)
	assert.Equal(t, 7, base.Length)
	assert.Equal(t, DefaultCollation, base.Collation)
	_, base = VariantOf(TimeOf(5), Type{ID: Time, Scale: 3}).Variant()
	assert.Equal(t, Type{ID: Time, Scale: 3}, base)
}

func TestLookupCollation(t *testing.T) {
	tests := []struct {
		name, canonical string
		wire            [5]byte
		codePage        int
	}{
		{"sql_latin1_general_cp1_ci_as", "SQL_Latin1_General_CP1_CI_AS", [5]byte{0x09, 0x04, 0xD0, 0x00, 0x34}, 1252},
		{"Latin1_General_BIN2", "Latin1_General_BIN2", [5]byte{0x09, 0x04, 0x00, 0x02, 0x00}, 1252},
		{"Latin1_General_100_CI_AS_SC_UTF8", "Latin1_General_100_CI_AS_SC_UTF8", [5]byte{0x09, 0x04, 0xD0, 0x24, 0x00}, 65001},
		{"japanese_ci_as", "Japanese_CI_AS", [5]byte{0x11, 0x04, 0xD0, 0x00, 0x00}, 932},
		{"Chinese_PRC_CI_AS", "Chinese_PRC_CI_AS", [5]byte{0x04, 0x08, 0xD0, 0x00, 0x00}, 936},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := LookupCollation(tt.name)
			require.True(t, ok)
			assert.Equal(t, tt.canonical, c.Name)
			assert.Equal(t, tt.wire, c.Wire())
			assert.Equal(t, tt.codePage, c.CodePage)
		})
	}
	for _, name := range []string{"", "Klingon_CI_AS", "Latin1_General", "Latin1_General_CI", "SQL_Nowhere_CI_AS", "Latin1_General_CI_AS_XX"} {
		_, ok := LookupCollation(name)
		assert.False(t, ok, name)
	}
}

func TestCollation_CodePages(t *testing.T) {
	tests := []struct {
		collation, text string
		bytes           string
		back            string
	}{
		{"Latin1_General_CI_AS", "é€", "\xE9\x80", "é€"},
		{"Latin1_General_CI_AS", "я", "?", "?"},
		{"Latin1_General_CI_AS", "😀", "??", "??"},
		{"Latin1_General_CI_AS", "Ａ", "A", "A"},
		{"Latin1_General_CI_AS", "\u0081", "\x81", "\u0081"},
		{"Cyrillic_General_CI_AS", "я", "\xFF", "я"},
		{"Japanese_CI_AS", "日本", "\x93\xFA\x96\x7B", "日本"},
		{"Chinese_PRC_CI_AS", "中文", "\xD6\xD0\xCE\xC4", "中文"},
		{"Korean_Wansung_CI_AS", "한", "\xC7\xD1", "한"},
		{"Latin1_General_100_CI_AS_SC_UTF8", "é😀", "é😀", "é😀"},
	}
	for _, tt := range tests {
		t.Run(tt.collation+"/"+tt.text, func(t *testing.T) {
			c := collation(t, tt.collation)
			assert.Equal(t, tt.bytes, string(c.Encode(nil, tt.text)))
			assert.Equal(t, tt.back, c.Decode([]byte(tt.bytes)))
			assert.Equal(t, len(tt.bytes), c.EncodedLen(tt.text))
		})
	}
}
