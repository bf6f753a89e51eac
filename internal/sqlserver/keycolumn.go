package sqlserver

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// The last key of a page is carried to the next as one text per column, which
// is also what a stored progress holds. Each text is converted back by the
// server into the column's own type and collation, and compared there: nothing
// is ever compared in Go.
//
// A text says exactly what the column held:
//   - numbers in decimal digits, floats in the shortest digits that read back
//     to the same value, bound as float;
//   - times in ISO 8601. A datetime counts 1/300 s and the driver gives whole
//     milliseconds, but each tick has its own millisecond, which the server
//     rounds back to the tick;
//   - uniqueidentifier and binary as hexadecimal bytes;
//   - character types as the hexadecimal bytes of their UTF-16 form, which the
//     server makes and reads: a Go string would lose lone surrogates and bytes
//     that the column's code page does not define.

// textCarrier makes the server send the UTF-16 form of a character column.
const textCarrier = "CONVERT(varbinary(8000), CONVERT(nvarchar(4000), %s))"

// collationName is how every collation of the server is spelled; it stands
// unquoted in a statement.
var collationName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// carriable reports whether a column of this kind can be part of a paging key.
func (k KeyColumn) carriable() bool {
	switch k.Type.Kind {
	case schema.Char, schema.VarChar, schema.NChar, schema.NVarChar:
		return collationName.MatchString(k.Collation) && k.Type.Length != schema.Max
	case schema.Bit, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt,
		schema.Decimal, schema.Numeric, schema.Money, schema.SmallMoney, schema.Real, schema.Float,
		schema.Date, schema.Time, schema.DateTime, schema.SmallDateTime, schema.DateTime2, schema.DateTimeOffset,
		schema.Binary, schema.VarBinary, schema.UniqueIdentifier, schema.RowVersion:
		return k.Type.Length != schema.Max
	default:
		// sql_variant orders by type family first, CLR types by their code:
		// such a table is scanned.
		return false
	}
}

// isText reports whether the column needs a carrier beside its own value.
func (k KeyColumn) isText() bool {
	switch k.Type.Kind {
	case schema.Char, schema.VarChar, schema.NChar, schema.NVarChar:
		return true
	default:
		return false
	}
}

// carrier is the expression whose value encode takes.
func (k KeyColumn) carrier() string {
	if k.isText() {
		return fmt.Sprintf(textCarrier, Quote(k.Name))
	}
	return Quote(k.Name)
}

// operand is the expression that turns a parameter back into the column's
// value.
func (k KeyColumn) operand(parameter string) string {
	declared := declaration(k.Type)
	switch k.Type.Kind {
	case schema.Char, schema.VarChar:
		// The collation in between decides the code page.
		// Source: MS docs, "Collation precedence", CONVERT keeps its input's.
		return fmt.Sprintf("CONVERT(%s, CONVERT(nvarchar(4000), CONVERT(varbinary(8000), %s, 1)) COLLATE %s)", declared, parameter, k.Collation)
	case schema.NChar, schema.NVarChar:
		return fmt.Sprintf("CONVERT(%s, CONVERT(varbinary(8000), %s, 1)) COLLATE %s", declared, parameter, k.Collation)
	case schema.Binary, schema.VarBinary, schema.RowVersion:
		return fmt.Sprintf("CONVERT(%s, %s, 1)", declared, parameter)
	case schema.UniqueIdentifier:
		return fmt.Sprintf("CONVERT(uniqueidentifier, CONVERT(binary(16), %s, 1))", parameter)
	case schema.DateTime, schema.SmallDateTime:
		// The style makes the text independent of SET DATEFORMAT.
		return fmt.Sprintf("CONVERT(%s, %s, 126)", declared, parameter)
	default:
		return fmt.Sprintf("CONVERT(%s, %s)", declared, parameter)
	}
}

// encode returns the text of a carrier's value.
func (k KeyColumn) encode(v driver.Value) (string, error) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case float32: // a real that cannot be NULL
		return strconv.FormatFloat(float64(v), 'g', -1, 64), nil
	case []byte:
		if k.isExactNumber() {
			return string(v), nil
		}
		return "0x" + hex.EncodeToString(v), nil
	case time.Time:
		if layout, ok := k.timeLayout(); ok {
			return v.Format(layout), nil
		}
	}
	return "", fmt.Errorf("reading key column %q of type %s: unexpected %T", k.Name, k.Type.Name, v)
}

