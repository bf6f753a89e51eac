package tds

import "encoding/binary"

// Kinds of ENVCHANGE (MS-TDS 2.2.7.9).
const (
	EnvDatabase   = 1
	EnvLanguage   = 2
	EnvPacketSize = 4
	EnvCollation  = 7
	EnvBegin      = 8
	EnvCommit     = 9
	EnvRollback   = 10
	EnvResetAck   = 18
	EnvRouting    = 20
)

// AppendEnvChange appends a change of one of the text properties.
func AppendEnvChange(dst []byte, kind uint8, newValue, oldValue string) []byte {
	at := len(dst)
	dst = append(beginSized(dst, tokenEnvChange), kind)
	dst = appendBVarChar(dst, newValue)
	dst = appendBVarChar(dst, oldValue)
	return endSized(dst, at)
}

// AppendRouting appends the server to which the client must go instead of this
// one (MS-TDS 2.2.7.9, type 20): protocol 0 is TCP, and there is no old value.
func AppendRouting(dst []byte, host string, port uint16) []byte {
	at := len(dst)
	dst = append(beginSized(dst, tokenEnvChange), EnvRouting)
	value := appendUSVarChar([]byte{0, byte(port), byte(port >> 8)}, host)
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(len(value))), value...)
	return endSized(append(dst, 0, 0), at)
}

// AppendEnvChangeBytes appends a change of one of the binary properties
// (collation, transaction descriptors, reset acknowledgement).
func AppendEnvChangeBytes(dst []byte, kind uint8, newValue, oldValue []byte) []byte {
	at := len(dst)
	dst = append(beginSized(dst, tokenEnvChange), kind, uint8(len(newValue)))
	dst = append(dst, newValue...)
	dst = append(dst, uint8(len(oldValue)))
	dst = append(dst, oldValue...)
	return endSized(dst, at)
}
