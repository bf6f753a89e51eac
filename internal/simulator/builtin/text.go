package builtin

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// textFunctions cut, join and measure text. Positions and lengths count UTF-16 code
// units, or code points where the collation knows supplementary characters (MS docs,
// "Collation and Unicode support", "Supplementary characters"): see charset.go.
var textFunctions = []Function{
	{Name: "LEN", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: lengthType("LEN"), Eval: evalLen},
	{Name: "DATALENGTH", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: lengthType(""), Eval: evalDataLength},
	{Name: "LEFT", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: textResult("LEFT"), Eval: evalLeft},
	{Name: "RIGHT", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: textResult("RIGHT"), Eval: evalRight},
	{Name: "SUBSTRING", MinArgs: 2, MaxArgs: 3, Deterministic: true, ResultType: substringType, Eval: evalSubstring},
	{Name: "STUFF", MinArgs: 4, MaxArgs: 4, Deterministic: true, ResultType: stuffType, Eval: evalStuff, nulls: true},
	{Name: "REPLICATE", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: longestOfFirst, Eval: evalReplicate},
	{Name: "SPACE", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.VarCharOf(8000)), Eval: evalSpace},
	{Name: "REVERSE", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: textResult("REVERSE"), Eval: evalReverse},
	{Name: "UPPER", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: textResult("UPPER"), Eval: evalUpper},
	{Name: "LOWER", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: textResult("LOWER"), Eval: evalLower},
	{Name: "LTRIM", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: textResult("LTRIM"), Eval: trimWith(strings.TrimLeft)},
	{Name: "RTRIM", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: textResult("RTRIM"), Eval: trimWith(strings.TrimRight)},
	{Name: "TRIM", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: textResult("TRIM"), Eval: trimWith(strings.Trim)},
	{Name: "CONCAT", MinArgs: 2, MaxArgs: maxArguments, Deterministic: true, ResultType: concatType, Eval: evalConcat, nulls: true},
	{Name: "CONCAT_WS", MinArgs: 3, MaxArgs: maxArguments, Deterministic: true, ResultType: concatWSType, Eval: evalConcatWS, nulls: true},
	{Name: "STR", MinArgs: 1, MaxArgs: 3, Deterministic: true, ResultType: always(sqltypes.VarCharOf(8000)), Eval: evalStr},
}

// lengthType is int, or bigint for the max types.
func lengthType(name string) typeFunc {
	return func(args []sqltypes.Type) (sqltypes.Type, error) {
		if name != "" {
			if err := wantText(name, args, 0); err != nil {
				return sqltypes.Type{}, err
			}
		}
		if args[0].Length == sqltypes.Max {
			return sqltypes.Simple(sqltypes.BigInt), nil
		}
		return sqltypes.Simple(sqltypes.Int), nil
	}
}

func evalLen(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if types[0].ID.IsBinary() {
		return sqltypes.IntOf(int64(len(args[0].Raw()))), nil
	}
	s, err := textOf(args[0], types[0])
	return sqltypes.IntOf(int64(length(strings.TrimRight(s, " "), types[0]))), err
}

func evalDataLength(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	return sqltypes.IntOf(int64(dataLength(args[0], types[0]))), nil
}

// dataLength is the number of bytes a value takes in storage.
func dataLength(v sqltypes.Value, t sqltypes.Type) int {
	if t.ID == sqltypes.SQLVariant {
		v, t = v.Variant()
	}
	switch {
	case t.ID == sqltypes.XML || t.ID.IsText() && t.ID.IsNational():
		return 2 * sqltypes.UTF16Len(v.Str())
	case t.ID.IsText():
		return sqltypes.TextLength(v.Str(), t)
	case v.Kind() == sqltypes.KindBytes:
		return len(v.Raw())
	default:
		return t.MaxLength()
	}
}

// invalidLength is error 537 or 536 for a negative length.
func invalidLength(number int32, function string) error {
	return sqltypes.Errorf(number, 2, 16, "Invalid length parameter passed to the %s function.", function)
}

