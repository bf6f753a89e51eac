package schema

import (
	"database/sql/driver"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// Default is what the text of a default constraint comes to.
type Default struct {
	// Value is the constant as a driver value of the column's type; nil if
	// there is none, or it is none that can be told from its text.
	Value driver.Value
	// Literal is set instead for a temporal type: the text that the server has
	// to read, since how depends on its language.
	Literal string
}

// ParseDefault reads the text of a default constraint, as the catalogue gives
// it: ((0)), (N'x'), (getdate()). What is no constant of the column's type has
// no value: a default that cannot be told is better absent than wrong.
// Source: MS docs, sys.default_constraints; Debezium,
// SqlServerDefaultValueConverter, which misreads some texts.
func ParseDefault(t Type, text string) Default {
	text = inParentheses(text)
	if t.Kind.exact() {
		return Default{Value: decimalDefault(t, text)}
	}
	switch t.Kind {
	case Bit:
		return Default{Value: bitDefault(text)}
	case TinyInt, SmallInt, Int, BigInt:
		return Default{Value: integerDefault(t.Kind, text)}
	case Real:
		return Default{Value: floatDefault(text, 32)}
	case Float:
		return Default{Value: floatDefault(text, 64)}
	case Char, VarChar, Text, NChar, NVarChar, NText:
		return Default{Value: textDefault(t, text)}
	case Binary, VarBinary, Image:
		return Default{Value: binaryDefault(text)}
	case UniqueIdentifier:
		return Default{Value: guidDefault(text)}
	case Date, Time, DateTime, SmallDateTime, DateTime2, DateTimeOffset:
		if s, ok := stringLiteral(text); ok {
			return Default{Literal: s}
		}
	}
	return Default{}
}

// inParentheses takes off the parentheses around a whole text.
func inParentheses(text string) string {
	text = strings.TrimSpace(text)
	for wrapped(text) {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	return text
}

// wrapped reports whether the first parenthesis of a text closes with its last
// character.
func wrapped(text string) bool {
	if !strings.HasPrefix(text, "(") {
		return false
	}
	depth, quoted := 0, false
	for i, c := range text {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i == len(text)-1
			}
		}
	}
	return false
}

// stringLiteral reads 'x' or N'x', in which a quote is doubled.
func stringLiteral(text string) (string, bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "N"), "n")
	if len(text) < 2 || text[0] != '\'' || text[len(text)-1] != '\'' {
		return "", false
	}
	inner := text[1 : len(text)-1]
	s := strings.ReplaceAll(inner, "''", "\x00")
	if strings.Contains(s, "'") || strings.Contains(inner, "\x00") {
		return "", false
	}
	return strings.ReplaceAll(s, "\x00", "'"), true
}

// The functions below return an untyped nil for a text that is no constant.

// textDefault takes numbers too, which the server writes as they stand.
func textDefault(t Type, text string) driver.Value {
	if s, ok := stringLiteral(text); ok {
		return s
	}
	if plainNumber.MatchString(text) && len(text) <= t.JDBC().Length {
		return text
	}
	return nil
}

// plainNumber matches the numbers whose text is what the server makes of them.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

func bitDefault(text string) driver.Value {
	if s, ok := stringLiteral(text); ok {
		text = s
	}
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	if n, ok := integerLiteral(text, 64); ok {
		return n != 0
	}
	return nil
}

func integerDefault(k Kind, text string) driver.Value {
	bits := map[Kind]int{TinyInt: 16, SmallInt: 16, Int: 32, BigInt: 64}[k]
	n, ok := integerLiteral(text, bits)
	if !ok || k == TinyInt && (n < 0 || n > 255) {
		return nil
	}
	return n
}

// integerLiteral reads an integer. Literals beyond int are stored with a
// point: (3147483648.).
func integerLiteral(text string, bits int) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "."), 10, bits)
	return n, err == nil
}

func floatDefault(text string, bits int) driver.Value {
	if !isNumeric(text) {
		return nil
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return nil
	}
	return f
}

// maxExponent bounds the work that a literal such as 1e-999999999 makes; those
// of SQL Server, which are floats, end at 1e-308.
const maxExponent = 400

func decimalDefault(t Type, text string) driver.Value {
	if s, ok := stringLiteral(text); ok {
		if strings.ContainsAny(s, "eE") {
			return nil // converting such a text fails, a number does not
		}
		text = s
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	text = sign + strings.TrimPrefix(text, "$") // a literal of type money
	if !isNumeric(text) {
		return nil
	}
	d, err := decimal.NewFromString(strings.TrimSuffix(text, "."))
	if err != nil || d.Exponent() < -maxExponent || d.NumDigits()+int(d.Exponent()) > t.Precision-t.Scale && !d.IsZero() {
		return nil
	}
	// The server rounds what has more decimals than the column.
	if -d.Exponent() > int32(t.Scale) {
		d = d.Round(int32(t.Scale))
	}
	return []byte(d.StringFixed(max(0, -d.Exponent())))
}

// exact reports whether a type is that of exact numbers with decimals, for
// which drivers and defaults have texts.
func (k Kind) exact() bool {
	return k == Decimal || k == Numeric || k == Money || k == SmallMoney
}

// isNumeric reports whether a text consists of the characters of SQL Server's
// numeric literals: the parsers used here take more, such as Inf and 0x1p3.
func isNumeric(text string) bool {
	return text != "" && strings.Trim(text, "0123456789+-.eE") == ""
}

func binaryDefault(text string) driver.Value {
	digits, found := strings.CutPrefix(strings.ToLower(text), "0x")
	if !found {
		return nil
	}
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil
	}
	return b
}

func guidDefault(text string) driver.Value {
	s, ok := stringLiteral(text)
	if !ok {
		return nil
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	if len(s) != 36 {
		return nil
	}
	b := make([]byte, 16)
	next := 0
	for _, i := range guidOrder {
		if i < 0 {
			if s[next] != '-' {
				return nil
			}
			next++
			continue
		}
		octet, err := strconv.ParseUint(s[next:next+2], 16, 8)
		if err != nil {
			return nil
		}
		b[i] = byte(octet)
		next += 2
	}
	return b
}
