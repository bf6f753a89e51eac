package tds

import "encoding/binary"

// LoginAck tells the client that it is logged in.
type LoginAck struct {
	// TDSVersion is the version spoken from here on.
	TDSVersion Dialect
	// Program is the server's name for itself.
	Program string
	Version Version
}

// interfaceTSQL is the interface value of a server that takes T-SQL.
const interfaceTSQL = 1

// AppendLoginAck appends LOGINACK (MS-TDS 2.2.7.14). The protocol version goes
// out big-endian, unlike in LOGIN7.
func AppendLoginAck(dst []byte, a LoginAck) []byte {
	at := len(dst)
	dst = append(beginSized(dst, tokenLoginAck), interfaceTSQL)
	dst = binary.BigEndian.AppendUint32(dst, uint32(a.TDSVersion))
	dst = appendBVarChar(dst, a.Program)
	dst = append(dst, a.Version.Major, a.Version.Minor)
	dst = binary.BigEndian.AppendUint16(dst, a.Version.Build)
	return endSized(dst, at)
}
