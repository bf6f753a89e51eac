package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Encryption is the value of the ENCRYPTION option (MS-TDS 2.2.6.5).
type Encryption uint8

// Values of the ENCRYPTION option.
const (
	EncryptOff          Encryption = 0 // TLS for LOGIN7 only
	EncryptOn           Encryption = 1
	EncryptNotSupported Encryption = 2
	EncryptRequired     Encryption = 3
)

// Tokens of PRELOGIN options.
const (
	preloginVersion    = 0
	preloginEncryption = 1
	preloginInstance   = 2
	preloginThreadID   = 3
	preloginMARS       = 4
	preloginFedAuth    = 6
	preloginTerminator = 0xFF
)

// Version is a product version: major, minor, build, as VERSION and LOGINACK
// carry it.
type Version struct {
	Major, Minor uint8
	Build        uint16
	SubBuild     uint16
}

// Prelogin is a PRELOGIN message, of either side.
type Prelogin struct {
	Version    Version
	Encryption Encryption
	// Instance is the instance name that a client asks for; a server answers
	// an empty one.
	Instance string
	MARS     bool
	// FedAuth is what the client's FEDAUTHREQUIRED says. A server that has no
	// federated authentication leaves the option out.
	FedAuth bool
}

var errPrelogin = errors.New("malformed PRELOGIN")

// ParsePrelogin reads a client's PRELOGIN.
func ParsePrelogin(payload []byte) (Prelogin, error) {
	var p Prelogin
	seen := map[uint8]bool{}
	for off := 0; ; off += 5 {
		if off >= len(payload) {
			return Prelogin{}, fmt.Errorf("%w: no terminator", errPrelogin)
		}
		token := payload[off]
		if token == preloginTerminator {
			break
		}
		if off+5 > len(payload) {
			return Prelogin{}, fmt.Errorf("%w: option %d is cut", errPrelogin, token)
		}
		start := int(binary.BigEndian.Uint16(payload[off+1:]))
		end := start + int(binary.BigEndian.Uint16(payload[off+3:]))
		if end > len(payload) {
			return Prelogin{}, fmt.Errorf("%w: option %d ends at %d of %d", errPrelogin, token, end, len(payload))
		}
		if seen[token] {
			return Prelogin{}, fmt.Errorf("%w: option %d twice", errPrelogin, token)
		}
		seen[token] = true
		if err := p.setOption(token, payload[start:end]); err != nil {
			return Prelogin{}, err
		}
	}
	if !seen[preloginVersion] {
		return Prelogin{}, fmt.Errorf("%w: no VERSION", errPrelogin)
	}
	if !seen[preloginEncryption] {
		p.Encryption = EncryptNotSupported
	}
	return p, nil
}

func (p *Prelogin) setOption(token uint8, data []byte) error {
	need := map[uint8]int{preloginVersion: 6, preloginEncryption: 1}[token]
	if len(data) < need {
		return fmt.Errorf("%w: option %d has %d bytes", errPrelogin, token, len(data))
	}
	switch token {
	case preloginVersion:
		p.Version = Version{
			Major: data[0], Minor: data[1],
			Build:    binary.BigEndian.Uint16(data[2:]),
			SubBuild: binary.LittleEndian.Uint16(data[4:]),
		}
	case preloginEncryption:
		p.Encryption = Encryption(data[0])
	case preloginInstance:
		for i, b := range data {
			if b == 0 {
				data = data[:i]
				break
			}
		}
		p.Instance = string(data)
	case preloginMARS:
		p.MARS = len(data) > 0 && data[0] != 0
	case preloginFedAuth:
		p.FedAuth = len(data) > 0 && data[0] != 0
	}
	return nil
}

// AppendPrelogin appends a server's PRELOGIN response. VERSION comes first, as
// the specification demands.
func AppendPrelogin(dst []byte, p Prelogin) []byte {
	mars := byte(0)
	if p.MARS {
		mars = 1
	}
	version := binary.BigEndian.AppendUint16([]byte{p.Version.Major, p.Version.Minor}, p.Version.Build)
	version = binary.LittleEndian.AppendUint16(version, p.Version.SubBuild)
	options := []struct {
		token uint8
		data  []byte
	}{
		{preloginVersion, version},
		{preloginEncryption, []byte{byte(p.Encryption)}},
		{preloginInstance, []byte{0}},
		{preloginThreadID, nil},
		{preloginMARS, []byte{mars}},
	}
	offset := 5*len(options) + 1
	for _, o := range options {
		dst = append(dst, o.token)
		dst = binary.BigEndian.AppendUint16(dst, uint16(offset))
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(o.data)))
		offset += len(o.data)
	}
	dst = append(dst, preloginTerminator)
	for _, o := range options {
		dst = append(dst, o.data...)
	}
	return dst
}
