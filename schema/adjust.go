package schema

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// NameAdjustment makes names fit Avro, with Debezium's names.
type NameAdjustment string

// The values of schema_name_adjustment_mode and field_name_adjustment_mode.
const (
	NamesUnchanged   NameAdjustment = "none"
	NamesAvro        NameAdjustment = "avro"
	NamesAvroUnicode NameAdjustment = "avro_unicode"
)

// NameAdjustments are all of them, the default first.
var NameAdjustments = []NameAdjustment{NamesUnchanged, NamesAvro, NamesAvroUnicode}

// Schema adjusts the name of a schema, whose parts are joined by dots.
func (a NameAdjustment) Schema(name string) string { return a.adjust(name, true) }

// field adjusts the name of a field.
func (a NameAdjustment) field(name string) string { return a.adjust(name, false) }

// adjust replaces each UTF-16 unit that Avro does not allow: by an underscore,
// or by its number. In the second case an underscore of the name's own is
// replaced too, so that different names stay different.
// Source: Debezium, SchemaNameAdjuster; Avro specification, "Names".
func (a NameAdjustment) adjust(name string, dots bool) string {
	if a != NamesAvro && a != NamesAvroUnicode {
		return name
	}
	var b strings.Builder
	for i, unit := range utf16.Encode([]rune(name)) {
		letter := unit >= 'a' && unit <= 'z' || unit >= 'A' && unit <= 'Z'
		digit := unit >= '0' && unit <= '9'
		underscore := unit == '_' && a == NamesAvro
		switch {
		case letter, underscore, i > 0 && (digit || dots && unit == '.'):
			b.WriteByte(byte(unit))
		case a == NamesAvroUnicode:
			b.WriteString("_u" + unitNumber(unit))
		case digit:
			b.WriteByte('_')
			b.WriteByte(byte(unit))
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// unitNumber returns a UTF-16 unit in hexadecimal. As in Debezium, zeros come
// before one or two digits only.
func unitNumber(unit uint16) string {
	digits := strconv.FormatUint(uint64(unit), 16)
	if len(digits) <= 2 {
		return "00" + digits
	}
	return digits
}
