package tds

import (
	"encoding/binary"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// notASCII has the high bit of every byte set.
const notASCII = 0x8080808080808080

// appendUTF16 is sqltypes.AppendUTF16 with a fast path for text that starts
// with ASCII: eight characters at a time, each byte spread to two.
func appendUTF16(dst []byte, s string) []byte {
	start := len(dst)
	dst = slices.Grow(dst, 2*len(s))
	out := dst[start : start+2*len(s)]
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := loadUint64(s[i:])
		if x&notASCII != 0 {
			break
		}
		binary.LittleEndian.PutUint64(out[2*i:], spread(uint32(x)))
		binary.LittleEndian.PutUint64(out[2*i+8:], spread(uint32(x>>32)))
	}
	for ; i < len(s) && s[i] < 0x80; i++ {
		out[2*i], out[2*i+1] = s[i], 0
	}
	dst = dst[:start+2*i]
	if i == len(s) {
		return dst
	}
	return sqltypes.AppendUTF16(dst, s[i:])
}

func loadUint64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// spread puts a zero byte above each of the four bytes of x.
func spread(x uint32) uint64 {
	y := uint64(x)
	y = (y | y<<16) & 0x0000FFFF0000FFFF
	return (y | y<<8) & 0x00FF00FF00FF00FF
}