// argument returns the parameter that operand converts. Its type depends on
// the column alone.
func (k KeyColumn) argument(text string) (driver.Value, error) {
	if k.Type.Kind != schema.Real && k.Type.Kind != schema.Float {
		return mssql.NVarCharMax(text), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("reading key column %q: %w", k.Name, err)
	}
	return f, nil
}

// isExactNumber reports whether the driver gives the column as decimal digits.
func (k KeyColumn) isExactNumber() bool {
	switch k.Type.Kind {
	case schema.Decimal, schema.Numeric, schema.Money, schema.SmallMoney:
		return true
	default:
		return false
	}
}

// timeLayout returns the ISO 8601 form that holds every value of the type.
func (k KeyColumn) timeLayout() (string, bool) {
	switch k.Type.Kind {
	case schema.Date:
		return "2006-01-02", true
	case schema.Time:
		return "15:04:05.0000000", true
	case schema.DateTime:
		return "2006-01-02T15:04:05.000", true
	case schema.SmallDateTime:
		return "2006-01-02T15:04:05", true
	case schema.DateTime2:
		return "2006-01-02T15:04:05.0000000", true
	case schema.DateTimeOffset:
		return "2006-01-02T15:04:05.0000000-07:00", true
	default:
		return "", false
	}
}

// definition describes the column for comparing a stored key with today's.
func (k KeyColumn) definition() string {
	text := Quote(k.Name) + " " + declaration(k.Type)
	if k.isText() {
		text += " COLLATE " + k.Collation
	}
	if k.Descending {
		text += " DESC"
	}
	return text
}

// KeyDefinition describes a paging key; a key carried under one definition is
// worthless under another.
func KeyDefinition(key []KeyColumn) string {
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = k.definition()
	}
	return strings.Join(parts, ", ")
}

// declaration spells a type as T-SQL declares it, an alias type by its base.
func declaration(t schema.Type) string {
	length := strconv.Itoa(t.Length)
	if t.Length == schema.Max {
		length = "max"
	}
	switch t.Kind {
	case schema.Decimal, schema.Numeric:
		return fmt.Sprintf("%s(%d, %d)", typeNames[t.Kind], t.Precision, t.Scale)
	case schema.Time, schema.DateTime2, schema.DateTimeOffset:
		return fmt.Sprintf("%s(%d)", typeNames[t.Kind], t.Scale)
	case schema.Char, schema.VarChar, schema.NChar, schema.NVarChar, schema.Binary, schema.VarBinary:
		return fmt.Sprintf("%s(%s)", typeNames[t.Kind], length)
	default:
		return typeNames[t.Kind]
	}
}

// typeNames are the names to declare types by. Those that cannot be declared
// as a variable of their own stand as what carries them.
var typeNames = map[schema.Kind]string{
	schema.Bit: "bit", schema.TinyInt: "tinyint", schema.SmallInt: "smallint", schema.Int: "int", schema.BigInt: "bigint",
	schema.Decimal: "decimal", schema.Numeric: "numeric", schema.Money: "money", schema.SmallMoney: "smallmoney",
	schema.Real: "real", schema.Float: "float",
	schema.Date: "date", schema.Time: "time", schema.DateTime: "datetime", schema.SmallDateTime: "smalldatetime",
	schema.DateTime2: "datetime2", schema.DateTimeOffset: "datetimeoffset",
	schema.Char: "char", schema.VarChar: "varchar", schema.NChar: "nchar", schema.NVarChar: "nvarchar",
	schema.Text: "varchar(max)", schema.NText: "nvarchar(max)", schema.Image: "varbinary(max)", schema.XML: "xml",
	schema.Binary: "binary", schema.VarBinary: "varbinary", schema.RowVersion: "binary(8)",
	schema.UniqueIdentifier: "uniqueidentifier", schema.SQLVariant: "sql_variant",
	schema.HierarchyID: "varbinary(892)", schema.Geometry: "varbinary(max)", schema.Geography: "varbinary(max)",
	schema.UserDefined: "varbinary(max)", schema.Unknown: "varbinary(max)",
}
