package tds

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// appendValue appends a value that is not NULL in the wire form of one column.
// It takes a pointer because a value is larger than what goes in registers.
type appendValue func(dst []byte, v *sqltypes.Value) []byte

// column is the compiled form of a column: what kind of value it takes, how
// that value and how NULL are written.
type column struct {
	kind   sqltypes.Kind
	append appendValue
	null   []byte
}

// compileColumn compiles the writer of a type.
func compileColumn(t sqltypes.Type, nullable bool) column {
	if _, _, size, ok := fixedType(t.ID); ok {
		kind, data := compileFixed(t.ID, size)
		if nullable || t.ID == sqltypes.Unknown {
			return column{kind: kind, append: lengthPrefixed(size, data), null: []byte{0}}
		}
		return column{kind: kind, append: data, null: make([]byte, size)}
	}
	switch t.ID {
	case sqltypes.Decimal, sqltypes.Numeric:
		return column{sqltypes.KindDecimal, lengthPrefixed(decimalSize(t.Precision), compileDecimal(t)), []byte{0}}
	case sqltypes.UniqueIdentifier:
		return column{sqltypes.KindGUID, lengthPrefixed(16, appendGUID), []byte{0}}
	case sqltypes.Date, sqltypes.Time, sqltypes.DateTime2, sqltypes.DateTimeOffset:
		kind, size, data := compileTemporal(t)
		return column{kind, lengthPrefixed(size, data), []byte{0}}
	case sqltypes.Text, sqltypes.NText, sqltypes.Image:
		kind, data := compileData(t)
		return column{kind, textPointer(data), []byte{0}}
	case sqltypes.SQLVariant:
		return column{sqltypes.KindNull, appendVariant, []byte{0, 0, 0, 0}}
	}
	kind, data := compileData(t)
	if isPLP(t) {
		return column{kind, partial(data), binary.LittleEndian.AppendUint64(nil, plpNull)}
	}
	return column{kind, shortPrefixed(data), []byte{0xFF, 0xFF}}
}

// isPLP reports the types whose values are partially length-prefixed.
func isPLP(t sqltypes.Type) bool {
	switch t.ID {
	case sqltypes.XML, sqltypes.HierarchyID, sqltypes.Geometry, sqltypes.Geography:
		return true
	}
	return t.Length == sqltypes.Max
}

// compileData writes the bare data of character and binary types.
func compileData(t sqltypes.Type) (sqltypes.Kind, appendValue) {
	switch {
	case t.ID.IsNational():
		return sqltypes.KindText, func(dst []byte, v *sqltypes.Value) []byte { return appendUTF16(dst, v.Str()) }
	case t.ID.IsText():
		c := collationOf(t)
		return sqltypes.KindText, func(dst []byte, v *sqltypes.Value) []byte { return appendCodePage(dst, v.Str(), c) }
	default:
		return sqltypes.KindBytes, func(dst []byte, v *sqltypes.Value) []byte { return append(dst, v.Raw()...) }
	}
}

// lengthPrefixed writes one byte of length, then data of exactly that size.
func lengthPrefixed(size uint8, data appendValue) appendValue {
	return func(dst []byte, v *sqltypes.Value) []byte { return data(append(dst, size), v) }
}

// shortPrefixed writes a u16 count of bytes before data.
func shortPrefixed(data appendValue) appendValue {
	return func(dst []byte, v *sqltypes.Value) []byte {
		at := len(dst)
		dst = data(append(dst, 0, 0), v)
		binary.LittleEndian.PutUint16(dst[at:], uint16(len(dst)-at-2))
		return dst
	}
}

// textPointer writes data as text, ntext and image go: a text pointer and a
// timestamp that mean nothing here, then a count of bytes.
func textPointer(data appendValue) appendValue {
	const pointer = "\x10dummy textptr\x00\x00\x00dummyTS\x00"
	return func(dst []byte, v *sqltypes.Value) []byte {
		dst = append(dst, pointer...)
		at := len(dst)
		dst = data(append(dst, 0, 0, 0, 0), v)
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		return dst
	}
}

// maxChunk is the longest PLP chunk. SQL Server's are about a packet long, and
// clients copy what they have of a chunk at each packet.
const maxChunk = 8000

// partial writes data as PLP chunks of known total length.
func partial(data appendValue) appendValue {
	return func(dst []byte, v *sqltypes.Value) []byte {
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		dst = data(dst, v)
		n := len(dst) - at - 12
		if n == 0 {
			return dst // total 0 and the terminator
		}
		binary.LittleEndian.PutUint64(dst[at:], uint64(n))
		return append(splitChunks(dst, at+12), 0, 0, 0, 0)
	}
}

// splitChunks makes chunks of the bytes from the index on, which has room for
// the first chunk's length before it.
func splitChunks(dst []byte, from int) []byte {
	n := len(dst) - from
	chunks := (n + maxChunk - 1) / maxChunk
	dst = slices.Grow(dst, 4*(chunks-1))[:len(dst)+4*(chunks-1)]
	// From the last on, so that no byte is overwritten before it has moved.
	for i := chunks - 1; i >= 0; i-- {
		start := from + i*maxChunk
		length := min(maxChunk, n-i*maxChunk)
		copy(dst[start+4*i:], dst[start:start+length])
		binary.LittleEndian.PutUint32(dst[start+4*i-4:], uint32(length))
	}
	return dst
}

