package schema

import (
	"encoding/base64"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseUnscaled(f *testing.F) {
	for _, seed := range []struct {
		text  string
		scale uint8
	}{{"1.123", 3}, {"-0.001", 3}, {"+5", 0}, {"12.", 2}, {".5", 1}, {"-", 0}, {"1..2", 2}, {"1.230", 2}, {strings.Repeat("9", 38), 0}, {strings.Repeat("9", 39), 0}} {
		f.Add(seed.text, seed.scale)
	}
	f.Fuzz(func(t *testing.T, text string, scale uint8) {
		scale %= 39
		u, err := parseUnscaled([]byte(text), int(scale))
		if err != nil {
			return
		}
		number, ok := new(big.Rat).SetString(text)
		require.True(t, ok, "%q is not a number", text)
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		want := number.Mul(number, new(big.Rat).SetInt(power))
		require.True(t, want.IsInt())

		raw, err := base64.StdEncoding.DecodeString(string(u.appendBase64(nil)))
		require.NoError(t, err)
		require.Equal(t, want.Num().String(), twosComplement(raw).String())

		plain := u.appendPlain(nil, int(scale))
		again, err := parseUnscaled(plain, int(scale))
		require.NoError(t, err)
		require.Equal(t, string(plain), string(again.appendPlain(nil, int(scale))))
	})
}

// A pattern that compiles matches a name as a whole: with other characters
// around it, it is another pattern's name.
func FuzzCompilePattern(f *testing.F) {
	for _, seed := range []string{`dbo\.orders`, `dbo\.(?!tmp).*`, `[^a-z\d]+`, `\D\w\s`, `a|b`, `(`, `[`, `\`, `[a&&b]`, `(?x)a # b`, `é*`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := CompilePattern(text)
		if err != nil {
			return
		}
		require.Equal(t, text, p.String())
		whole, err := CompilePattern("x" + regexpQuote(text) + "y")
		require.NoError(t, err)
		require.True(t, whole.Match("x"+text+"y"))
		require.False(t, whole.Match(text))
	})
}

// regexpQuote makes a pattern of a text that matches the text alone.
func regexpQuote(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && strings.ContainsRune(`\.+*?()|[]{}^$#-&`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
