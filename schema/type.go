package schema

import "strings"

// Kind is a SQL Server system type.
type Kind uint8

// The system types. Unknown is a type that this version does not know; its
// columns are left out of events with a warning.
const (
	Unknown Kind = iota
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
	Text
	NChar
	NVarChar
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
	UserDefined // a CLR type of the user's own
)

// kinds maps the names of sys.types to kinds. rowversion is a synonym that the
// catalogue never prints: it says timestamp.
var kinds = map[string]Kind{
	"bit": Bit, "tinyint": TinyInt, "smallint": SmallInt, "int": Int, "bigint": BigInt,
	"decimal": Decimal, "numeric": Numeric, "money": Money, "smallmoney": SmallMoney,
	"real": Real, "float": Float,
	"date": Date, "time": Time, "datetime": DateTime, "smalldatetime": SmallDateTime,
	"datetime2": DateTime2, "datetimeoffset": DateTimeOffset,
	"char": Char, "varchar": VarChar, "text": Text, "nchar": NChar, "nvarchar": NVarChar, "ntext": NText,
	"binary": Binary, "varbinary": VarBinary, "image": Image,
	"uniqueidentifier": UniqueIdentifier, "timestamp": RowVersion, "rowversion": RowVersion,
	"xml": XML, "sql_variant": SQLVariant,
	"hierarchyid": HierarchyID, "geometry": Geometry, "geography": Geography,
}

// Max is the Length of (max) types.
const Max = -1

// Type is a column's type.
type Type struct {
	Kind Kind
	// Name is the type as declared: the name in sys.types of the column's
	// user type, which for an alias type is the alias.
	Name string
	// Length counts characters of character types and bytes of binary types;
	// [Max] for (max) types, text, ntext, image and xml; zero otherwise.
	Length int
	// Precision and Scale are those of sys.columns: digits of exact numbers,
	// scale alone for time, datetime2 and datetimeoffset.
	Precision, Scale int
}

// CatalogueType is a column's type as sys.columns and sys.types give it.
type CatalogueType struct {
	// System is the name of the system type; empty for a CLR type of the
	// user's own (sys.types.is_assembly_type of a user-defined type).
	System string
	// Declared is the name of the column's user_type_id: the same name, or an
	// alias such as sysname. Empty means System.
	Declared string
	// MaxLength is sys.columns.max_length: bytes, -1 for (max) types.
	MaxLength        int
	Precision, Scale int
}

// TypeOf converts a catalogue entry. A system type that is not known has
// [Kind] Unknown; that is not an error.
func TypeOf(c CatalogueType) Type {
	name := c.Declared
	if name == "" {
		name = c.System
	}
	t := Type{Name: name, Kind: UserDefined}
	if c.System != "" {
		t.Kind = kinds[strings.ToLower(c.System)]
	}
	switch t.Kind {
	case Text, NText, Image, XML:
		t.Length = Max
	case NChar, NVarChar:
		t.Length = c.MaxLength
		if c.MaxLength > 0 {
			t.Length = c.MaxLength / 2
		}
	case Char, VarChar, Binary, VarBinary, RowVersion, HierarchyID, Geometry, Geography, UserDefined:
		t.Length = c.MaxLength
	case Decimal, Numeric, Money, SmallMoney:
		t.Precision, t.Scale = c.Precision, c.Scale
	case Time, DateTime2, DateTimeOffset:
		t.Precision, t.Scale = c.Precision, c.Scale
	}
	return t
}

// LOB reports whether the column's value may be missing from change rows for
// reasons of its size: text, ntext, image, xml, and the (max) types.
func (t Type) LOB() bool {
	switch t.Kind {
	case Text, NText, Image, XML:
		return true
	case VarChar, NVarChar, VarBinary:
		return t.Length == Max
	default:
		return false
	}
}

// legacyLOB reports whether CDC never records the column in deletes and in
// images before an update.
// Source: MS docs, cdc.<capture_instance>_CT, "Large object data types".
func (t Type) legacyLOB() bool {
	return t.Kind == Text || t.Kind == NText || t.Kind == Image
}
