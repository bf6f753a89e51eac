package sqltypes

import (
	"math"
	"strconv"
	"strings"
)

// toText converts to the character types. Text and dates that are too long are cut;
// integers that do not fit become "*" in char and varchar, every other number is
// error 8115 (MS docs, "CAST and CONVERT", "Truncating and rounding results").
func toText(v Value, from, to Type, style int) (Value, error) {
	switch v.kind {
	case KindText:
		if from.ID == XML && to.ID != XML {
			return xmlToText(v.s, to)
		}
		return StringOf(fitText(v.s, to)), nil
	case KindBytes:
		return bytesToText(v, from, to, style)
	case KindGUID:
		text := FormatGUID(v.GUID())
		if limit := textLimit(to); len(text) > limit {
			if to.ID.IsNational() {
				return Value{}, overflowConverting("expression", to.Name(), 2)
			}
			return Value{}, Errorf(8170, 2, 16, "Insufficient result space to convert uniqueidentifier value to char.")
		}
		return StringOf(fitText(text, to)), nil
	case KindInt, KindDecimal, KindMoney, KindFloat:
		return numberToText(v, from, to, style)
	default:
		text, err := formatTemporal(v, from, to, style)
		if err != nil {
			return Value{}, err
		}
		return StringOf(fitText(text, to)), nil
	}
}

// textLimit is the number of characters or bytes that a character type holds.
func textLimit(t Type) int {
	if t.Length == Max || t.ID == Text || t.ID == NText || t.ID == XML {
		return math.MaxInt
	}
	return t.Length
}

func numberToText(v Value, from, to Type, style int) (Value, error) {
	text, err := formatNumber(v, from, style)
	if err != nil {
		return Value{}, err
	}
	if len(text) <= textLimit(to) {
		return StringOf(fitText(text, to)), nil
	}
	if v.kind == KindInt && from.ID != BigInt && (to.ID == Char || to.ID == VarChar) {
		return StringOf(fitText("*", to)), nil
	}
	if v.kind == KindMoney {
		return Value{}, Errorf(234, 2, 16, "There is insufficient result space to convert a money value to %s.", to.Name())
	}
	name := overflowName(from)
	if v.kind == KindInt {
		name = "expression"
	}
	return Value{}, overflowConverting(name, to.Name(), 2)
}

// formatNumber writes a number in a CONVERT style.
func formatNumber(v Value, from Type, style int) (string, error) {
	switch v.kind {
	case KindInt:
		return strconv.FormatInt(v.Int64(), 10), nil
	case KindDecimal:
		return v.Dec().String(), nil
	case KindMoney:
		return formatMoney(v.Int64(), style)
	default:
		return formatFloat(v.Float64(), from, style)
	}
}

// formatMoney writes two decimals, in style 1 with commas, in styles 2 and 126 four
// decimals (MS docs, "money and smallmoney styles").
func formatMoney(m int64, style int) (string, error) {
	d := Dec{Lo: magnitude64(m), Neg: m < 0, Scale: 4}
	switch style {
	case 2, 126:
		return d.String(), nil
	case DefaultStyle, 1:
	default:
		return "", invalidStyle(style, Simple(Money))
	}
	d, _ = d.Rescale(2)
	text := d.String()
	if style != 1 {
		return text, nil
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	point := strings.IndexByte(text, '.')
	var b strings.Builder
	b.WriteString(sign)
	for i := range text {
		if i > 0 && i < point && (point-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(text[i])
	}
	return b.String(), nil
}

// formatFloat writes at most 6 digits by default, 8 in style 1, 16 in style 2 and 17
// in style 3, the last three always with an exponent of at least three digits (MS
// docs, "float and real styles").
func formatFloat(f float64, from Type, style int) (string, error) {
	var text string
	switch style {
	case DefaultStyle, 128, 129:
		text = strconv.FormatFloat(f, 'g', 6, 64)
		if !strings.Contains(text, "e") {
			return text, nil
		}
	case 1:
		text = strconv.FormatFloat(f, 'e', 7, 64)
	case 2:
		text = strconv.FormatFloat(f, 'e', 15, 64)
	case 3:
		digits := 16
		if from.ID == Real {
			digits = 8
		}
		text = strconv.FormatFloat(f, 'e', digits, 64)
	case 126:
		digits := 15
		if from.ID == Real {
			digits = 7
		}
		text = strconv.FormatFloat(f, 'e', digits, 64)
	default:
		return "", invalidStyle(style, from)
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	sign, digits := exponent[:1], exponent[1:]
	return mantissa + "e" + sign + strings.Repeat("0", max(0, 3-len(digits))) + digits, nil
}

// invalidStyle is error 281.
func invalidStyle(style int, from Type) error {
	return Errorf(281, 1, 16, "%d is not a valid style number when converting from %s to a character string.", style, from.Name())
}

// unsupportedStyle is error 9809.
func unsupportedStyle(style int, from, to Type) error {
	return Errorf(9809, 1, 16, "The style %d is not supported for conversions from %s to %s.", style, from.Name(), to.Name())
}

// bytesToText reads the bytes as text in the target's encoding, or in styles 1 and 2
// writes them in hexadecimal, with and without 0x.
func bytesToText(v Value, from, to Type, style int) (Value, error) {
	if from.ID == HierarchyID {
		text, err := FormatHierarchyID(v.s)
		return StringOf(fitText(text, to)), err
	}
	switch style {
	case 1:
		return StringOf(fitText("0x"+upperHex(v.s), to)), nil
	case 2:
		return StringOf(fitText(upperHex(v.s), to)), nil
	case DefaultStyle:
	default:
		return Value{}, unsupportedStyle(style, from, to)
	}
	if to.ID.IsNational() {
		raw := v.Bytes()
		if len(raw)%2 == 1 {
			raw = append(raw, 0)
		}
		return StringOf(fitText(DecodeUTF16(raw), to)), nil
	}
	return StringOf(fitText(to.collation().Decode(v.Bytes()), to)), nil
}

func upperHex(raw string) string {
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, 2*len(raw))
	for i := range len(raw) {
		b = append(b, digits[raw[i]>>4], digits[raw[i]&15])
	}
	return string(b)
}

// fitText makes s what a column of that type would hold: in the code page, cut to the
// length, and blank-padded for char and nchar.
func fitText(s string, t Type) string {
	if !t.ID.IsNational() {
		s = t.collation().RoundTrip(s)
	}
	s = CutText(s, t)
	if t.ID != Char && t.ID != NChar {
		return s
	}
	if missing := t.Length - TextLength(s, t); missing > 0 {
		s += strings.Repeat(" ", missing)
	}
	return s
}

// TextLength measures s as the Length of its type does: code units of the national
// types, bytes of the others.
func TextLength(s string, t Type) int {
	if t.ID.IsNational() {
		return UTF16Len(s)
	}
	return t.collation().EncodedLen(s)
}

// CutText returns the longest start of s that fits t.
func CutText(s string, t Type) string {
	limit := textLimit(t)
	if len(s) <= limit && isASCII(s) || TextLength(s, t) <= limit {
		return s
	}
	if t.ID.IsNational() {
		return SliceUTF16(s, 0, limit)
	}
	c := t.collation()
	used := 0
	for i := 0; i < len(s); {
		_, w := decodeRune(s[i:])
		used += c.EncodedLen(s[i : i+w])
		if used > limit {
			return s[:i]
		}
		i += w
	}
	return s
}
