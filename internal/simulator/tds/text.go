package tds

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// appendBVarChar appends a string with its length in characters as one byte,
// cut to 255 characters.
func appendBVarChar(dst []byte, s string) []byte {
	at := len(dst)
	dst = appendUTF16(append(dst, 0), s)
	n := min((len(dst)-at-1)/2, 255)
	dst[at] = uint8(n)
	return dst[:at+1+2*n]
}

// appendUSVarChar appends a string with its length in characters as two bytes.
func appendUSVarChar(dst []byte, s string) []byte {
	at := len(dst)
	dst = appendUTF16(append(dst, 0, 0), s)
	n := min((len(dst)-at-2)/2, 0xFFFF)
	binary.LittleEndian.PutUint16(dst[at:], uint16(n))
	return dst[:at+2+2*n]
}

// appendCodePage appends s in the code page of the collation. ASCII text, the
// usual case, is the same in all of them.
func appendCodePage(dst []byte, s string, c *sqltypes.Collation) []byte {
	if isASCII(s) {
		return append(dst, s...)
	}
	return c.Encode(dst, s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
