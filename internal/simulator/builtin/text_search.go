package builtin

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// searchFunctions find and replace under the collation of the text.
var searchFunctions = []Function{
	{Name: "CHARINDEX", MinArgs: 2, MaxArgs: 3, Deterministic: true, ResultType: positionType, Eval: evalCharIndex},
	{Name: "PATINDEX", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: positionType, Eval: evalPatIndex},
	{Name: "REPLACE", MinArgs: 3, MaxArgs: 3, Deterministic: true, ResultType: replaceType, Eval: evalReplace},
	{Name: "TRANSLATE", MinArgs: 3, MaxArgs: 3, Deterministic: true, ResultType: replaceType, Eval: evalTranslate},
}

// positionType is int, or bigint when a max type is searched.
func positionType(args []sqltypes.Type) (sqltypes.Type, error) {
	if args[1].Length == sqltypes.Max {
		return sqltypes.Simple(sqltypes.BigInt), nil
	}
	return sqltypes.Simple(sqltypes.Int), nil
}

func replaceType(args []sqltypes.Type) (sqltypes.Type, error) {
	if err := wantText("REPLACE", args, 0); err != nil {
		return sqltypes.Type{}, err
	}
	return longestOf(args...), nil
}

// searchType is the type under which two texts are compared: national if one is, with
// the collation of the text that is searched.
func searchType(needle, haystack sqltypes.Type) sqltypes.Type {
	t := asText(haystack)
	if needle.ID.IsNational() {
		t.ID = sqltypes.NVarChar
	}
	if t.Collation == nil {
		t.Collation = needle.Collation
	}
	return t
}

// find returns the byte offsets of the first match of needle in s from a byte offset
// on, or -1. Matches have as many characters as the needle.
func find(s, needle string, from int, t sqltypes.Type) (start, end int) {
	count := runeCount(needle)
	for start = from; start < len(s); {
		end = advance(s, start, count)
		if end < 0 {
			return -1, -1
		}
		// Trailing blanks do not count in comparisons, but they do in a search.
		if sameBlanks(s[start:end], needle) && sqltypes.Compare(sqltypes.StringOf(s[start:end]), sqltypes.StringOf(needle), t) == 0 {
			return start, end
		}
		start = advance(s, start, 1)
	}
	return -1, -1
}

func sameBlanks(a, b string) bool {
	return len(a)-len(strings.TrimRight(a, " ")) == len(b)-len(strings.TrimRight(b, " "))
}

func runeCount(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		_, w := sqltypes.DecodeRune(s[i:])
		i += w
	}
	return n
}

// advance returns the byte offset n characters after at, or -1 past the end.
func advance(s string, at, n int) int {
	for ; n > 0; n-- {
		if at >= len(s) {
			return -1
		}
		_, w := sqltypes.DecodeRune(s[at:])
		at += w
	}
	return at
}

func evalCharIndex(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	needle, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	s, err := textOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	start := 1
	if len(args) == 3 {
		if start, err = intOf(args[2], types[2]); err != nil {
			return sqltypes.Null(), err
		}
	}
	if needle == "" {
		return sqltypes.IntOf(0), nil
	}
	skipped := slice(s, 0, max(start-1, 0), types[1])
	at, _ := find(s, needle, len(skipped), searchType(types[0], types[1]))
	if at < 0 {
		return sqltypes.IntOf(0), nil
	}
	return sqltypes.IntOf(int64(length(s[:at], types[1]) + 1)), nil
}

func evalPatIndex(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	pattern, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	s, err := textOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	at := sqltypes.CompileLike(pattern, sqltypes.NoEscape, searchType(types[0], types[1])).Index(s)
	if at < 0 {
		return sqltypes.IntOf(0), nil
	}
	return sqltypes.IntOf(int64(length(s[:at], types[1]) + 1)), nil
}

func threeTexts(args []sqltypes.Value, types []sqltypes.Type) (texts [3]string, err error) {
	for i := range texts {
		if texts[i], err = textOf(args[i], types[i]); err != nil {
			return texts, err
		}
	}
	return texts, nil
}

func evalReplace(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	texts, err := threeTexts(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	s, needle, with := texts[0], texts[1], texts[2]
	if needle == "" {
		return sqltypes.StringOf(s), nil
	}
	t := searchType(types[1], types[0])
	var b strings.Builder
	at := 0
	for {
		start, end := find(s, needle, at, t)
		if start < 0 {
			break
		}
		b.WriteString(s[at:start])
		b.WriteString(with)
		at = end
	}
	b.WriteString(s[at:])
	return fitted(b.String(), longestOf(types...)), nil
}

// evalTranslate replaces single characters; both lists must be equally long.
func evalTranslate(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	texts, err := threeTexts(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	from, to := []rune(texts[1]), []rune(texts[2])
	if len(from) != len(to) {
		return sqltypes.Null(), sqltypes.Errorf(9828, 1, 16, "The second and third arguments of the TRANSLATE built-in function must contain an equal number of characters.")
	}
	t := searchType(types[1], types[0])
	return sqltypes.StringOf(mapRunes(texts[0], func(r rune) rune {
		for i, f := range from {
			if sqltypes.Compare(sqltypes.StringOf(string(f)+"."), sqltypes.StringOf(string(r)+"."), t) == 0 {
				return to[i]
			}
		}
		return r
	})), nil
}
