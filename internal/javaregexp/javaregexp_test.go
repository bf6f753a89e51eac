package javaregexp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		expr     string
		yes, not []string
	}{
		{`dbo\.orders`, []string{"dbo.orders", "DBO.Orders"}, []string{"dbo.orders_archive", "xdbo.orders", "dbo-orders", "dbo.orders\n", ""}},
		{`dbo.orders`, []string{"dbo.orders", "dbo-orders"}, []string{"dbo\norders", "dbo\u2028orders"}},
		{`(?s)dbo.orders`, []string{"dbo\norders"}, nil},
		{`(?i)a(?i:b)`, []string{"AB"}, nil},
		{`dbo\.a|dbo\.b`, []string{"dbo.a", "dbo.b"}, []string{"dbo.ab", "dbo.a|dbo.b"}},
		{`(dbo\.)(?:a|b|)`, []string{"dbo.a", "dbo."}, []string{"dbo.c"}},
		{`dbo\.(?!tmp_|old_).*`, []string{"dbo.orders", "dbo.tmp"}, []string{"dbo.tmp_1", "dbo.old_1"}},
		{`dbo\..*(?<!_old)`, []string{"dbo.orders"}, []string{"dbo.orders_old"}},
		{`(?=.*a)(?=.*b).*`, []string{"ab", "xbxa"}, []string{"a", "b"}},
		{`.*(?<=x{2}).`, []string{"axxb"}, []string{"axb"}},
		{`(?<name>a)b`, []string{"ab"}, nil},
		{`a{2}b{1,}c{0,2}d?e+?f*?`, []string{"aabe", "aabbccdef", "AABBe"}, []string{"abe", "aabcccde"}},
		{`(ab){2,3}`, []string{"abab", "ababab"}, []string{"ab", "abababab"}},
		{`(a?){3}`, []string{"", "a", "aaa"}, []string{"aaaa"}},
		{`^dbo$`, []string{"dbo"}, nil},
		{`\Adbo\z`, []string{"dbo"}, nil},
		{`a$\n`, []string{"a\n"}, nil},
		{`\bdbo\b\.\Bx`, []string{}, []string{"dbo.x"}},
		{`\bdbo\b\.x`, []string{"dbo.x"}, nil},
		{`\w+\.\d\s\D\W\S`, []string{"dbo.1 a.b"}, []string{"naïve.1 a.b", "dbo.١ a.b"}},
		{`[\w$ -]+`, []string{"a$ -_9"}, []string{"é"}},
		{`[^a-c]`, []string{"d", "é", "\n"}, []string{"a", "B"}},
		{`[B-Yé]`, []string{"b", "y", "é"}, []string{"a", "É"}},
		{`[_-k]`, []string{"_", "k", "K", "`"}, []string{"l", "L", "^"}},
		{`[a-z&&[^aeiou]]`, []string{"b", "Z"}, []string{"a", "E", "1"}},
		{`[a-d[x-z]1]`, []string{"a", "y", "1"}, []string{"e"}},
		{`[^a[b]]`, []string{"c"}, []string{"a", "b"}},
		{`[\D&&[^x]]`, []string{"a"}, []string{"1", "x"}},
		{`[]a]`, []string{"]", "a"}, nil},
		{`[^]a]`, []string{"b"}, []string{"]", "a"}},
		{`[a-]`, []string{"a", "-"}, nil},
		{`[\]\\\-\[&]`, []string{"]", `\`, "-", "[", "&"}, []string{"a"}},
		{`\Qa.b*c\E.`, []string{"a.b*cx", "A.B*Cx"}, []string{"axb*cx"}},
		{`\Qa.b`, []string{"a.b"}, []string{"axb"}},
		{`[\Q^-]\E]+`, []string{"^-]"}, []string{"a"}},
		{`\x41\u0062\x{1F600}\0101\t\cA\e`, []string{"ab😀a\t\x01\x1b"}, nil},
		{`\p{L}+\pN\P{L}\p{Alpha}\p{IsGreek}`, []string{"注文1.xα"}, []string{"注文1axα"}},
		{`\p{Lu}\p{Lower}`, []string{"aB"}, []string{"1B"}},
		{`\h\v`, []string{" \n", "\u00a0\u2028"}, []string{"\n "}},
		{`注.`, []string{"注文", "注😀"}, []string{"注"}},
		// Only ASCII letters have two cases: in Java as here the Turkish ones
		// and the Kelvin sign are others.
		{`İ`, []string{"İ"}, []string{"i", "I", "ı"}},
		{`ı`, []string{"ı"}, []string{"I", "i"}},
		{`i`, []string{"i", "I"}, []string{"İ", "ı"}},
		{`k`, []string{"K"}, []string{"\u212a"}},
		{`é`, []string{"é"}, []string{"É"}},
		{``, []string{""}, []string{"a"}},
		{`|a`, []string{"", "a"}, nil},
		{`}`, []string{"}"}, nil},
		{`a]`, []string{"a]"}, nil},
		{`&&`, []string{"&&"}, nil},
	} {
		t.Run(tt.expr, func(t *testing.T) {
			r, err := Compile(tt.expr)
			require.NoError(t, err)
			assert.Equal(t, tt.expr, r.String())
			for _, name := range tt.yes {
				assert.True(t, r.Match(name), "%q", name)
			}
			for _, name := range tt.not {
				assert.False(t, r.Match(name), "%q", name)
			}
		})
	}
}

func TestCompile_Refused(t *testing.T) {
	for expr, want := range map[string]string{
		`(`: "group is not closed", `(?:a`: "group is not closed", `(?<n`: "group is not closed", `(?`: "group is not closed",
		`a)`: "closing parenthesis", `a)|(b`: "closing parenthesis",
		`[a`: "class is not closed", `[`: "class is not closed", `[a[b]`: "class is not closed", `[a&&]`: "class is empty", `[&&a]`: "class is empty",
		`\`: "backslash stands at the end", `a\c`: "backslash stands at the end", `[\`: "backslash stands at the end",
		`*a`: "nothing stands before '*'", `a**`: "nothing stands before '*'", `(|+)`: "nothing stands before '+'", `{2}`: "nothing stands before '{'",
		`a{`: "repetition", `a{x}`: "repetition", `a{,3}`: "repetition", `a{3,2}`: "no range", `a{99999999999}`: "repetition",
		`a++`: "possessive", `a{2}+`: "possessive", `(?>a)`: "atomic", `(a)\1`: "back references", `(?<n>a)\k<n>`: "back references",
		`(?m)a`: `flag 'm'`, `(?-i)a`: `flag '-'`, `(?u)a`: `flag 'u'`, `(?x) a`: `flag 'x'`,
		`\y`: `\y is not known`, `\8`: "back references", `[\8]`: `\8 is not known`, `\G`: `\G is not known`, `\R`: `\R is not known`,
		`[z-a]`: "range", `[a-\d]`: "range", `\p{Nope}`: "Nope", `\p{L`: "not closed",
		`\xZZ`: "digits", `\u12`: "digits", `\08`: "digits", `\x{110000}`: "code of a character", `\x{}`: "code of a character",
		strings.Repeat("(", 1000): "too deep", strings.Repeat("[", 1000): "too deep",
	} {
		t.Run(expr[:min(len(expr), 20)], func(t *testing.T) {
			_, err := Compile(expr)
			assert.ErrorContains(t, err, want)
		})
	}
}

// Expressions that take a backtracking engine longer than the universe is old
// are answered, lookaround or not.
func TestMatch_NothingTakesForEver(t *testing.T) {
	name := strings.Repeat("a", 512)
	for _, expr := range []string{
		`(a+)+b`, `(a|a)*b`, `(a*)*b`, `(.*)(.*)(.*)(.*)(.*)(.*)b`, `(?=(a+)+b).*`, `.*(?<=(a|aa)+b)`, `(?!(a*)*b).*b`,
		strings.Repeat("(", 100) + "a" + strings.Repeat("*)", 100) + "b",
		strings.Repeat("(?=", 100) + "a" + strings.Repeat(".*)", 100) + "b",
		strings.Repeat("a?", 200) + strings.Repeat("a", 600),
		`(a{0,100000}){100000}b`,
	} {
		r, err := Compile(expr)
		require.NoError(t, err)
		assert.False(t, r.Match(name), expr)
	}
}

// expressions draws expressions that Go and Java read in the same way.
func expressions() *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{`a`, `B`, `.`, `\.`, `[ab]`, `[^a]`, `[a-b.]`, `\w`, `\d`, `\W`, `^`, `$`, `é`, `\b`, `(?i)`})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		open := 0
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				b.WriteString("(")
				open++
				b.WriteString(atom.Draw(t, "atom"))
			case 1:
				b.WriteString("|")
			case 2:
				if open > 0 {
					open--
					b.WriteString(")")
				}
			default:
				b.WriteString(atom.Draw(t, "atom"))
				b.WriteString(rapid.SampledFrom([]string{"", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"}).Draw(t, "quantifier"))
			}
		}
		return b.String() + strings.Repeat(")", open)
	})
}

// Without lookaround the package says what Go's says. Names are ASCII, but for
// one letter that has no other case in either.
func TestMatch_AsGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := expressions().Draw(t, "expr")
		want, err := regexp.Compile(`\A(?i:` + expr + `)\z`)
		got, errHere := Compile(expr)
		if err != nil || errHere != nil {
			return // not an expression
		}
		name := rapid.StringOfN(rapid.SampledFrom([]rune("aAbB.é1")), 0, 8, -1).Draw(t, "name")
		require.Equal(t, want.MatchString(name), got.Match(name), "%s of %q", expr, name)
	})
}

// A look ahead or behind at a place is the same question asked of the rest, or
// of what is before.
func TestMatch_LookaroundIsMatchingOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{`a`, `a.`, `(a|b)+`, `.*b`, `[^a]`, `a{2}`, ``}).Draw(t, "expr")
		name := []rune(rapid.StringOfN(rapid.SampledFrom([]rune("ab.")), 0, 8, -1).Draw(t, "name"))
		at := rapid.IntRange(0, len(name)).Draw(t, "at")
		before, after := string(name[:at]), string(name[at:])
		for form, part := range map[string]string{`(?=%s)`: after, `(?<=%s)`: before} {
			ahead := strings.HasPrefix(form, "(?=")
			inner := "(?s)" + expr + ".*"
			if !ahead {
				inner = "(?s).*(?:" + expr + ")"
			}
			whole, err := Compile(inner)
			require.NoError(t, err)
			for _, negate := range []bool{false, true} {
				look := strings.Replace(form, "%s", expr, 1)
				if negate {
					look = strings.NewReplacer("?=", "?!", "?<=", "?<!").Replace(look)
				}
				r, err := Compile(`(?s)\Q` + before + `\E` + look + `.*`)
				require.NoError(t, err)
				require.Equal(t, whole.Match(part) != negate, r.Match(string(name)), "%s at %d of %q", look, at, string(name))
			}
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`dbo\.(?!x).*`, `[a-z&&[^b]]`, `\Q.\E`, `(a|b){2,3}?`, `\p{L}`} {
		f.Add(seed, "dbo.a")
	}
	f.Fuzz(func(t *testing.T, expr, name string) {
		r, err := Compile(expr)
		if err != nil || len(expr) > 200 || len(name) > 200 {
			return
		}
		r.Match(name)
		quoted, err := Compile(`\Q` + strings.ReplaceAll(name, `\E`, ``) + `\E`)
		require.NoError(t, err)
		require.True(t, quoted.Match(strings.ReplaceAll(name, `\E`, ``)), "a name matches itself")
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, expr := range []string{`dbo\.orders`, `dbo\..*`, `.*\.(?!tmp_).*`} {
		r, err := Compile(expr)
		require.NoError(b, err)
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Match("dbo.customer_addresses.first_name")
			}
		})
	}
}
