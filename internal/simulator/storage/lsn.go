package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// LSN is a log sequence number as SQL Server writes it: VLF sequence number (4
// bytes), block offset (4), slot in the block (2), big-endian, so that byte order is
// log order.
type LSN [10]byte

// MakeLSN assembles an LSN.
func MakeLSN(vlf, block uint32, slot uint16) LSN {
	var l LSN
	binary.BigEndian.PutUint32(l[0:], vlf)
	binary.BigEndian.PutUint32(l[4:], block)
	binary.BigEndian.PutUint16(l[8:], slot)
	return l
}

// Parts takes an LSN apart.
func (l LSN) Parts() (vlf, block uint32, slot uint16) {
	return binary.BigEndian.Uint32(l[0:]), binary.BigEndian.Uint32(l[4:]), binary.BigEndian.Uint16(l[8:])
}

// IsZero reports the LSN that is below all others.
func (l LSN) IsZero() bool { return l == LSN{} }

// Compare orders LSNs by their place in the log.
func (l LSN) Compare(o LSN) int { return bytes.Compare(l[:], o[:]) }

// String is the form of the DMVs: "0000002d:00000580:001d".
func (l LSN) String() string {
	vlf, block, slot := l.Parts()
	return fmt.Sprintf("%08x:%08x:%04x", vlf, block, slot)
}
