package tds

import (
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// appendVariant appends a sql_variant: a count of bytes, the base type, the
// properties of that type, and its data without any length (MS-TDS 2.2.5.5.4).
func appendVariant(dst []byte, v *sqltypes.Value) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	inner, t := v.Variant()
	dst = appendVariantType(dst, t)
	if _, _, size, ok := fixedType(t.ID); ok {
		_, data := compileFixed(t.ID, size)
		dst = data(dst, &inner)
	} else {
		dst = variantData(t)(dst, &inner)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// variantData writes the bare data of the types that have properties.
func variantData(t sqltypes.Type) appendValue {
	switch t.ID {
	case sqltypes.Decimal, sqltypes.Numeric:
		return compileDecimal(t)
	case sqltypes.UniqueIdentifier:
		return appendGUID
	case sqltypes.Date, sqltypes.Time, sqltypes.DateTime2, sqltypes.DateTimeOffset:
		_, _, data := compileTemporal(t)
		return data
	}
	_, data := compileData(t)
	return data
}

// appendVariantType appends the type byte, the number of bytes of properties
// and the properties.
func appendVariantType(dst []byte, t sqltypes.Type) []byte {
	if fixed, _, _, ok := fixedType(t.ID); ok {
		return append(dst, fixed, 0)
	}
	switch t.ID {
	case sqltypes.Decimal:
		return append(dst, typeDecimalN, 2, t.Precision, t.Scale)
	case sqltypes.Numeric:
		return append(dst, typeNumericN, 2, t.Precision, t.Scale)
	case sqltypes.UniqueIdentifier:
		return append(dst, typeGUID, 0)
	case sqltypes.Date:
		return append(dst, typeDate, 0)
	case sqltypes.Time:
		return append(dst, typeTime, 1, t.Scale)
	case sqltypes.DateTime2:
		return append(dst, typeDateTime2, 1, t.Scale)
	case sqltypes.DateTimeOffset:
		return append(dst, typeDateTimeOffset, 1, t.Scale)
	case sqltypes.Binary, sqltypes.RowVersion:
		return binary.LittleEndian.AppendUint16(append(dst, typeBinary, 2), uint16(t.Length))
	case sqltypes.VarBinary:
		return binary.LittleEndian.AppendUint16(append(dst, typeVarBinary, 2), uint16(t.Length))
	}
	typ, size := uint8(typeVarChar), t.Length
	switch t.ID {
	case sqltypes.Char:
		typ = typeChar
	case sqltypes.NChar:
		typ, size = typeNChar, 2*t.Length
	case sqltypes.NVarChar:
		typ, size = typeNVarChar, 2*t.Length
	case sqltypes.VarChar:
	default:
		panic("tds: sql_variant cannot hold " + t.String())
	}
	dst = appendCollation(append(dst, typ, 7), t)
	return binary.LittleEndian.AppendUint16(dst, uint16(size))
}
