package tds

import (
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// userTypeTimestamp is the user type by which clients tell rowversion from
// binary(8).
const userTypeTimestamp = 80

// Sizes that TYPE_INFO carries for types without a declared length, in bytes.
const (
	sizeVariant     = 8009
	sizeLOB         = 0x7FFFFFFF
	sizeNTextLOB    = 0x7FFFFFFE
	sizeHierarchyID = 892
)

func userType(t sqltypes.Type) uint32 {
	if t.ID == sqltypes.RowVersion {
		return userTypeTimestamp
	}
	return 0
}

// fixedType gives, for the types that have two forms, the byte of the form
// that cannot be NULL, of the nullable one, and the size in bytes.
func fixedType(id sqltypes.ID) (notNull, nullable, size uint8, ok bool) {
	switch id {
	case sqltypes.Bit:
		return typeBit, typeBitN, 1, true
	case sqltypes.TinyInt:
		return typeTinyInt, typeIntN, 1, true
	case sqltypes.SmallInt:
		return typeSmallInt, typeIntN, 2, true
	case sqltypes.Int, sqltypes.Unknown:
		return typeInt, typeIntN, 4, true
	case sqltypes.BigInt:
		return typeBigInt, typeIntN, 8, true
	case sqltypes.Real:
		return typeReal, typeFloatN, 4, true
	case sqltypes.Float:
		return typeFloat, typeFloatN, 8, true
	case sqltypes.Money:
		return typeMoney, typeMoneyN, 8, true
	case sqltypes.SmallMoney:
		return typeSmallMoney, typeMoneyN, 4, true
	case sqltypes.DateTime:
		return typeDateTime, typeDateTimeN, 8, true
	case sqltypes.SmallDateTime:
		return typeSmallDateTime, typeDateTimeN, 4, true
	}
	return 0, 0, 0, false
}

// appendTypeInfo appends the TYPE_INFO of a column or an output parameter. An
// untyped NULL goes out as int, as SQL Server sends it.
func appendTypeInfo(dst []byte, t sqltypes.Type, nullable bool) []byte {
	if fixed, varying, size, ok := fixedType(t.ID); ok {
		if nullable || t.ID == sqltypes.Unknown {
			return append(dst, varying, size)
		}
		return append(dst, fixed)
	}
	switch t.ID {
	case sqltypes.Decimal:
		return append(dst, typeDecimalN, decimalSize(t.Precision), t.Precision, t.Scale)
	case sqltypes.Numeric:
		return append(dst, typeNumericN, decimalSize(t.Precision), t.Precision, t.Scale)
	case sqltypes.UniqueIdentifier:
		return append(dst, typeGUID, 16)
	case sqltypes.Date:
		return append(dst, typeDate)
	case sqltypes.Time:
		return append(dst, typeTime, t.Scale)
	case sqltypes.DateTime2:
		return append(dst, typeDateTime2, t.Scale)
	case sqltypes.DateTimeOffset:
		return append(dst, typeDateTimeOffset, t.Scale)
	case sqltypes.Char:
		return appendCollation(appendShortSize(dst, typeChar, t.Length), t)
	case sqltypes.VarChar:
		return appendCollation(appendShortSize(dst, typeVarChar, t.Length), t)
	case sqltypes.NChar:
		return appendCollation(appendShortSize(dst, typeNChar, 2*t.Length), t)
	case sqltypes.NVarChar:
		return appendCollation(appendShortSize(dst, typeNVarChar, 2*t.Length), t)
	case sqltypes.Binary:
		return appendShortSize(dst, typeBinary, t.Length)
	case sqltypes.VarBinary:
		return appendShortSize(dst, typeVarBinary, t.Length)
	case sqltypes.RowVersion:
		return appendShortSize(dst, typeBinary, 8)
	case sqltypes.Image:
		return appendLongSize(dst, typeImage, sizeLOB)
	case sqltypes.Text:
		return appendCollation(appendLongSize(dst, typeText, sizeLOB), t)
	case sqltypes.NText:
		return appendCollation(appendLongSize(dst, typeNText, sizeNTextLOB), t)
	case sqltypes.SQLVariant:
		return appendLongSize(dst, typeVariant, sizeVariant)
	case sqltypes.XML:
		return append(dst, typeXML, 0)
	case sqltypes.HierarchyID, sqltypes.Geometry, sqltypes.Geography:
		return appendUDTInfo(dst, t.ID)
	}
	panic("tds: no TYPE_INFO for " + t.String())
}

// appendShortSize appends a type whose maximum size is a u16 count of bytes;
// a negative size is the (max) form.
func appendShortSize(dst []byte, typ uint8, size int) []byte {
	if size < 0 {
		size = sizePLP
	}
	return binary.LittleEndian.AppendUint16(append(dst, typ), uint16(size))
}

func appendLongSize(dst []byte, typ uint8, size uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, typ), size)
}

func appendCollation(dst []byte, t sqltypes.Type) []byte {
	wire := collationOf(t).Wire()
	return append(dst, wire[:]...)
}

// appendUDTInfo appends the description of one of the three system CLR types.
func appendUDTInfo(dst []byte, id sqltypes.ID) []byte {
	size := uint16(sizePLP)
	var class string
	switch id {
	case sqltypes.HierarchyID:
		size, class = sizeHierarchyID, "SqlHierarchyId"
	case sqltypes.Geometry:
		class = "SqlGeometry"
	default:
		class = "SqlGeography"
	}
	dst = append(dst, typeUDT)
	dst = binary.LittleEndian.AppendUint16(dst, size)
	dst = appendBVarChar(dst, "")
	dst = appendBVarChar(dst, "sys")
	dst = appendBVarChar(dst, id.Name())
	return appendUSVarChar(dst, "Microsoft.SqlServer.Types."+class+
		", Microsoft.SqlServer.Types, Version=11.0.0.0, Culture=neutral, PublicKeyToken=89845dcd8080cc91")
}

// decimalSize is the size of a decimal value on the wire, its sign byte
// included.
func decimalSize(precision uint8) uint8 { return uint8(sqltypes.DecimalBytes(precision)) }
