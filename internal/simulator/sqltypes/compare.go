package sqltypes

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Compare orders two values of type t as an index on t does: NULL first, then by
// value; text by its collation with trailing blanks ignored, GUIDs by their tail,
// variants by the family of their base types. It returns -1, 0 or 1.
func Compare(a, b Value, t Type) int {
	if a.kind == KindNull || b.kind == KindNull {
		return cmp.Compare(min(a.kind, 1), min(b.kind, 1))
	}
	if t.ID == SQLVariant {
		return compareVariants(a, b)
	}
	switch a.kind {
	case KindInt, KindMoney:
		return cmp.Compare(int64(a.n), int64(b.n))
	case KindText:
		return compareText(a.s, b.s, t)
	case KindBytes:
		return compareBytes(a.s, b.s, t)
	case KindFloat:
		return cmp.Compare(a.Float64(), b.Float64())
	case KindDecimal:
		return compareDec(a.Dec(), b.Dec())
	case KindGUID:
		return compareGUID(a, b)
	case KindDate, KindTime, KindDateTime, KindDateTime2, KindDateTimeOffset:
		return cmp.Or(cmp.Compare(int64(a.hi), int64(b.hi)), cmp.Compare(int64(a.n), int64(b.n)))
	default:
		return 0
	}
}

// compareBytes pads the shorter binary with zeroes; image and hierarchyid are
// compared as they are.
func compareBytes(a, b string, t Type) int {
	if len(a) == len(b) || t.ID == HierarchyID {
		return strings.Compare(a, b)
	}
	return comparePadded(a, b, 0)
}

// compareGUID compares wire bytes 10-15 first, then 8-9, 6-7, 4-5 and 0-3, each group
// left to right (MS docs, "Comparing GUID and uniqueidentifier values").
func compareGUID(a, b Value) int {
	if a.hi != b.hi {
		return cmp.Compare(bits.RotateLeft64(a.hi, 16), bits.RotateLeft64(b.hi, 16))
	}
	return cmp.Compare(guidHeadOrder(a.n), guidHeadOrder(b.n))
}

// guidHeadOrder turns wire bytes 0-3, 4-5, 6-7 into 6-7, 4-5, 0-3.
func guidHeadOrder(head uint64) uint64 {
	return head<<48 | head<<16&0x0000FFFF00000000 | head>>32
}

// Truth is a result of three-valued logic.
type Truth int8

// The three truth values. AND is the minimum, OR the maximum, NOT the negation.
const (
	False        Truth = -1
	TruthUnknown Truth = 0
	True         Truth = 1
)

// TruthOf returns True or False.
func TruthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// And is three-valued AND.
func (t Truth) And(o Truth) Truth { return min(t, o) }

// Or is three-valued OR.
func (t Truth) Or(o Truth) Truth { return max(t, o) }

// Not is three-valued NOT.
func (t Truth) Not() Truth { return -t }

// CompareTruth applies a comparison operator (=, <>, !=, <, <=, >, >=, !<, !>) to two
// values of one type: TruthUnknown when one is NULL.
func CompareTruth(op string, a, b Value, t Type) Truth {
	if a.IsNull() || b.IsNull() {
		return TruthUnknown
	}
	c := Compare(a, b, t)
	switch op {
	case "=":
		return TruthOf(c == 0)
	case "<>", "!=":
		return TruthOf(c != 0)
	case "<":
		return TruthOf(c < 0)
	case "<=", "!>":
		return TruthOf(c <= 0)
	case ">":
		return TruthOf(c > 0)
	case ">=", "!<":
		return TruthOf(c >= 0)
	default:
		return TruthUnknown
	}
}

// AppendKey appends bytes that are the same for two values of type t if and only if
// [Compare] finds them equal: a key for hash joins, GROUP BY and DISTINCT.
func AppendKey(dst []byte, v Value, t Type) []byte {
	if v.IsNull() {
		return append(dst, 0)
	}
	if t.ID == SQLVariant {
		inner, base := v.Variant()
		family := variantFamily(base.ID)
		if wide := variantCompareType(family, base); wide.ID != base.ID {
			if converted, err := Convert(inner, base, wide, 0); err == nil {
				inner = converted
			}
			base = wide
		}
		return AppendKey(append(dst, 1, byte(family)), inner, base)
	}
	start := len(dst)
	dst = append(dst, 1, 0, 0, 0, 0)
	switch v.kind {
	case KindText:
		dst = appendTextKey(dst, v.s, t)
	case KindBytes:
		trimmed := v.s
		if t.ID != HierarchyID {
			trimmed = strings.TrimRight(v.s, "\x00")
		}
		dst = append(dst, trimmed...)
	case KindDecimal:
		d := normalizeDec(v.Dec())
		dst = append(dst, d.Scale, boolByte(d.Neg))
		dst = binary.BigEndian.AppendUint64(dst, d.Hi)
		dst = binary.BigEndian.AppendUint64(dst, d.Lo)
	case KindFloat:
		f := v.Float64()
		if f == 0 {
			f = 0 // -0 equals 0
		}
		dst = binary.BigEndian.AppendUint64(dst, FloatOf(f).n)
	default:
		dst = binary.BigEndian.AppendUint64(dst, v.hi)
		dst = binary.BigEndian.AppendUint64(dst, v.n)
	}
	binary.LittleEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-5))
	return dst
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
