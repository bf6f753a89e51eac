package engine

import (
	"hash/maphash"
	"math"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var hashSeed = maphash.MakeSeed()

// hashValue hashes so that values which compare equal in type t hash alike; the
// reverse need not hold, callers compare.
func hashValue(h uint64, v value, t sqltypes.Type) uint64 {
	const prime = 1099511628211
	h *= prime
	switch v.Kind() {
	case sqltypes.KindNull:
		return h ^ 0x9e3779b97f4a7c15
	case sqltypes.KindInt:
		n := uint64(v.Int64())
		n ^= n >> 33
		n *= 0xff51afd7ed558ccd
		return h ^ n ^ n>>29
	case sqltypes.KindText:
		return h ^ hashText(v.Str(), t)
	case sqltypes.KindBytes:
		return h ^ maphash.String(hashSeed, strings.TrimRight(v.Raw(), "\x00"))
	case sqltypes.KindFloat:
		f := v.Float64()
		if f == 0 {
			return h // 0 and -0 are equal
		}
		return h ^ math.Float64bits(f)*prime
	case sqltypes.KindGUID:
		g := v.GUID()
		return h ^ maphash.Bytes(hashSeed, g[:])
	case sqltypes.KindDecimal:
		// Equal decimals may differ in scale: trailing zeros do not count.
		d := v.Dec()
		for d.Scale > 0 && d.Hi == 0 && d.Lo%10 == 0 {
			d.Lo /= 10
			d.Scale--
		}
		if d.Hi != 0 {
			return h
		}
		return h ^ d.Lo*prime ^ uint64(d.Scale)
	case sqltypes.KindMoney:
		return h ^ uint64(v.Int64())*prime
	default:
		return h ^ uint64(v.Days())*prime ^ uint64(v.Ticks())
	}
}

// hashText is the same for texts that the collation takes for equal: ß and ss,
// ı and I in Turkish, letters with and without accents where these do not count.
func hashText(s string, t sqltypes.Type) uint64 {
	if t.Collation != nil && t.Collation.Binary {
		return maphash.String(hashSeed, strings.TrimRight(s, " "))
	}
	var room [256]byte
	return maphash.Bytes(hashSeed, sqltypes.AppendKey(room[:0], sqltypes.StringOf(s), t))
}

// rowSet finds rows with equal keys.
type rowSet struct {
	types   []sqltypes.Type
	buckets map[uint64][]int
	keys    [][]value
}

func newRowSet(types []sqltypes.Type) *rowSet {
	return &rowSet{types: types, buckets: map[uint64][]int{}}
}

func (s *rowSet) hash(key []value) uint64 {
	h := uint64(14695981039346656037)
	for i, v := range key {
		h = hashValue(h, v, s.types[i])
	}
	return h
}

// find returns the number of the equal key, or -1. NULL equals NULL, as in
// GROUP BY and DISTINCT.
func (s *rowSet) find(key []value) int {
	for _, i := range s.buckets[s.hash(key)] {
		if equalRows(s.keys[i], key, s.types) {
			return i
		}
	}
	return -1
}

// add returns the number of the key, which is copied when it is new.
func (s *rowSet) add(key []value) (index int, added bool) {
	h := s.hash(key)
	for _, i := range s.buckets[h] {
		if equalRows(s.keys[i], key, s.types) {
			return i, false
		}
	}
	s.keys = append(s.keys, append([]value(nil), key...))
	s.buckets[h] = append(s.buckets[h], len(s.keys)-1)
	return len(s.keys) - 1, true
}

func equalRows(a, b []value, types []sqltypes.Type) bool {
	for i := range a {
		if a[i].IsNull() != b[i].IsNull() {
			return false
		}
		if !a[i].IsNull() && compareValues(a[i], b[i], types[i]) != 0 {
			return false
		}
	}
	return true
}
