package sqltypes

import (
	"fmt"
	"strconv"
)

// ID names one of SQL Server's data types.
type ID uint8

// The data types. Unknown is the type of an untyped NULL, which converts to
// everything.
const (
	Unknown ID = iota
	Bit
	TinyInt
	SmallInt
	Int
	BigInt
	Decimal
	Numeric
	Money
	SmallMoney
	Real
	Float
	Date
	Time
	DateTime
	SmallDateTime
	DateTime2
	DateTimeOffset
	Char
	VarChar
	NChar
	NVarChar
	Text
	NText
	Binary
	VarBinary
	Image
	UniqueIdentifier
	RowVersion
	XML
	SQLVariant
	HierarchyID
	Geometry
	Geography
)

// Max is the Length of varchar(max), nvarchar(max) and varbinary(max).
const Max = -1

// Type is a data type with its facets. Facets that a type does not have are zero.
type Type struct {
	ID ID
	// Length is the declared length: byte pairs of nchar and nvarchar, bytes of
	// char, varchar, binary and varbinary, or [Max].
	Length int
	// Precision is the number of decimal digits of decimal and numeric, and the
	// number of mantissa bits declared for float.
	Precision uint8
	// Scale is the number of fractional digits of decimal, numeric, money and the
	// time types.
	Scale uint8
	// Collation orders and encodes character types; nil means the default of the
	// place where the type stands ([DefaultCollation] where nobody says).
	Collation *Collation
}

// Name returns the type's name as in sys.types.
func (id ID) Name() string {
	if int(id) < len(typeNames) {
		return typeNames[id]
	}
	return "unknown"
}

// String returns the type's name as in sys.types.
func (id ID) String() string { return id.Name() }

var typeNames = [...]string{
	Unknown: "NULL", Bit: "bit", TinyInt: "tinyint", SmallInt: "smallint", Int: "int", BigInt: "bigint",
	Decimal: "decimal", Numeric: "numeric", Money: "money", SmallMoney: "smallmoney", Real: "real", Float: "float",
	Date: "date", Time: "time", DateTime: "datetime", SmallDateTime: "smalldatetime", DateTime2: "datetime2",
	DateTimeOffset: "datetimeoffset", Char: "char", VarChar: "varchar", NChar: "nchar", NVarChar: "nvarchar",
	Text: "text", NText: "ntext", Binary: "binary", VarBinary: "varbinary", Image: "image",
	UniqueIdentifier: "uniqueidentifier", RowVersion: "timestamp", XML: "xml", SQLVariant: "sql_variant",
	HierarchyID: "hierarchyid", Geometry: "geometry", Geography: "geography",
}

// Name returns the bare name of the type, as error texts use it: "nvarchar".
func (t Type) Name() string { return t.ID.Name() }

// String returns the declaration of the type: "nvarchar(50)", "decimal(10,2)".
func (t Type) String() string {
	switch t.ID {
	case Decimal, Numeric:
		return fmt.Sprintf("%s(%d,%d)", t.ID, t.Precision, t.Scale)
	case Char, VarChar, NChar, NVarChar, Binary, VarBinary:
		if t.Length == Max {
			return t.ID.Name() + "(max)"
		}
		return t.ID.Name() + "(" + strconv.Itoa(t.Length) + ")"
	case Time, DateTime2, DateTimeOffset:
		return t.ID.Name() + "(" + strconv.Itoa(int(t.Scale)) + ")"
	default:
		return t.ID.Name()
	}
}

// MaxLength returns the storage size in bytes as sys.columns.max_length shows it:
// -1 for the max types and xml, 16 (a pointer) for text, ntext and image.
func (t Type) MaxLength() int {
	switch t.ID {
	case Bit, TinyInt:
		return 1
	case SmallInt:
		return 2
	case Int, SmallMoney, Real, SmallDateTime:
		return 4
	case BigInt, Money, Float, DateTime, RowVersion:
		return 8
	case Date:
		return 3
	case Time:
		return timeBytes(t.Scale)
	case DateTime2:
		return timeBytes(t.Scale) + 3
	case DateTimeOffset:
		return timeBytes(t.Scale) + 5
	case Decimal, Numeric:
		return DecimalBytes(t.Precision)
	case NChar, NVarChar:
		if t.Length == Max {
			return Max
		}
		return 2 * t.Length
	case Char, VarChar, Binary, VarBinary:
		return t.Length
	case Text, NText, Image, UniqueIdentifier:
		return 16
	case XML, Geometry, Geography:
		return Max
	case SQLVariant:
		return 8016
	case HierarchyID:
		return 892
	default:
		return 0
	}
}

