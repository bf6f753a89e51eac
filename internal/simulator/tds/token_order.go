package tds

import "encoding/binary"

// AppendOrder appends the numbers, from 1, of the columns that a result set is
// ordered by.
func AppendOrder(dst []byte, columns []int) []byte {
	at := len(dst)
	dst = beginSized(dst, tokenOrder)
	for _, n := range columns {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
	}
	return endSized(dst, at)
}
