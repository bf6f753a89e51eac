package tds

import "encoding/binary"

// Notice is the content of an ERROR or INFO token.
type Notice struct {
	Number    int32
	State     uint8
	Class     uint8
	Message   string
	Server    string
	Procedure string
	Line      int32
}

// maxInfoClass is the highest severity that travels as INFO.
const maxInfoClass = 10

// maxMessage is the longest message text, in characters, that fits beside the
// other fields into the token's u16 length.
const maxMessage = 30000

// AppendNotice appends an ERROR token (MS-TDS 2.2.7.10), or an INFO token when
// the class is 10 or less.
func AppendNotice(dst []byte, n Notice) []byte {
	token := uint8(tokenError)
	if n.Class <= maxInfoClass {
		token = tokenInfo
	}
	at := len(dst)
	dst = beginSized(dst, token)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n.Number))
	dst = append(dst, n.State, n.Class)
	dst = appendUSVarChar(dst, clip(n.Message, maxMessage))
	dst = appendBVarChar(dst, n.Server)
	dst = appendBVarChar(dst, n.Procedure)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n.Line))
	return endSized(dst, at)
}

// clip cuts s to at most n bytes on a character boundary. A byte of UTF-8 is
// at most one UTF-16 unit, so the result has at most n units.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