func evalLeft(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, n, err := textAndInt(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	if n < 0 {
		return sqltypes.Null(), invalidLength(537, "LEFT or SUBSTRING")
	}
	return sqltypes.StringOf(slice(s, 0, n, types[0])), nil
}

func evalRight(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, n, err := textAndInt(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	if n < 0 {
		return sqltypes.Null(), invalidLength(536, "RIGHT")
	}
	size := length(s, types[0])
	return sqltypes.StringOf(slice(s, max(0, size-n), size, types[0])), nil
}

func textAndInt(args []sqltypes.Value, types []sqltypes.Type) (s string, n int, err error) {
	if s, err = textOf(args[0], types[0]); err != nil {
		return "", 0, err
	}
	n, err = intOf(args[1], types[1])
	return s, n, err
}

func substringType(args []sqltypes.Type) (sqltypes.Type, error) {
	t := args[0]
	switch {
	case t.ID == sqltypes.Image:
		return sqltypes.VarBinaryOf(8000), nil
	case t.ID.IsBinary():
		return sqltypes.VarBinaryOf(t.Length), nil
	case t.ID.IsText() || t.ID == sqltypes.Unknown:
		return asText(t), nil
	default:
		return sqltypes.Type{}, invalidArgument(t, 1, "substring")
	}
}

// evalSubstring counts from 1; a start before the text uses up some of the length.
func evalSubstring(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	start, err := bigIntOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	count := int64(math.MaxInt32)
	if len(args) == 3 {
		if count, err = bigIntOf(args[2], types[2]); err != nil {
			return sqltypes.Null(), err
		}
	}
	if count < 0 {
		return sqltypes.Null(), invalidLength(537, "LEFT or SUBSTRING")
	}
	from := max(start-1, 0)
	to := max(start-1+min(count, math.MaxInt32), from)
	if types[0].ID.IsBinary() {
		raw := args[0].Raw()
		size := int64(len(raw))
		return sqltypes.RawOf(raw[min(from, size):min(to, size)]), nil
	}
	return sqltypes.StringOf(slice(args[0].Str(), int(from), int(to), types[0])), nil
}

func stuffType(args []sqltypes.Type) (sqltypes.Type, error) {
	if args[0].ID.IsBinary() {
		return sqltypes.VarBinaryOf(8000), nil
	}
	return longestOf(args[0], args[3]), nil
}

// evalStuff replaces length characters at start. A start outside the text or a negative
// length gives NULL; a NULL insertion only deletes.
func evalStuff(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	for _, a := range args[:3] {
		if a.IsNull() {
			return sqltypes.Null(), nil
		}
	}
	start, err := intOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	count, err := intOf(args[2], types[2])
	if err != nil {
		return sqltypes.Null(), err
	}
	if types[0].ID.IsBinary() {
		return stuffBytes(args[0].Raw(), start, count, args[3].Raw()), nil
	}
	s, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	insert := ""
	if !args[3].IsNull() {
		if insert, err = textOf(args[3], types[3]); err != nil {
			return sqltypes.Null(), err
		}
	}
	size := length(s, types[0])
	if start < 1 || start > size || count < 0 {
		return sqltypes.Null(), nil
	}
	head := slice(s, 0, start-1, types[0])
	tail := slice(s, min(start-1+count, size), size, types[0])
	return sqltypes.StringOf(sqltypes.Concat(sqltypes.Concat(head, insert), tail)), nil
}

func stuffBytes(raw string, start, length int, insert string) sqltypes.Value {
	if start < 1 || start > len(raw) || length < 0 {
		return sqltypes.Null()
	}
	return sqltypes.RawOf(raw[:start-1] + insert + raw[min(start-1+length, len(raw)):])
}

func longestOfFirst(args []sqltypes.Type) (sqltypes.Type, error) { return longestOf(args[0]), nil }

// maxTextBytes bounds what REPLICATE and SPACE build; the server's own bound is 2 GB.
const maxTextBytes = 1 << 30

func evalReplicate(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	n, err := bigIntOf(args[1], types[1])
	if err != nil || n < 0 {
		return sqltypes.Null(), err
	}
	t := longestOf(types[0])
	if t.Length != sqltypes.Max {
		n = min(n, int64(t.Length))
	}
	if n*int64(len(s)) > maxTextBytes {
		return sqltypes.Null(), sqltypes.Errorf(701, 1, 17, "There is insufficient system memory in resource pool 'default' to run this query.")
	}
	return fitted(strings.Repeat(s, int(n)), t), nil
}

func evalSpace(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := intOf(args[0], types[0])
	if err != nil || n < 0 {
		return sqltypes.Null(), err
	}
	return sqltypes.StringOf(strings.Repeat(" ", min(n, 8000))), nil
}

// mapText makes a function of text to text.
func mapText(f func(string) string) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		s, err := textOf(args[0], types[0])
		return sqltypes.StringOf(f(s)), err
	}
}

func evalReverse(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	out := ""
	for _, c := range characters(s, types[0]) {
		// Halves of a pair that meet in the wrong order stay halves.
		out = sqltypes.Concat(c, out)
	}
	return sqltypes.StringOf(out), nil
}

// isTurkic reports text of a Turkic collation.
func isTurkic(t sqltypes.Type) bool { return t.Collation != nil && t.Collation.Turkic() }

