package tds

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// errInvalidValue says that the bytes of a value are whole but mean no value
// of their type.
var errInvalidValue = errors.New("not a valid instance of its type")

// value reads a value of the type. invalid says that its bytes mean nothing;
// the cursor then stands behind it all the same.
func (c *cursor) value(w wireType) (v sqltypes.Value, invalid bool) {
	data, null := c.valueBytes(w)
	if c.err != nil || null {
		return sqltypes.Null(), false
	}
	v, err := decodeValue(w, data)
	return v, err != nil
}

// valueBytes reads the bytes of a value in the form its type has.
func (c *cursor) valueBytes(w wireType) (data []byte, null bool) {
	switch w.id {
	case typeNull:
		return nil, true
	case typeBit, typeTinyInt, typeSmallInt, typeInt, typeBigInt, typeReal, typeFloat,
		typeMoney, typeSmallMoney, typeDateTime, typeSmallDateTime:
		return c.bytes(int(w.size)), false
	case typeChar, typeVarChar, typeNChar, typeNVarChar, typeBinary, typeVarBinary:
		if w.size == sizePLP {
			return c.plp()
		}
		n := c.u16()
		if n == nullShort {
			return nil, true
		}
		return c.bytes(int(n)), false
	case typeXML, typeUDT:
		return c.plp()
	case typeText, typeNText, typeImage:
		return c.longValue(w.column)
	case typeVariant:
		n := c.u32()
		return c.bytes(int(n)), n == 0
	}
	n := c.u8()
	return c.bytes(int(n)), n == 0
}

// longValue reads a text, ntext or image. A parameter is a length and data; in
// a row, a text pointer (its length, 0 for NULL, and 16 bytes) and a timestamp
// of 8 bytes stand before them.
func (c *cursor) longValue(column bool) (data []byte, null bool) {
	if column {
		pointer := c.u8()
		if pointer == 0 {
			return nil, true
		}
		c.bytes(int(pointer) + 8)
	}
	n := c.u32()
	if n == math.MaxUint32 {
		return nil, true
	}
	return c.bytes(int(n)), false
}

// plp reads a partially length-prefixed value and joins its chunks.
func (c *cursor) plp() (data []byte, null bool) {
	total := c.u64()
	if total == plpNull {
		return nil, true
	}
	for chunks := 0; c.err == nil; chunks++ {
		n := c.u32()
		if n == 0 {
			break
		}
		chunk := c.bytes(int(n))
		if chunks == 0 {
			data = chunk[:len(chunk):len(chunk)]
		} else {
			data = append(data, chunk...)
		}
	}
	if c.err == nil && total != plpUnknown && total != uint64(len(data)) {
		c.fail("value of %d bytes announced %d", len(data), total)
	}
	return data, false
}

// decodeValue makes a value of its bare bytes.
func decodeValue(w wireType, b []byte) (sqltypes.Value, error) {
	switch id := w.t.ID; {
	case id == sqltypes.SQLVariant:
		return decodeVariant(b)
	case id == sqltypes.XML:
		return decodeXML(w, b)
	case id.IsNational():
		if len(b)%2 != 0 {
			return sqltypes.Null(), errInvalidValue
		}
		return sqltypes.StringOf(sqltypes.DecodeUTF16(b)), nil
	case id.IsText():
		return sqltypes.StringOf(collationOf(w.t).Decode(b)), nil
	case id.IsBinary(), id == sqltypes.HierarchyID, id == sqltypes.Geometry, id == sqltypes.Geography:
		return sqltypes.BytesOf(b), nil
	case id == sqltypes.UniqueIdentifier:
		if len(b) != 16 {
			return sqltypes.Null(), errInvalidValue
		}
		return sqltypes.GUIDOf([16]byte(b)), nil
	case id.IsDecimal():
		return decodeDecimal(w.t, b)
	case id.IsTemporal():
		return decodeTemporal(w.t, b)
	}
	return decodeNumber(w.t.ID, b)
}

// decodeXML takes parameters with or without a byte order mark; columns have
// none.
func decodeXML(w wireType, b []byte) (sqltypes.Value, error) {
	if len(b)%2 != 0 {
		return sqltypes.Null(), errInvalidValue
	}
	if !w.column && len(b) >= 2 && b[0] == 0xFF && b[1] == 0xFE {
		b = b[2:]
	}
	return sqltypes.StringOf(sqltypes.DecodeUTF16(b)), nil
}

// decodeNumber reads the types of fixed size. The length of the value decides:
// a client may send an int in an intn of 8 bytes.
func decodeNumber(id sqltypes.ID, b []byte) (sqltypes.Value, error) {
	switch {
	case id.IsFloat():
		return decodeFloat(b)
	case id.IsMoney():
		switch len(b) {
		case 4:
			return sqltypes.MoneyOf(int64(int32(binary.LittleEndian.Uint32(b)))), nil
		case 8:
			hi, lo := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
			return sqltypes.MoneyOf(int64(uint64(hi)<<32 | uint64(lo))), nil
		}
	case id == sqltypes.Bit && len(b) == 1:
		return sqltypes.BoolOf(b[0] != 0), nil
	default:
		switch len(b) {
		case 1:
			return sqltypes.IntOf(int64(b[0])), nil
		case 2:
			return sqltypes.IntOf(int64(int16(binary.LittleEndian.Uint16(b)))), nil
		case 4:
			return sqltypes.IntOf(int64(int32(binary.LittleEndian.Uint32(b)))), nil
		case 8:
			return sqltypes.IntOf(int64(binary.LittleEndian.Uint64(b))), nil
		}
	}
	return sqltypes.Null(), errInvalidValue
}

// decodeFloat refuses infinities and NaN, which SQL Server has not.
func decodeFloat(b []byte) (sqltypes.Value, error) {
	var f float64
	switch len(b) {
	case 4:
		f = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 8:
		f = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		return sqltypes.Null(), errInvalidValue
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return sqltypes.Null(), errInvalidValue
	}
	return sqltypes.FloatOf(f), nil
}

func decodeDecimal(t sqltypes.Type, b []byte) (sqltypes.Value, error) {
	if len(b) < 2 || len(b) > 17 || b[0] > 1 {
		return sqltypes.Null(), errInvalidValue
	}
	var magnitude [16]byte
	copy(magnitude[:], b[1:])
	lo := binary.LittleEndian.Uint64(magnitude[:8])
	hi := binary.LittleEndian.Uint64(magnitude[8:])
	if !fitsPrecision(hi, lo, t.Precision) {
		return sqltypes.Null(), errInvalidValue
	}
	return sqltypes.DecimalOf(b[0] == 0, hi, lo, t.Scale), nil
}

// fitsPrecision reports whether the magnitude has at most that many digits.
func fitsPrecision(hi, lo uint64, precision uint8) bool {
	limitHi, limitLo := uint64(0), uint64(1)
	for range precision {
		carry, low := bits.Mul64(limitLo, 10)
		limitHi, limitLo = limitHi*10+carry, low
	}
	return hi < limitHi || hi == limitHi && lo < limitLo
}
