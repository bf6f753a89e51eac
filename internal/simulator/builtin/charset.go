package builtin

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// countsCodePoints reports a collation (_SC, _UTF8, version 140) for which text
// functions take a surrogate pair as one character.
func countsCodePoints(t sqltypes.Type) bool {
	return t.Collation != nil && (t.Collation.Supplementary || t.Collation.UTF8)
}

// length is the number of characters of s.
func length(s string, t sqltypes.Type) int {
	if countsCodePoints(t) {
		return runeCount(s)
	}
	return sqltypes.UTF16Len(s)
}

// slice returns the characters [from, to) of s; bounds beyond the end are clamped.
func slice(s string, from, to int, t sqltypes.Type) string {
	if !countsCodePoints(t) {
		return sqltypes.SliceUTF16(s, from, to)
	}
	if from >= to {
		return ""
	}
	start := advance(s, 0, from)
	if start < 0 {
		return ""
	}
	end := advance(s, start, to-from)
	if end < 0 {
		end = len(s)
	}
	return s[start:end]
}

// characters returns s character by character.
func characters(s string, t sqltypes.Type) []string {
	n := length(s, t)
	list := make([]string, 0, n)
	if n == len(s) {
		for i := range n {
			list = append(list, s[i:i+1])
		}
		return list
	}
	for len(s) > 0 {
		_, w := sqltypes.DecodeRune(s)
		c := s[:w]
		s = s[w:]
		for i := range length(c, t) {
			list = append(list, slice(c, i, i+1, t))
		}
	}
	return list
}
