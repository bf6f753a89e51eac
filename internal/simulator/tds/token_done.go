package tds

import "encoding/binary"

// DoneKind tells the three tokens apart that end something.
type DoneKind uint8

// The DONE tokens: of a statement in a batch, of a procedure, of a statement
// inside a procedure.
const (
	Done       DoneKind = tokenDone
	DoneProc   DoneKind = tokenDoneProc
	DoneInProc DoneKind = tokenDoneInProc
)

// Bits of the status of a DONE token (MS-TDS 2.2.7.6).
const (
	DoneMore          = 0x01
	DoneError         = 0x02
	DoneInTransaction = 0x04
	DoneCount         = 0x10
	DoneAttention     = 0x20
	DoneServerError   = 0x100
)

// DoneToken is the content of a DONE token.
type DoneToken struct {
	Kind    DoneKind
	Status  uint16
	Command uint16
	Count   uint64
}

// AppendDone appends a DONE, DONEPROC or DONEINPROC token.
func AppendDone(dst []byte, d DoneToken) []byte {
	dst = append(dst, uint8(d.Kind))
	dst = binary.LittleEndian.AppendUint16(dst, d.Status)
	dst = binary.LittleEndian.AppendUint16(dst, d.Command)
	return binary.LittleEndian.AppendUint64(dst, d.Count)
}