// timeBytes is the size of a time of day: 3 bytes up to scale 2, 4 up to 4, else 5.
// MS-TDS 2.2.5.5.1.8.
func timeBytes(scale uint8) int {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	default:
		return 5
	}
}

// DecimalBytes is the storage size of a decimal of that precision, its sign byte
// included: 5, 9, 13 or 17.
func DecimalBytes(precision uint8) int {
	switch {
	case precision <= 9:
		return 5
	case precision <= 19:
		return 9
	case precision <= 28:
		return 13
	default:
		return 17
	}
}

// IsInteger reports bit, tinyint, smallint, int and bigint.
func (id ID) IsInteger() bool { return id >= Bit && id <= BigInt }

// IsDecimal reports decimal and its synonym numeric.
func (id ID) IsDecimal() bool { return id == Decimal || id == Numeric }

// IsMoney reports money and smallmoney.
func (id ID) IsMoney() bool { return id == Money || id == SmallMoney }

// IsFloat reports real and float.
func (id ID) IsFloat() bool { return id == Real || id == Float }

// IsNumber reports every exact and approximate number.
func (id ID) IsNumber() bool { return id >= Bit && id <= Float }

// IsTemporal reports the six date and time types.
func (id ID) IsTemporal() bool { return id >= Date && id <= DateTimeOffset }

// IsText reports the character types, text and ntext included, xml not.
func (id ID) IsText() bool { return id >= Char && id <= NText }

// IsNational reports the UTF-16 character types, and xml.
func (id ID) IsNational() bool { return id == NChar || id == NVarChar || id == NText || id == XML }

// IsBinary reports binary, varbinary, image and rowversion.
func (id ID) IsBinary() bool { return id >= Binary && id <= Image || id == RowVersion }

// IsLOB reports a type that change tables treat as a large object: the max types,
// text, ntext, image and xml.
func (t Type) IsLOB() bool {
	switch t.ID {
	case Text, NText, Image, XML, Geometry, Geography:
		return true
	case VarChar, NVarChar, VarBinary:
		return t.Length == Max
	default:
		return false
	}
}

// collation returns the type's collation, or the default one.
func (t Type) collation() *Collation {
	if t.Collation != nil {
		return t.Collation
	}
	return DefaultCollation
}

// WithCollation returns the type with that collation.
func (t Type) WithCollation(c *Collation) Type {
	t.Collation = c
	return t
}

// Simple returns the type without facets (int, datetime, xml), and for types with
// facets the one their bare name means in a declaration.
func Simple(id ID) Type {
	switch id {
	case Decimal, Numeric:
		return Type{ID: id, Precision: 18}
	case Money:
		return Type{ID: id, Precision: 19, Scale: 4}
	case SmallMoney:
		return Type{ID: id, Precision: 10, Scale: 4}
	case Float:
		return Type{ID: id, Precision: 53}
	case Real:
		return Type{ID: id, Precision: 24}
	case Time, DateTime2, DateTimeOffset:
		return Type{ID: id, Scale: 7}
	case DateTime:
		return Type{ID: id, Scale: 3}
	case Char, VarChar, NChar, NVarChar, Binary, VarBinary:
		return Type{ID: id, Length: 1}
	case RowVersion:
		return Type{ID: id, Length: 8}
	default:
		return Type{ID: id}
	}
}

// VarCharOf returns varchar(n); n may be [Max].
func VarCharOf(n int) Type { return Type{ID: VarChar, Length: n} }

// NVarCharOf returns nvarchar(n); n may be [Max].
func NVarCharOf(n int) Type { return Type{ID: NVarChar, Length: n} }

// VarBinaryOf returns varbinary(n); n may be [Max].
func VarBinaryOf(n int) Type { return Type{ID: VarBinary, Length: n} }

// BinaryOf returns binary(n).
func BinaryOf(n int) Type { return Type{ID: Binary, Length: n} }

// NumericOf returns numeric(precision, scale), the type of literals and results.
func NumericOf(precision, scale uint8) Type {
	return Type{ID: Numeric, Precision: precision, Scale: scale}
}
