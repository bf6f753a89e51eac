package engine

import (
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// systemType is one row of sys.types (MS docs: sys.types).
type systemType struct {
	Name             string
	ID               sqltypes.ID
	SystemTypeID     int64
	UserTypeID       int64
	MaxLength        int64
	Precision, Scale int64
}

var systemTypes = []systemType{
	{"image", sqltypes.Image, 34, 34, 16, 0, 0},
	{"text", sqltypes.Text, 35, 35, 16, 0, 0},
	{"uniqueidentifier", sqltypes.UniqueIdentifier, 36, 36, 16, 0, 0},
	{"date", sqltypes.Date, 40, 40, 3, 10, 0},
	{"time", sqltypes.Time, 41, 41, 5, 16, 7},
	{"datetime2", sqltypes.DateTime2, 42, 42, 8, 27, 7},
	{"datetimeoffset", sqltypes.DateTimeOffset, 43, 43, 10, 34, 7},
	{"tinyint", sqltypes.TinyInt, 48, 48, 1, 3, 0},
	{"smallint", sqltypes.SmallInt, 52, 52, 2, 5, 0},
	{"int", sqltypes.Int, 56, 56, 4, 10, 0},
	{"smalldatetime", sqltypes.SmallDateTime, 58, 58, 4, 16, 0},
	{"real", sqltypes.Real, 59, 59, 4, 24, 0},
	{"money", sqltypes.Money, 60, 60, 8, 19, 4},
	{"datetime", sqltypes.DateTime, 61, 61, 8, 23, 3},
	{"float", sqltypes.Float, 62, 62, 8, 53, 0},
	{"sql_variant", sqltypes.SQLVariant, 98, 98, 8016, 0, 0},
	{"ntext", sqltypes.NText, 99, 99, 16, 0, 0},
	{"bit", sqltypes.Bit, 104, 104, 1, 1, 0},
	{"decimal", sqltypes.Decimal, 106, 106, 17, 38, 38},
	{"numeric", sqltypes.Numeric, 108, 108, 17, 38, 38},
	{"smallmoney", sqltypes.SmallMoney, 122, 122, 4, 10, 4},
	{"bigint", sqltypes.BigInt, 127, 127, 8, 19, 0},
	{"hierarchyid", sqltypes.HierarchyID, 240, 128, 892, 0, 0},
	{"geometry", sqltypes.Geometry, 240, 129, -1, 0, 0},
	{"geography", sqltypes.Geography, 240, 130, -1, 0, 0},
	{"varbinary", sqltypes.VarBinary, 165, 165, 8000, 0, 0},
	{"varchar", sqltypes.VarChar, 167, 167, 8000, 0, 0},
	{"binary", sqltypes.Binary, 173, 173, 8000, 0, 0},
	{"char", sqltypes.Char, 175, 175, 8000, 0, 0},
	{"timestamp", sqltypes.RowVersion, 189, 189, 8, 0, 0},
	{"nvarchar", sqltypes.NVarChar, 231, 231, 8000, 0, 0},
	{"nchar", sqltypes.NChar, 239, 239, 8000, 0, 0},
	{"xml", sqltypes.XML, 241, 241, -1, 0, 0},
	{"sysname", sqltypes.NVarChar, 231, 256, 256, 0, 0},
}

var systemTypeByID = func() map[sqltypes.ID]*systemType {
	m := map[sqltypes.ID]*systemType{}
	for i := range systemTypes {
		if t := &systemTypes[i]; t.Name != "sysname" {
			m[t.ID] = t
		}
	}
	return m
}()

const sysnameTypeID = 256

// typePrecision is sys.columns.precision of a type.
func typePrecision(t sqltypes.Type) int64 {
	switch t.ID {
	case sqltypes.Decimal, sqltypes.Numeric:
		return int64(t.Precision)
	case sqltypes.Time:
		return timePrecision(8, t.Scale)
	case sqltypes.DateTime2:
		return timePrecision(19, t.Scale)
	case sqltypes.DateTimeOffset:
		return timePrecision(26, t.Scale)
	}
	if s := systemTypeByID[t.ID]; s != nil {
		return s.Precision
	}
	return 0
}

func timePrecision(base int64, scale uint8) int64 {
	if scale == 0 {
		return base
	}
	return base + 1 + int64(scale)
}

// typeScale is sys.columns.scale of a type.
func typeScale(t sqltypes.Type) int64 {
	switch t.ID {
	case sqltypes.Decimal, sqltypes.Numeric, sqltypes.Time, sqltypes.DateTime2, sqltypes.DateTimeOffset:
		return int64(t.Scale)
	}
	if s := systemTypeByID[t.ID]; s != nil {
		return s.Scale
	}
	return 0
}

// storedType is a type's form in the catalogue's documents.
type storedType struct {
	Type      string
	Collation string `json:",omitempty"`
}

func storeType(t sqltypes.Type) storedType {
	s := storedType{Type: t.String()}
	if t.ID == sqltypes.Float || t.ID == sqltypes.Real {
		s.Type = t.ID.Name()
	}
	if t.Collation != nil {
		s.Collation = t.Collation.Name
	}
	return s
}

func (s storedType) load() (sqltypes.Type, error) {
	name, rest, _ := strings.Cut(s.Type, "(")
	var args []int
	if rest != "" {
		for _, a := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
			n, err := strconv.Atoi(a)
			if err != nil {
				n = sqltypes.Max
			}
			args = append(args, n)
		}
	}
	t, err := sqltypes.ParseType(name, args)
	if err != nil {
		return t, err
	}
	t.Collation = nil
	if s.Collation != "" {
		t.Collation, _ = sqltypes.LookupCollation(s.Collation)
	}
	return t, nil
}

// Types that the catalogue's views use again and again.
var (
	typeInt      = sqltypes.Simple(sqltypes.Int)
	typeSmallInt = sqltypes.Simple(sqltypes.SmallInt)
	typeTinyInt  = sqltypes.Simple(sqltypes.TinyInt)
	typeBigInt   = sqltypes.Simple(sqltypes.BigInt)
	typeBit      = sqltypes.Simple(sqltypes.Bit)
	typeDateTime = sqltypes.Simple(sqltypes.DateTime)
	typeGUID     = sqltypes.Simple(sqltypes.UniqueIdentifier)
	typeSysname  = sqltypes.NVarCharOf(128)
	typeNVarMax  = sqltypes.NVarCharOf(sqltypes.Max)
	typeNull     = sqltypes.Type{}
)
