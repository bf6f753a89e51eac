package sqltypes_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// orderPieces are what collations disagree about: case, accents before and
// after their letter, expansions, ignored characters, widths, kana and Turkish i.
var orderPieces = []string{
	"a", "A", "á", "a\u0301", "ä", "æ", "ae", "b", "c", "ch", "ß", "ss", "ẞ", "i", "I", "İ", "ı", "n", "ñ", "-", "'", "_", " ", "\t", "\x01",
	"0", "9", "１", "Ａ", "か", "カ", "ｶ", "日", "你", "😀", "\u0300", "\u200d", "é", "Ё", "ё", "%", "[", "z", "ł", "ø", "ö", "y", "ü",
}

// Every collation orders all texts, in both families of types, and groups by
// keys that are equal exactly where the texts are.
func TestProperty_CollationsOrderAllTexts(t *testing.T) {
	names := []string{
		"SQL_Latin1_General_CP1_CI_AS", "SQL_Latin1_General_CP1_CS_AS", "SQL_Latin1_General_CP1_CI_AI", "SQL_Latin1_General_CP850_BIN2",
		"Latin1_General_CI_AS", "Latin1_General_100_CS_AS_KS_WS_SC", "Latin1_General_100_CI_AI", "Latin1_General_BIN", "Latin1_General_100_BIN2_UTF8",
		"Turkish_CI_AS", "Traditional_Spanish_CI_AS", "Danish_Norwegian_CS_AS", "Czech_CI_AS", "Hungarian_CI_AI", "German_PhoneBook_CI_AS",
		"Japanese_CI_AS", "Japanese_XJIS_140_CI_AS", "Chinese_PRC_CI_AS", "Cyrillic_General_CI_AS", "Finnish_Swedish_CI_AS",
	}
	piece := rapid.SliceOfN(rapid.SampledFrom(orderPieces), 0, 5)
	text := rapid.Custom(func(t *rapid.T) sqltypes.Value {
		s := ""
		for _, p := range piece.Draw(t, "pieces") {
			s += p
		}
		return sqltypes.StringOf(s)
	})
	rapid.Check(t, func(rt *rapid.T) {
		typ := textType(t, rapid.SampledFrom([]sqltypes.ID{sqltypes.VarChar, sqltypes.NVarChar}).Draw(rt, "type"), rapid.SampledFrom(names).Draw(rt, "collation"))
		draw := func(label string) sqltypes.Value {
			v := text.Draw(rt, label)
			if typ.ID == sqltypes.VarChar { // holds what its code page has
				v = sqltypes.StringOf(typ.Collation.RoundTrip(v.Str()))
			}
			return v
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		ab, bc, ac := sqltypes.Compare(a, b, typ), sqltypes.Compare(b, c, typ), sqltypes.Compare(a, c, typ)
		require.Zero(rt, sqltypes.Compare(a, a, typ))
		require.Equal(rt, -ab, sqltypes.Compare(b, a, typ), "%q and %q in %s", a.Str(), b.Str(), typ.Collation.Name)
		if ab <= 0 && bc <= 0 {
			require.LessOrEqual(rt, ac, 0, "%q, %q, %q in %s", a.Str(), b.Str(), c.Str(), typ.Collation.Name)
		}
		equalKeys := cmp.Compare(string(sqltypes.AppendKey(nil, a, typ)), string(sqltypes.AppendKey(nil, b, typ))) == 0
		require.Equal(rt, ab == 0, equalKeys, "%q and %q in %s", a.Str(), b.Str(), typ.Collation.Name)
	})
}
