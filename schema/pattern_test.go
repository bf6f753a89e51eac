package schema

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPattern_Match(t *testing.T) {
	for _, tt := range []struct {
		expr     string
		yes, not []string
	}{
		{`dbo\.orders`, []string{"dbo.orders", "DBO.Orders"}, []string{"dbo.orders_archive", "xdbo.orders", "dbo-orders", "dbo.orders\n", ""}},
		{`dbo.orders`, []string{"dbo.orders", "dbo-orders"}, []string{"dbo\norders"}},
		{`(?s)dbo.orders`, []string{"dbo\norders"}, nil},
		{`(?i)A(?i:b)`, []string{"AB", "ab"}, nil},
		{`dbo\.A|DBO\.b`, []string{"dbo.a", "dbo.b"}, []string{"dbo.ab", "dbo.a|dbo.b"}},
		{`(dbo\.)(?:a|b|)`, []string{"dbo.a", "dbo."}, []string{"dbo.c"}},
		{`dbo\.(?!TMP_|old_).*`, []string{"dbo.orders", "dbo.tmp"}, []string{"dbo.tmp_1", "dbo.OLD_1"}},
		{`dbo\..*(?<!_Old)`, []string{"dbo.orders"}, []string{"dbo.orders_old"}},
		{`(?=.*a)(?=.*B).*`, []string{"ab", "xbxa"}, []string{"a", "b"}},
		{`.*(?<=x{2}).`, []string{"axxb"}, []string{"axb"}},
		{`(?<Name>a)b\k<Name>`, []string{"abA"}, []string{"ab"}},
		{`(a|b)\1`, []string{"aA", "bb"}, []string{"ab"}},
		{`a{2}b{1,}c{0,2}d?e+?f*?`, []string{"aabe", "aabbccdef", "AABBe"}, []string{"abe", "aabcccde"}},
		{`^dbo$`, []string{"dbo"}, nil},
		{`\w+\.\d\s\D\W\S`, []string{"dbo.1 a.b"}, []string{"naïve.1 a.b", "dbo.١ a.b"}},
		{`[\w$ -]+`, []string{"a$ -_9"}, []string{"é"}},
		{`[^a-cX]`, []string{"d", "é", "\n"}, []string{"a", "B", "x"}},
		{`[B-Yé]`, []string{"b", "y", "é"}, []string{"a", "É"}},
		{`[_-k]`, []string{"_", "k", "K", "`"}, []string{"l", "L", "^"}},
		{`[Z-a]`, []string{"z", "A", "^"}, []string{"b", "y"}},
		{`[\x41-\x43\u0058]`, []string{"a", "B", "x"}, []string{"d"}},
		{`[]a]`, []string{"]", "a"}, nil},
		{`[a-]`, []string{"a", "-"}, []string{"b"}},
		{`[\]\\\-\[&\t\.]`, []string{"]", `\`, "-", "[", "&", "\t", "."}, []string{"a"}},
		{`\Qa.b*C[1]\E.`, []string{"a.b*c[1]x", "A.B*C[1]x"}, []string{"axb*c1x"}},
		{`\Qa.b`, []string{"a.b"}, []string{"axb"}},
		{`[\Q^-]\E]+`, []string{"^-]"}, []string{"a"}},
		{`\x41\u0042\x{1F600}\x2E`, []string{"ab😀."}, []string{"ab😀x"}},
		{`\p{L}+\pN\P{L}`, []string{"注文1."}, []string{"注文1a"}},
		{`注.`, []string{"注文", "注😀"}, []string{"注"}},
		// Only ASCII letters have two cases: in Java as here the Turkish ones
		// and the Kelvin sign are others.
		{`İ`, []string{"İ"}, []string{"i", "I", "ı"}},
		{`ı`, []string{"ı"}, []string{"I", "i"}},
		{`i`, []string{"i", "I"}, []string{"İ", "ı"}},
		{`k`, []string{"K"}, []string{"\u212a"}},
		{`é`, []string{"é"}, []string{"É"}},
	} {
		t.Run(tt.expr, func(t *testing.T) {
			p, err := CompilePattern(tt.expr)
			require.NoError(t, err)
			assert.Equal(t, tt.expr, p.String())
			for _, name := range tt.yes {
				assert.True(t, p.Match(name), "%q", name)
			}
			for _, name := range tt.not {
				assert.False(t, p.Match(name), "%q", name)
			}
		})
	}
}

// What Java reads otherwise, or only Java knows, is refused.
func TestCompilePattern_Refused(t *testing.T) {
	for expr, want := range map[string]string{
		`(`: "missing closing )", `a)`: "unexpected )", `a)|(b`: "unexpected )", `[a`: "unterminated [", `*a`: "missing argument", `a++`: "nested repetition",
		`\`: "at end of pattern", `[a-z&&[^b]]`: "intersection &&", `[a-z[0-9]]`: "inside another", `[\D]`: "inside a character class", `[z-a]`: "range", `[a-\d]`: "no place",
		`(?-i)a`: `flag '-'`, `(?u)a`: `flag 'u'`, `(?m)a`: `flag 'm'`, `\p{Lu}`: "any case", `\p{Alpha}`: "Alpha", `\x{110000}`: "no character",
	} {
		t.Run(expr, func(t *testing.T) {
			_, err := CompilePattern(expr)
			require.ErrorContains(t, err, want)
			assert.ErrorContains(t, err, "regular expression")
		})
	}
}

// Without lookaround no expression takes long, however it repeats.
func TestPattern_RepetitionsOfRepetitions(t *testing.T) {
	name := strings.Repeat("a", 512)
	for _, expr := range []string{`(a+)+b`, `(a|a)*b`, `(a*)*b`, `(.*)(.*)(.*)(.*)(.*)(.*)b`} {
		p, err := CompilePattern(expr)
		require.NoError(t, err)
		assert.False(t, p.Match(name), expr)
	}
}

// On names of ASCII a pattern says what Go's engine says where case is ignored;
// behind an empty lookahead the other engine says the same.
func TestPattern_AsGo(t *testing.T) {
	atoms := rapid.SampledFrom([]string{`a`, `B`, `.`, `\.`, `[ab]`, `[^A]`, `[A-b.]`, `\w`, `\d`, `\W`, `^`, `$`, `\x41`, `(`, `(?:`, `)`, `|`})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 10).Draw(t, "parts") {
			b.WriteString(atoms.Draw(t, "atom") + rapid.SampledFrom([]string{"", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"}).Draw(t, "quantifier"))
		}
		want, err := regexp.Compile(`\A(?i:` + b.String() + `)\z`)
		got, errHere := CompilePattern(b.String())
		looking, errLooking := CompilePattern(`(?=)(?:` + b.String() + `)`)
		if err != nil || errHere != nil || errLooking != nil {
			return
		}
		name := rapid.StringOfN(rapid.SampledFrom([]rune("aAbB.[1_")), 0, 8, -1).Draw(t, "name")
		require.Equal(t, want.MatchString(name), got.Match(name), "%s of %q", b.String(), name)
		require.Equal(t, want.MatchString(name), looking.Match(name), "%s of %q, looking ahead", b.String(), name)
	})
}
