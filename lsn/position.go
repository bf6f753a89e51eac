package lsn

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
)

// MaxCommand is the command id of a position that stands for everything in
// its commit LSN.
const MaxCommand = math.MaxInt32

// Position is the place of one event in the total order of a database's
// events: commit LSN, then command id, change LSN, operation and ordinal.
//
// Resuming from a position is exclusive: the event at the position has been
// delivered, every greater one has not.
//
// Command is zero where the change tables have no usable command ids; the
// order inside a commit is then by change LSN. Operation is the operation of
// the change row (1 delete, 2 insert, 4 update), so that of two halves with
// equal change LSN the delete comes first. Ordinal tells messages of one
// change row apart (a delete and its tombstone) and counts the rows of a
// snapshot.
type Position struct {
	Commit    LSN
	Command   int32
	Change    LSN
	Operation uint8
	Ordinal   uint64
}

// BeginOf returns the position at which a transaction begins: it comes after
// every event of the commits before and before those of its own.
func BeginOf(commit LSN) Position { return Position{Commit: commit} }

// EndOf returns the position that stands for the whole of a commit LSN: it
// comes after every event of that commit and before those of later ones.
func EndOf(commit LSN) Position { return Position{Commit: commit, Command: MaxCommand} }

// Compare returns -1, 0 or +1 as p comes before, at or after q.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		p.Commit.Compare(q.Commit),
		cmp.Compare(p.Command, q.Command),
		p.Change.Compare(q.Change),
		cmp.Compare(p.Operation, q.Operation),
		cmp.Compare(p.Ordinal, q.Ordinal),
	)
}

// Before reports whether p comes before q.
func (p Position) Before(q Position) bool { return p.Compare(q) < 0 }

// IsZero reports whether p is the zero position, before every event.
func (p Position) IsZero() bool { return p == Position{} }

// positionSize is the length of a position's text:
// commit/command/change/operation/ordinal.
const positionSize = textSize + 1 + 8 + 1 + textSize + 1 + 2 + 1 + 16

// String returns the text form, for example
// "00000027:00000758:0005/00000001/00000027:00000758:0003/02/0000000000000000".
// It has a fixed width, and its byte order is the order of [Position.Compare].
func (p Position) String() string { return string(p.Append(nil)) }

// Append appends the text form to dst.
func (p Position) Append(dst []byte) []byte {
	dst = append(p.Commit.Append(dst), '/')
	dst = append(appendHex(dst, uint64(uint32(p.Command)), 4), '/')
	dst = append(p.Change.Append(dst), '/')
	dst = append(appendHex(dst, uint64(p.Operation), 1), '/')
	return appendHex(dst, p.Ordinal, 8)
}

// appendHex appends the lowest n bytes of v, big-endian.
func appendHex(dst []byte, v uint64, n int) []byte {
	var b [8]byte
	for i := range n {
		b[i] = byte(v >> (8 * (n - 1 - i)))
	}
	return hex.AppendEncode(dst, b[:n])
}

// ParsePosition reads the text form of a position, strictly: what it accepts
// prints as it was, but for the case of digits.
func ParsePosition(s string) (Position, error) {
	fail := func(err error) (Position, error) {
		return Position{}, fmt.Errorf("parsing position %q: %w", s, err)
	}
	if len(s) != positionSize || s[22] != '/' || s[31] != '/' || s[54] != '/' || s[57] != '/' || !isColonForm(s[:22]) || !isColonForm(s[32:54]) {
		return Position{}, fmt.Errorf("parsing position %q: want commit/command/change/operation/ordinal in fixed width", s)
	}
	var (
		p   Position
		err error
	)
	if p.Commit, err = Parse(s[:22]); err != nil {
		return fail(err)
	}
	command, err := parseHex(s[23:31], 31)
	if err != nil {
		return fail(err)
	}
	if p.Change, err = Parse(s[32:54]); err != nil {
		return fail(err)
	}
	operation, err := parseHex(s[55:57], 8)
	if err != nil {
		return fail(err)
	}
	if p.Ordinal, err = parseHex(s[58:], 64); err != nil {
		return fail(err)
	}
	p.Command, p.Operation = int32(command), uint8(operation)
	return p, nil
}

// parseHex parses plain hexadecimal digits: strconv alone would take a sign
// or an underscore.
func parseHex(s string, bits int) (uint64, error) {
	if _, err := hex.DecodeString(s); err != nil {
		return 0, err
	}
	return strconv.ParseUint(s, 16, bits)
}

// MarshalText returns the text form.
func (p Position) MarshalText() ([]byte, error) { return p.Append(nil), nil }

// UnmarshalText accepts what [ParsePosition] accepts.
func (p *Position) UnmarshalText(text []byte) error {
	parsed, err := ParsePosition(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
