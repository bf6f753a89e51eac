package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// PacketType is the first byte of a packet header (MS-TDS 2.2.3.1.1).
type PacketType uint8

// Packet types that a server meets.
const (
	PacketSQLBatch     PacketType = 1
	PacketRPC          PacketType = 3
	PacketReply        PacketType = 4
	PacketAttention    PacketType = 6
	PacketBulkLoad     PacketType = 7
	PacketFedAuthToken PacketType = 8
	PacketTransaction  PacketType = 14
	PacketLogin7       PacketType = 16
	PacketSSPI         PacketType = 17
	PacketPrelogin     PacketType = 18
)

var packetNames = map[PacketType]string{
	PacketSQLBatch:     "SQLBATCH",
	PacketRPC:          "RPC",
	PacketReply:        "REPLY",
	PacketAttention:    "ATTENTION",
	PacketBulkLoad:     "BULKLOAD",
	PacketFedAuthToken: "FEDAUTHTOKEN",
	PacketTransaction:  "TRANSACTION",
	PacketLogin7:       "LOGIN7",
	PacketSSPI:         "SSPI",
	PacketPrelogin:     "PRELOGIN",
}

func (t PacketType) known() bool { return packetNames[t] != "" }

// String names the packet type as traces print it.
func (t PacketType) String() string {
	if name := packetNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("packet type %d", uint8(t))
}

// Bits of the status byte of a packet header (MS-TDS 2.2.3.1.2).
const (
	StatusEndOfMessage   = 0x01
	StatusIgnore         = 0x02
	StatusReset          = 0x08
	StatusResetKeepTrans = 0x10
)

// Sizes in bytes, header included.
const (
	headerSize = 8

	// DefaultPacketSize is what both sides use until the login negotiates.
	DefaultPacketSize = 4096
	// MinPacketSize and MaxPacketSize bound what LOGIN7 may ask for.
	MinPacketSize = 512
	MaxPacketSize = 32767
)

// MaxMessageSize bounds one message of a client, in bytes of payload. SQL
// Server limits a batch to 65,536 packets; the bound here is what a stand-in
// can hold in memory.
const MaxMessageSize = 256 << 20

// ErrMessageTooLarge is returned for a message above the reader's bound.
var ErrMessageTooLarge = errors.New("message exceeds the size limit")

// Message is one whole message of a client.
type Message struct {
	Type PacketType
	// Status is the union of the status bits of the message's packets.
	Status uint8
	// Payload is valid until the next call of ReadMessage. That of a bulk load
	// stays valid: its rows are read while the next message comes in.
	Payload []byte
}

// Ignored reports that the client gave the message up while sending it. The
// server answers it with a single DONE with the error bit (MS-TDS 2.2.1.7).
func (m Message) Ignored() bool { return m.Status&StatusIgnore != 0 }

// Reset reports that the session must be reset before the request runs.
func (m Message) Reset() bool { return m.Status&StatusReset != 0 }

// ResetKeepTransaction is Reset that leaves the open transaction alone.
func (m Message) ResetKeepTransaction() bool { return m.Status&StatusResetKeepTrans != 0 }

// PacketReader assembles messages from packets.
//
// Memory grows with the bytes that really arrived, never with a length that a
// header claims.
type PacketReader struct {
	r      io.Reader
	max    int
	header [headerSize]byte
	buf    []byte
}

// NewPacketReader reads packets from r and refuses messages whose payload is
// longer than maxMessage bytes (MaxMessageSize when it is 0).
func NewPacketReader(r io.Reader, maxMessage int) *PacketReader {
	if maxMessage == 0 {
		maxMessage = MaxMessageSize
	}
	return &PacketReader{r: r, max: maxMessage}
}

// keepBuffer is the capacity above which the buffer of a finished message is
// given back instead of being kept for the next one.
const keepBuffer = 1 << 20

// ReadMessage returns the next message. io.EOF means that the client closed
// the connection between two messages.
func (p *PacketReader) ReadMessage() (Message, error) {
	if cap(p.buf) > keepBuffer {
		p.buf = nil
	}
	p.buf = p.buf[:0]
	m := Message{}
	for first := true; ; first = false {
		size, err := p.readHeader(first)
		if err != nil {
			return Message{}, err
		}
		switch t := PacketType(p.header[0]); {
		case first && !t.known():
			return Message{}, fmt.Errorf("%v is unknown", t)
		case first:
			m.Type = t
		case t == PacketAttention: // the client gives up what it was sending
			m, p.buf = Message{Type: t}, p.buf[:0]
		case t != m.Type:
			return Message{}, fmt.Errorf("%v packet inside a message of type %v", t, m.Type)
		}
		m.Status |= p.header[1]
		if len(p.buf)+size > p.max {
			return Message{}, fmt.Errorf("reading %v: %w", m.Type, ErrMessageTooLarge)
		}
		if err := p.readBody(size); err != nil {
			return Message{}, fmt.Errorf("reading %v packet: %w", m.Type, err)
		}
		if p.header[1]&StatusEndOfMessage != 0 {
			m.Payload = p.buf
			if m.Type == PacketBulkLoad {
				p.buf = nil
			}
			return m, nil
		}
	}
}

