package schema

import "math"

// JDBCType is a type as Microsoft's JDBC driver reports it to Debezium, which
// passes it on in schema changes.
type JDBCType struct {
	// Code is a constant of java.sql.Types, or one of the driver's own below
	// -100.
	Code int
	// Length and Scale are -1 where the driver reports none.
	Length, Scale int
}

// NoLength stands for a length or scale that does not exist.
const NoLength = -1

// jdbcFixed are the types whose length and scale are always the same.
var jdbcFixed = map[Kind]JDBCType{
	Unknown:          {1111, NoLength, NoLength},
	Bit:              {-7, 1, NoLength},
	TinyInt:          {-6, 3, 0},
	SmallInt:         {5, 5, 0},
	Int:              {4, 10, 0},
	BigInt:           {-5, 19, 0},
	Real:             {7, 24, NoLength},
	Float:            {8, 53, NoLength},
	Money:            {3, 19, 4},
	SmallMoney:       {3, 10, 4},
	Date:             {91, 10, 0},
	DateTime:         {93, 23, 3},
	SmallDateTime:    {93, 16, 0},
	Text:             {-1, math.MaxInt32, NoLength},
	NText:            {-16, math.MaxInt32 / 2, NoLength},
	Image:            {-4, math.MaxInt32, NoLength},
	XML:              {-16, math.MaxInt32, NoLength},
	UniqueIdentifier: {1, 36, NoLength},
	RowVersion:       {-2, 8, NoLength},
	SQLVariant:       {-150, 8000, 0},
}

// JDBC returns the type as the JDBC driver reports it.
// Source: mssql-jdbc, SQLServerDatabaseMetaData.getColumns, through Debezium.
func (t Type) JDBC() JDBCType {
	if fixed, ok := jdbcFixed[t.Kind]; ok {
		return fixed
	}
	length := t.Length
	if length == Max {
		length = math.MaxInt32
	}
	switch t.Kind {
	case Decimal:
		return JDBCType{3, t.Precision, t.Scale}
	case Numeric:
		return JDBCType{2, t.Precision, t.Scale}
	case Char:
		return JDBCType{1, length, NoLength}
	case NChar:
		return JDBCType{-15, length, NoLength}
	case VarChar:
		return JDBCType{12, length, NoLength}
	case NVarChar:
		return JDBCType{-9, length, NoLength}
	case Binary:
		return JDBCType{-2, length, NoLength}
	case Time:
		return JDBCType{92, withFraction(8, t.Scale), t.Scale}
	case DateTime2:
		return JDBCType{93, withFraction(19, t.Scale), t.Scale}
	case DateTimeOffset:
		return JDBCType{-155, withFraction(26, t.Scale), t.Scale}
	default: // varbinary and the CLR types
		return JDBCType{-3, length, NoLength}
	}
}

// withFraction adds a point and its digits to a length in characters.
func withFraction(length, scale int) int {
	if scale == 0 {
		return length
	}
	return length + 1 + scale
}
