package sqltypes

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
)

// toBinary converts to binary, varbinary, image and rowversion. Numbers keep their
// last bytes, everything else its first.
func toBinary(v Value, from, to Type, style int) (Value, error) {
	var raw string
	switch v.kind {
	case KindBytes:
		raw = v.s
	case KindText:
		var err error
		if raw, err = textToBytes(v, from, to, style); err != nil {
			return Value{}, err
		}
	default:
		raw = storageBytes(v, from)
		if v.kind == KindInt || v.kind == KindMoney || v.kind == KindDateTime {
			return RawOf(fitNumberBytes(raw, to)), nil
		}
	}
	return RawOf(fitBytes(raw, to)), nil
}

// binaryLimit is the number of bytes that a binary type holds.
func binaryLimit(t Type) int {
	if t.Length == Max || t.ID == Image {
		return math.MaxInt
	}
	return t.Length
}

func isFixedBinary(t Type) bool { return t.ID == Binary || t.ID == RowVersion }

// fitBytes cuts and zero-pads on the right.
func fitBytes(raw string, t Type) string {
	limit := binaryLimit(t)
	if len(raw) > limit {
		return raw[:limit]
	}
	if isFixedBinary(t) && len(raw) < limit {
		return raw + strings.Repeat("\x00", limit-len(raw))
	}
	return raw
}

// fitNumberBytes cuts and zero-pads on the left.
func fitNumberBytes(raw string, t Type) string {
	limit := binaryLimit(t)
	if len(raw) > limit {
		return raw[len(raw)-limit:]
	}
	if isFixedBinary(t) && len(raw) < limit {
		return strings.Repeat("\x00", limit-len(raw)) + raw
	}
	return raw
}

// textToBytes returns the bytes of text as it is stored, or in styles 1 and 2 reads
// hexadecimal digits with and without 0x.
func textToBytes(v Value, from, to Type, style int) (string, error) {
	digits := v.s
	switch style {
	case 1:
		var ok bool
		if digits, ok = cutHexPrefix(strings.TrimRight(digits, " ")); !ok {
			return "", errorConverting(from, to.Name())
		}
	case 2:
		digits = strings.TrimRight(digits, " ")
	case DefaultStyle:
		if from.ID == XML {
			return string(AppendUTF16([]byte("\xFF\xFE"), escapeSupplementary(v.s))), nil
		}
		if from.ID.IsNational() {
			return string(AppendUTF16(nil, v.s)), nil
		}
		return string(from.collation().Encode(nil, v.s)), nil
	default:
		return "", unsupportedStyle(style, from, to)
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return "", errorConverting(from, to.Name())
	}
	return string(raw), nil
}

func cutHexPrefix(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return s[2:], true
	}
	return s, false
}

// storageBytes returns the bytes that CAST to varbinary gives for a number, date or
// GUID.
func storageBytes(v Value, t Type) string {
	var b []byte
	switch v.kind {
	case KindInt:
		b = binary.BigEndian.AppendUint64(nil, v.n)[8-t.MaxLength():]
	case KindMoney:
		b = binary.BigEndian.AppendUint64(nil, v.n)[8-t.MaxLength():]
	case KindFloat:
		if t.ID == Real {
			b = binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v.Float64())))
		} else {
			b = binary.BigEndian.AppendUint64(nil, v.n)
		}
	case KindDecimal:
		b = append(b, t.Precision, v.scale, 0, 1-boolByte(v.neg))
		b = binary.LittleEndian.AppendUint64(b, v.n)
		b = binary.LittleEndian.AppendUint64(b, v.hi)
		b = b[:4+DecimalBytes(t.Precision)-1]
	case KindGUID:
		g := v.GUID()
		b = g[:]
	default:
		b = temporalBytes(v, t)
	}
	return string(b)
}

// temporalBytes returns the storage form of dates and times: datetime is big-endian
// days and ticks, the newer types are a scale byte, little-endian ticks, days and
// offset.
func temporalBytes(v Value, t Type) []byte {
	var b []byte
	if t.ID == SmallDateTime {
		b = binary.BigEndian.AppendUint16(b, uint16(v.Days()))
		return binary.BigEndian.AppendUint16(b, uint16(v.Ticks()/Ticks300PerMinute))
	}
	if t.ID == DateTime {
		b = binary.BigEndian.AppendUint32(b, uint32(v.Days()))
		return binary.BigEndian.AppendUint32(b, uint32(v.Ticks()))
	}
	if t.ID != Date {
		b = append(b, t.Scale)
		ticks := v.Ticks() / ticksPerUnit(t.Scale)
		b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(ticks))[:timeBytes(t.Scale)]...)
	}
	if t.ID != Time {
		b = append(b, binary.LittleEndian.AppendUint32(nil, uint32(v.Days()))[:3]...)
	}
	if t.ID == DateTimeOffset {
		b = binary.LittleEndian.AppendUint16(b, uint16(v.offset))
	}
	return b
}

// ticksPerUnit returns the 100 ns ticks of 10^-scale seconds.
func ticksPerUnit(scale uint8) int64 {
	unit := int64(1)
	for ; scale < 7; scale++ {
		unit *= 10
	}
	return unit
}