// readHeader reads one packet header and returns the size of its body.
func (p *PacketReader) readHeader(first bool) (int, error) {
	if _, err := io.ReadFull(p.r, p.header[:]); err != nil {
		if first && errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		return 0, fmt.Errorf("reading packet header: %w", noEOF(err))
	}
	size := int(binary.BigEndian.Uint16(p.header[2:]))
	if size < headerSize {
		return 0, fmt.Errorf("packet length %d is shorter than its header", size)
	}
	return size - headerSize, nil
}

func (p *PacketReader) readBody(size int) error {
	start := len(p.buf)
	if need := start + size; need > cap(p.buf) {
		grown := make([]byte, start, max(need, 2*cap(p.buf)))
		copy(grown, p.buf)
		p.buf = grown
	}
	p.buf = p.buf[:start+size]
	_, err := io.ReadFull(p.r, p.buf[start:])
	return noEOF(err)
}

// noEOF turns a clean end inside a structure into the error that it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// PacketWriter cuts a response into packets.
//
// Packets are gathered and handed to the underlying writer in large pieces;
// Flush and EndMessage hand over what is there. An error of the underlying
// writer is returned from then on.
type PacketWriter struct {
	w        io.Writer
	typ      PacketType
	spid     uint16
	size     int // of a packet, header included
	sequence uint8
	out      []byte // whole packets, then the open packet
	open     int    // offset of the open packet in out, -1 when there is none
	err      error
}

// gather is how many bytes of packets are written at once.
const gather = 64 << 10

// NewPacketWriter writes packets of the given type and size to w.
func NewPacketWriter(w io.Writer, typ PacketType, packetSize int) *PacketWriter {
	return &PacketWriter{w: w, typ: typ, size: packetSize, open: -1}
}

// SetPacketSize takes effect with the next packet.
func (p *PacketWriter) SetPacketSize(n int) { p.size = n }

// SetSPID sets the server process id that headers carry.
func (p *PacketWriter) SetSPID(id uint16) { p.spid = id }

// Pending reports whether the current message has bytes.
func (p *PacketWriter) Pending() bool { return p.open >= 0 || p.sequence > 0 }

// Write adds b to the message.
func (p *PacketWriter) Write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n := len(b)
	for len(b) > 0 {
		if p.open < 0 {
			p.begin()
		}
		room := p.size - (len(p.out) - p.open)
		if room == 0 {
			if err := p.closePacket(0); err != nil {
				return 0, err
			}
			continue
		}
		take := min(room, len(b))
		p.out = append(p.out, b[:take]...)
		b = b[take:]
	}
	return n, nil
}

// EndMessage marks the last packet and hands everything over. An empty
// message is one packet without a body.
func (p *PacketWriter) EndMessage() error {
	if p.err != nil {
		return p.err
	}
	if p.open < 0 {
		p.begin()
	}
	if err := p.closePacket(StatusEndOfMessage); err != nil {
		return err
	}
	p.sequence = 0
	return p.Flush()
}

// Flush hands over everything written so far, closing the open packet early.
// It must not be called between the final DONE and EndMessage: a client that
// stops reading at that token would take the empty last packet for the start
// of the next response.
func (p *PacketWriter) Flush() error {
	if p.err != nil {
		return p.err
	}
	if p.open >= 0 {
		if err := p.closePacket(0); err != nil {
			return err
		}
	}
	return p.hand()
}

// hand gives the whole packets to the underlying writer.
func (p *PacketWriter) hand() error {
	if len(p.out) == 0 {
		return nil
	}
	_, p.err = p.w.Write(p.out)
	p.out = p.out[:0]
	return p.err
}

func (p *PacketWriter) begin() {
	p.open = len(p.out)
	p.sequence++
	p.out = append(p.out, uint8(p.typ), 0, 0, 0, uint8(p.spid>>8), uint8(p.spid), p.sequence, 0)
}

func (p *PacketWriter) closePacket(status uint8) error {
	packet := p.out[p.open:]
	packet[1] = status
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
	p.open = -1
	if len(p.out) < gather {
		return nil
	}
	return p.hand()
}