func evalUpper(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if isTurkic(types[0]) {
		return sqltypes.StringOf(mapRunes(s, unicode.TurkishCase.ToUpper)), err
	}
	return sqltypes.StringOf(mapRunes(s, unicode.ToUpper)), err
}

func evalLower(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	s, err := textOf(args[0], types[0])
	if isTurkic(types[0]) {
		return sqltypes.StringOf(mapRunes(s, unicode.TurkishCase.ToLower)), err
	}
	return sqltypes.StringOf(mapRunes(s, unicode.ToLower)), err
}

// mapRunes maps character by character, which is all the server does: ß stays ß. Lone
// surrogates pass through.
func mapRunes(s string, f func(rune) rune) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, w := sqltypes.DecodeRune(s[i:])
		if r >= 0xD800 && r <= 0xDFFF {
			b.WriteString(s[i : i+w])
		} else {
			b.WriteRune(f(r))
		}
		i += w
	}
	return b.String()
}

// trimWith trims blanks, or the characters of a second argument.
func trimWith(trim func(s, cutset string) string) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		s, err := textOf(args[0], types[0])
		if err != nil {
			return sqltypes.Null(), err
		}
		cutset := " "
		if len(args) == 2 {
			if cutset, err = textOf(args[1], types[1]); err != nil {
				return sqltypes.Null(), err
			}
		}
		return sqltypes.StringOf(trim(s, cutset)), nil
	}
}

// concatType is varchar or nvarchar as long as all arguments together.
func concatType(args []sqltypes.Type) (sqltypes.Type, error) {
	t := longestOf(args...)
	if t.Length == sqltypes.Max {
		return t, nil
	}
	total := 0
	for _, a := range args {
		total += max(asText(a).Length, 0)
	}
	t.Length = max(1, min(total, t.Length))
	return t, nil
}

// concatText writes an argument of CONCAT: NULL is empty text.
func concatText(v sqltypes.Value, t sqltypes.Type) (string, error) {
	if v.IsNull() {
		return "", nil
	}
	return textOf(v, t)
}

func evalConcat(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	out := ""
	for i, a := range args {
		s, err := concatText(a, types[i])
		if err != nil {
			return sqltypes.Null(), err
		}
		out = sqltypes.Concat(out, s)
	}
	t, _ := concatType(types)
	return fitted(out, t), nil
}

// concatWSType has room for the separator between all arguments too.
func concatWSType(args []sqltypes.Type) (sqltypes.Type, error) {
	t, err := concatType(args)
	if t.Length != sqltypes.Max {
		between := max(asText(args[0]).Length, 0) * (len(args) - 3)
		t.Length = min(t.Length+between, longestOf(args...).Length)
	}
	return t, err
}

// evalConcatWS leaves NULL arguments out, and their separators too.
func evalConcatWS(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	separator, err := concatText(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	var parts []string
	for i, a := range args[1:] {
		if a.IsNull() {
			continue
		}
		s, err := textOf(a, types[i+1])
		if err != nil {
			return sqltypes.Null(), err
		}
		parts = append(parts, s)
	}
	t, _ := concatWSType(types)
	return fitted(strings.Join(parts, separator), t), nil
}

// evalStr right-aligns a rounded number; what does not fit becomes asterisks.
func evalStr(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	f, err := floatOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	width, decimals := 10, 0
	if len(args) > 1 {
		if width, err = intOf(args[1], types[1]); err != nil {
			return sqltypes.Null(), err
		}
	}
	if len(args) > 2 {
		if decimals, err = intOf(args[2], types[2]); err != nil {
			return sqltypes.Null(), err
		}
	}
	if width < 1 || width > 8000 || decimals < 0 {
		return sqltypes.Null(), nil
	}
	decimals = min(decimals, 16)
	// Halves round away from zero, which FormatFloat alone would not do.
	shift := math.Pow10(decimals)
	if rounded := math.Round(f*shift) / shift; !math.IsInf(rounded, 0) && !math.IsNaN(rounded) {
		f = rounded
	}
	s := strconv.FormatFloat(f, 'f', decimals, 64)
	if whole, _, _ := strings.Cut(s, "."); len(whole) > width {
		return sqltypes.StringOf(strings.Repeat("*", width)), nil
	}
	if len(s) > width {
		room := max(0, width-len(strconv.FormatFloat(math.Trunc(f), 'f', 0, 64))-1)
		s = strconv.FormatFloat(f, 'f', room, 64)
	}
	return sqltypes.StringOf(strings.Repeat(" ", max(0, width-len(s))) + s), nil
}
