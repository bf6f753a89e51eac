package builtin

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// characterFunctions turn characters into numbers and back, and quote names.
var characterFunctions = []Function{
	{Name: "ASCII", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalASCII},
	{Name: "UNICODE", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalUnicode},
	{Name: "CHAR", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Type{ID: sqltypes.Char, Length: 1}), Eval: evalChar},
	{Name: "NCHAR", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.NVarCharOf(2)), Eval: evalNChar},
	{Name: "QUOTENAME", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.NVarCharOf(258)), Eval: evalQuoteName},
	{Name: "PARSENAME", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.NVarCharOf(128)), Eval: evalParseName},
	{Name: "SOUNDEX", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.VarCharOf(5)), Eval: mapText(soundex)},
	{Name: "DIFFERENCE", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalDifference},
}

// evalASCII gives the first byte in the code page.
func evalASCII(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if err != nil || s == "" {
		return sqltypes.Null(), err
	}
	c := types[0].Collation
	if c == nil {
		c = sqltypes.DefaultCollation
	}
	_, w := sqltypes.DecodeRune(s)
	return sqltypes.IntOf(int64(c.Encode(nil, s[:w])[0])), nil
}

// evalUnicode gives the first character's number.
func evalUnicode(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if err != nil || s == "" {
		return sqltypes.Null(), err
	}
	if countsCodePoints(types[0]) {
		r, _ := sqltypes.DecodeRune(s)
		return sqltypes.IntOf(int64(r)), nil
	}
	unit := sqltypes.AppendUTF16(nil, sqltypes.SliceUTF16(s, 0, 1))
	return sqltypes.IntOf(int64(unit[0]) | int64(unit[1])<<8), nil
}

func sessionCollation(env Env) *sqltypes.Collation {
	if c := env.Session().Collation; c != nil {
		return c
	}
	return sqltypes.DefaultCollation
}

func evalChar(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := intOf(args[0], types[0])
	if err != nil || n < 0 || n > 255 {
		return sqltypes.Null(), err
	}
	return sqltypes.StringOf(sessionCollation(env).Decode([]byte{byte(n)})), nil
}

// evalNChar makes a character of a code point; above 0xFFFF only databases with a
// supplementary-character collation have one.
func evalNChar(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := intOf(args[0], types[0])
	if err != nil || n < 0 || n > 0x10FFFF || n > 0xFFFF && !sessionCollation(env).Supplementary {
		return sqltypes.Null(), err
	}
	if n > 0xFFFF {
		return sqltypes.StringOf(string(rune(n))), nil
	}
	return sqltypes.StringOf(sqltypes.DecodeUTF16([]byte{byte(n), byte(n >> 8)})), nil
}

// evalQuoteName gives NULL for names over 128 characters and for other quotes.
func evalQuoteName(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	quote := "["
	if len(args) == 2 {
		if quote, err = textOf(args[1], types[1]); err != nil {
			return sqltypes.Null(), err
		}
	}
	if quote == "" || sqltypes.UTF16Len(s) > 128 {
		return sqltypes.Null(), nil
	}
	pairs := map[byte]string{'[': "[]", ']': "[]", '(': "()", ')': "()", '<': "<>", '>': "<>", '{': "{}", '}': "{}", '"': `""`, '\'': "''", '`': "``"}
	pair, ok := pairs[quote[0]]
	if !ok {
		return sqltypes.Null(), nil
	}
	closing := pair[1:]
	return sqltypes.StringOf(pair[:1] + strings.ReplaceAll(s, closing, closing+closing) + closing), nil
}

// evalParseName takes part n, counted from the right, of a name of up to four parts.
func evalParseName(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, n, err := textAndInt(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	parts, ok := splitName(s)
	if !ok || n < 1 || n > len(parts) || len(parts) > 4 || parts[len(parts)-n] == "" {
		return sqltypes.Null(), nil
	}
	return sqltypes.StringOf(parts[len(parts)-n]), nil
}

// splitName splits at dots outside brackets and double quotes and takes the quotes off.
func splitName(s string) (parts []string, ok bool) {
	for {
		var part string
		if s != "" && (s[0] == '[' || s[0] == '"') {
			closing := s[0]
			if closing == '[' {
				closing = ']'
			}
			var b strings.Builder
			i := 1
			for ; i < len(s); i++ {
				if s[i] != closing {
					b.WriteByte(s[i])
				} else if i+1 < len(s) && s[i+1] == closing {
					b.WriteByte(closing)
					i++
				} else {
					break
				}
			}
			if i >= len(s) {
				return nil, false
			}
			part, s = b.String(), s[i+1:]
		} else {
			end := strings.IndexByte(s, '.')
			if end < 0 {
				end = len(s)
			}
			part, s = s[:end], s[end:]
		}
		parts = append(parts, part)
		if s == "" {
			return parts, true
		}
		if s[0] != '.' {
			return nil, false
		}
		s = s[1:]
	}
}

// soundex is the four-character code of a word's sound.
func soundex(s string) string {
	const codes = "01230120022455012623010202" // of A to Z; 0 is not coded
	out := make([]byte, 0, 4)
	last := byte('0')
	for i := range len(s) {
		c := s[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			if i == 0 {
				return "0000"
			}
			break
		}
		code := codes[c-'A']
		switch {
		case len(out) == 0:
			out = append(out, c)
		case code != '0' && code != last && len(out) < 4:
			out = append(out, code)
		}
		if c != 'H' && c != 'W' {
			last = code
		}
	}
	if len(out) == 0 {
		return "0000"
	}
	return (string(out) + "000")[:4]
}

// evalDifference counts the characters that two codes share.
func evalDifference(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	a, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	b, err := textOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	x, y := soundex(a), soundex(b)
	same := int64(0)
	for i := range len(x) {
		if x[i] == y[i] {
			same++
		}
	}
	return sqltypes.IntOf(same), nil
}
