package tape

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// TDS packet types and sizes ([MS-TDS] 2.2.3.1).
const (
	headerSize = 8

	typeBatch     = 0x01
	typeRPC       = 0x03
	typeAttention = 0x06
	typeManager   = 0x0e
	typeLogin7    = 0x10
	typePrelogin  = 0x12
	statusEOM     = 0x01
	descriptorAt  = 4 + 4 + 2 // in ALL_HEADERS: total length, header length, header type
	descriptorLen = 8
)

// message is one whole request of the client: the payloads of its packets.
type message struct {
	kind    byte
	payload []byte
}

// takeMessage cuts the first whole message off buffer. ok is false while it is
// incomplete.
func takeMessage(buffer []byte) (m message, rest []byte, ok bool, err error) {
	for len(buffer) >= headerSize {
		size := int(binary.BigEndian.Uint16(buffer[2:4]))
		if size < headerSize {
			return message{}, nil, false, fmt.Errorf("reading TDS packet: length %d is less than its header", size)
		}
		if len(buffer) < size {
			return message{}, nil, false, nil
		}
		m.kind = buffer[0]
		m.payload = append(m.payload, buffer[headerSize:size]...)
		last := buffer[1]&statusEOM != 0
		buffer = buffer[size:]
		if last {
			return m, buffer, true, nil
		}
	}
	return message{}, nil, false, nil
}

var errShort = errors.New("message is shorter than its headers")

// key is what two requests must share to get the same answer. Logins differ in
// process ids and nonces, so their kind alone counts.
func (m message) key() (string, error) {
	switch m.kind {
	case typePrelogin, typeLogin7:
		return string(m.kind), nil
	case typeBatch, typeRPC, typeManager:
		if len(m.payload) < descriptorAt+descriptorLen {
			return "", errShort
		}
		masked := append([]byte{m.kind}, m.payload...)
		clear(masked[1+descriptorAt : 1+descriptorAt+descriptorLen])
		return string(masked), nil
	default:
		return "", fmt.Errorf("packet type %#x cannot be played back", m.kind)
	}
}
