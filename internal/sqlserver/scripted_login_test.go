package sqlserver

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// What logins of more than one message use, by which the scripted server
// challenges a client (MS-TDS 2.2.3.1.1, 2.2.7.12, 2.2.7.22).
const (
	packetFedAuth = 8
	packetSSPI    = 17

	tokenFedAuthInfo = 0xEE
	tokenSSPI        = 0xED

	fedAuthSTS = 1
	fedAuthSPN = 2
)

const (
	resource  = "https://database.example/"
	authority = "https://login.example/tenant-of-server"
)

// prelogin says that nothing is encrypted, and whether a token is wanted.
func (s *scripted) prelogin() []byte {
	b := tds.AppendPrelogin(nil, tds.Prelogin{Version: tds.Version{Major: 16}, Encryption: tds.EncryptNotSupported})
	if !s.fedAuth {
		return b
	}
	return []byte{
		0, 0, 16, 0, 6, // VERSION
		1, 0, 22, 0, 1, // ENCRYPTION
		6, 0, 23, 0, 1, // FEDAUTHREQUIRED
		0xFF,
		16, 0, 0, 0, 0, 0, byte(tds.EncryptNotSupported), 1,
	}
}

// challenge accepts a login, or asks for proof first.
func (s *scripted) challenge(login tds.Login7, out *tds.PacketWriter) {
	switch {
	case login.Integrated:
		b := binary.LittleEndian.AppendUint16([]byte{tokenSSPI}, uint16(len(ntlmChallenge())))
		_, _ = out.Write(append(b, ntlmChallenge()...))
		_ = out.EndMessage()
	case s.fedAuth:
		_, _ = out.Write(fedAuthInfo())
		_ = out.EndMessage()
	default:
		accept(out)
	}
}

func accept(out *tds.PacketWriter) {
	_, _ = out.Write(tds.AppendLoginAck(nil, tds.LoginAck{TDSVersion: tds.Version74, Program: "scripted"}))
	_, _ = out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: tds.Done}))
	_ = out.EndMessage()
}

// ntlmChallenge is a CHALLENGE_MESSAGE without target information
// (MS-NLMP 2.2.1.2).
func ntlmChallenge() []byte {
	const unicodeNTLM = 0x00000001 | 0x00000200
	b := append([]byte("NTLMSSP\x00"), 2, 0, 0, 0)
	b = append(b, 0, 0, 0, 0, 48, 0, 0, 0) // TargetName
	b = binary.LittleEndian.AppendUint32(b, unicodeNTLM)
	b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)     // ServerChallenge
	b = append(b, make([]byte, 8)...)         // Reserved
	return append(b, 0, 0, 0, 0, 48, 0, 0, 0) // TargetInfo
}

// fedAuthInfo names the resource and the authority.
func fedAuthInfo() []byte {
	sts, spn := wide(authority), wide(resource)
	const header = 4 + 2*9
	b := binary.LittleEndian.AppendUint32(nil, 2)
	b = append(b, fedAuthSTS)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(sts)))
	b = binary.LittleEndian.AppendUint32(b, header)
	b = append(b, fedAuthSPN)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(spn)))
	b = binary.LittleEndian.AppendUint32(b, uint32(header+len(sts)))
	b = append(append(b, sts...), spn...)
	token := binary.LittleEndian.AppendUint32([]byte{tokenFedAuthInfo}, uint32(len(b)))
	return append(token, b...)
}

// wide returns a text as the wire has it.
func wide(text string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}
