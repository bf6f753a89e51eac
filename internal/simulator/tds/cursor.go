package tds

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// cursor reads little-endian fields from a message. The first failure sticks:
// every later read returns zero, and err tells what was being read.
type cursor struct {
	b   []byte
	off int
	err error
}

func (c *cursor) left() int { return len(c.b) - c.off }

// fail records the first error.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// bytes returns the next n bytes, sharing the message's memory.
func (c *cursor) bytes(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.fail("%d bytes wanted at offset %d of %d: %w", n, c.off, len(c.b), io.ErrUnexpectedEOF)
		return nil
	}
	b := c.b[c.off : c.off+n]
	c.off += n
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// peek returns the byte at off from here without moving, false at the end.
func (c *cursor) peek(off int) (uint8, bool) {
	if c.err != nil || c.off+off >= len(c.b) {
		return 0, false
	}
	return c.b[c.off+off], true
}

// bVarChar reads a string whose length in characters is one byte.
func (c *cursor) bVarChar() string { return sqltypes.DecodeUTF16(c.bytes(2 * int(c.u8()))) }

// usVarChar reads a string whose length in characters is two bytes.
func (c *cursor) usVarChar() string { return sqltypes.DecodeUTF16(c.bytes(2 * int(c.u16()))) }
