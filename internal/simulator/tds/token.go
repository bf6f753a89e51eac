package tds

import "encoding/binary"

// Token bytes of a response (MS-TDS 2.2.4.2.1).
const (
	tokenReturnStatus  = 0x79
	tokenColMetadata   = 0x81
	tokenOrder         = 0xA9
	tokenError         = 0xAA
	tokenInfo          = 0xAB
	tokenReturnValue   = 0xAC
	tokenLoginAck      = 0xAD
	tokenFeatureExtAck = 0xAE
	tokenRow           = 0xD1
	tokenNBCRow        = 0xD2
	tokenEnvChange     = 0xE3
	tokenDone          = 0xFD
	tokenDoneProc      = 0xFE
	tokenDoneInProc    = 0xFF
)

// beginSized appends a token followed by room for its u16 length.
func beginSized(dst []byte, token uint8) []byte { return append(dst, token, 0, 0) }

// endSized fills in the length of the token that starts at offset at.
func endSized(dst []byte, at int) []byte {
	binary.LittleEndian.PutUint16(dst[at+1:], uint16(len(dst)-at-3))
	return dst
}