// compileFixed writes the bare data of the types of fixedType.
func compileFixed(id sqltypes.ID, size uint8) (sqltypes.Kind, appendValue) {
	switch id {
	case sqltypes.Real:
		return sqltypes.KindFloat, func(dst []byte, v *sqltypes.Value) []byte {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float64())))
		}
	case sqltypes.Float:
		return sqltypes.KindFloat, func(dst []byte, v *sqltypes.Value) []byte {
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float64()))
		}
	case sqltypes.Money:
		return sqltypes.KindMoney, func(dst []byte, v *sqltypes.Value) []byte {
			n := uint64(v.Int64())
			dst = binary.LittleEndian.AppendUint32(dst, uint32(n>>32))
			return binary.LittleEndian.AppendUint32(dst, uint32(n))
		}
	case sqltypes.SmallMoney:
		return sqltypes.KindMoney, func(dst []byte, v *sqltypes.Value) []byte {
			return binary.LittleEndian.AppendUint32(dst, uint32(v.Int64()))
		}
	case sqltypes.DateTime:
		return sqltypes.KindDateTime, func(dst []byte, v *sqltypes.Value) []byte {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(v.Days())))
			return binary.LittleEndian.AppendUint32(dst, uint32(v.Ticks()))
		}
	case sqltypes.SmallDateTime:
		return sqltypes.KindDateTime, func(dst []byte, v *sqltypes.Value) []byte {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(v.Days()))
			return binary.LittleEndian.AppendUint16(dst, uint16(v.Ticks()/(300*60)))
		}
	}
	return sqltypes.KindInt, compileInt(id, size)
}

func compileInt(id sqltypes.ID, size uint8) appendValue {
	if id == sqltypes.Bit {
		return func(dst []byte, v *sqltypes.Value) []byte {
			if v.Bool() {
				return append(dst, 1)
			}
			return append(dst, 0)
		}
	}
	switch size {
	case 1:
		return func(dst []byte, v *sqltypes.Value) []byte { return append(dst, uint8(v.Int64())) }
	case 2:
		return func(dst []byte, v *sqltypes.Value) []byte {
			return binary.LittleEndian.AppendUint16(dst, uint16(v.Int64()))
		}
	case 4:
		return func(dst []byte, v *sqltypes.Value) []byte {
			return binary.LittleEndian.AppendUint32(dst, uint32(v.Int64()))
		}
	}
	return func(dst []byte, v *sqltypes.Value) []byte {
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int64()))
	}
}

// compileDecimal writes a sign byte (1 is positive) and the magnitude.
func compileDecimal(t sqltypes.Type) appendValue {
	size := int(decimalSize(t.Precision)) - 1
	return func(dst []byte, v *sqltypes.Value) []byte {
		d := v.Dec()
		if d.Scale != t.Scale {
			panic(fmt.Sprintf("tds: decimal of scale %d in a column of type %v", d.Scale, t))
		}
		sign := byte(1)
		if d.Neg {
			sign = 0
		}
		dst = append(dst, sign)
		at := len(dst)
		dst = binary.LittleEndian.AppendUint64(dst, d.Lo)
		dst = binary.LittleEndian.AppendUint64(dst, d.Hi)
		return dst[:at+size]
	}
}

func appendGUID(dst []byte, v *sqltypes.Value) []byte {
	g := v.GUID()
	return append(dst, g[:]...)
}

// compileTemporal writes date, time, datetime2 and datetimeoffset. Times count
// units of 10^-scale seconds; a datetimeoffset travels in UTC.
func compileTemporal(t sqltypes.Type) (sqltypes.Kind, uint8, appendValue) {
	if t.ID == sqltypes.Date {
		return sqltypes.KindDate, 3, func(dst []byte, v *sqltypes.Value) []byte { return appendDays(dst, v.Days()) }
	}
	width := timeSize(t.Scale)
	unit := ticksPerUnit(t.Scale)
	switch t.ID {
	case sqltypes.Time:
		return sqltypes.KindTime, width, func(dst []byte, v *sqltypes.Value) []byte {
			return appendTime(dst, v.Ticks()/unit, width)
		}
	case sqltypes.DateTime2:
		return sqltypes.KindDateTime2, width + 3, func(dst []byte, v *sqltypes.Value) []byte {
			return appendDays(appendTime(dst, v.Ticks()/unit, width), v.Days())
		}
	default:
		return sqltypes.KindDateTimeOffset, width + 5, func(dst []byte, v *sqltypes.Value) []byte {
			dst = appendDays(appendTime(dst, v.Ticks()/unit, width), v.Days())
			return binary.LittleEndian.AppendUint16(dst, uint16(int16(v.Offset())))
		}
	}
}

func appendDays(dst []byte, days int) []byte {
	return append(dst, byte(days), byte(days>>8), byte(days>>16))
}

func appendTime(dst []byte, units int64, width uint8) []byte {
	dst = append(dst, byte(units), byte(units>>8), byte(units>>16))
	if width > 3 {
		dst = append(dst, byte(units>>24))
	}
	if width > 4 {
		dst = append(dst, byte(units>>32))
	}
	return dst
}

// timeSize is the number of bytes of a time of that scale.
func timeSize(scale uint8) uint8 {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	}
	return 5
}

// ticksPerUnit is how many ticks of 100 ns one unit of 10^-scale s holds.
func ticksPerUnit(scale uint8) int64 {
	unit := int64(1)
	for ; scale < 7; scale++ {
		unit *= 10
	}
	return unit
}
