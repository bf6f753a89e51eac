package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
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

// ParseLSN reads what String prints.
func ParseLSN(text string) (LSN, error) {
	var l LSN
	digits := strings.ReplaceAll(text, ":", "")
	if raw, err := hex.DecodeString(digits); err == nil && len(raw) == len(l) {
		l = LSN(raw)
	}
	if l.String() != text {
		return LSN{}, fmt.Errorf("reading LSN %q: not of the form 00000000:00000000:0000", text)
	}
	return l, nil
}
