package tds

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Login7 is what the server needs of a LOGIN7 message (MS-TDS 2.2.6.4).
type Login7 struct {
	TDSVersion Dialect
	// PacketSize is the size that the client asks for; 0 means the server's
	// default.
	PacketSize uint32
	Host       string
	User       string
	Password   string
	App        string
	Server     string
	Library    string
	Language   string
	Database   string
	// NewPassword is set when the client wants the password changed.
	NewPassword string
	// ReadIntent is ApplicationIntent=ReadOnly.
	ReadIntent bool
	// ODBC is set by clients that want the ODBC defaults of SET options
	// (ANSI_DEFAULTS on, TEXTSIZE unlimited).
	ODBC bool
	// Integrated is set when the client wants Windows authentication.
	Integrated bool
	// Features are the feature extensions that the client offered, in order.
	Features []Feature
}

// Feature is one entry of the FeatureExt block.
type Feature struct {
	ID   uint8
	Data []byte
}

// Feature identifiers (MS-TDS 2.2.6.4).
const (
	FeatureSessionRecovery  = 0x01
	FeatureFedAuth          = 0x02
	FeatureColumnEncryption = 0x04
	FeatureUTF8Support      = 0x0A
	featureTerminator       = 0xFF
)

var errLogin7 = errors.New("malformed LOGIN7")

// String leaves the passwords out.
func (l Login7) String() string {
	return fmt.Sprintf("LOGIN7 version %08x user %q database %q app %q host %q packet size %d read intent %t",
		uint32(l.TDSVersion), l.User, l.Database, l.App, l.Host, l.PacketSize, l.ReadIntent)
}

// Offsets of fixed fields of LOGIN7.
const (
	loginFixedSize    = 94
	loginOptionFlags2 = 25
	loginTypeFlags    = 26
	loginOptionFlags3 = 27
	loginOffsets      = 36
)

// Bits of the flag bytes of LOGIN7.
const (
	flags2ODBC           = 0x02
	flags2Integrated     = 0x80
	typeReadIntent       = 0x20
	flags3ChangePassword = 0x01
	flags3Extension      = 0x10
)

// ParseLogin7 reads a LOGIN7 message.
func ParseLogin7(payload []byte) (Login7, error) {
	if len(payload) < loginFixedSize {
		return Login7{}, fmt.Errorf("%w: %d bytes", errLogin7, len(payload))
	}
	length := binary.LittleEndian.Uint32(payload)
	if length < loginFixedSize || uint64(length) > uint64(len(payload)) {
		return Login7{}, fmt.Errorf("%w: claims %d of %d bytes", errLogin7, length, len(payload))
	}
	p := loginParser{b: payload[:length]}
	l := Login7{
		TDSVersion: Dialect(binary.LittleEndian.Uint32(payload[4:])),
		PacketSize: binary.LittleEndian.Uint32(payload[8:]),
		ODBC:       payload[loginOptionFlags2]&flags2ODBC != 0,
		Integrated: payload[loginOptionFlags2]&flags2Integrated != 0,
		ReadIntent: payload[loginTypeFlags]&typeReadIntent != 0,
		Host:       p.text("host", loginOffsets),
		User:       p.text("user", loginOffsets+4),
		Password:   p.password("password", loginOffsets+8),
		App:        p.text("application", loginOffsets+12),
		Server:     p.text("server", loginOffsets+16),
		Library:    p.text("library", loginOffsets+24),
		Language:   p.text("language", loginOffsets+28),
		Database:   p.text("database", loginOffsets+32),
	}
	flags3 := payload[loginOptionFlags3]
	if flags3&flags3ChangePassword != 0 {
		l.NewPassword = p.password("new password", loginOffsets+50)
	}
	if flags3&flags3Extension != 0 {
		l.Features = p.features()
	}
	if p.err != nil {
		return Login7{}, p.err
	}
	return l, nil
}

// loginParser resolves the offset/length pairs of LOGIN7; the first error
// sticks.
type loginParser struct {
	b   []byte
	err error
}

// field returns the bytes that the pair at pos points to; lengths count
// characters of two bytes.
func (p *loginParser) field(name string, pos, unit int) []byte {
	start := int(binary.LittleEndian.Uint16(p.b[pos:]))
	n := unit * int(binary.LittleEndian.Uint16(p.b[pos+2:]))
	if n == 0 {
		return nil
	}
	if start+n > len(p.b) {
		p.fail(name)
		return nil
	}
	return p.b[start : start+n]
}

func (p *loginParser) fail(name string) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s lies outside of the message", errLogin7, name)
	}
}

func (p *loginParser) text(name string, pos int) string {
	return sqltypes.DecodeUTF16(p.field(name, pos, 2))
}

// password undoes the obfuscation of passwords: each byte was nibble-swapped
// and XORed with 0xA5.
func (p *loginParser) password(name string, pos int) string {
	field := p.field(name, pos, 2)
	plain := make([]byte, len(field))
	for i, b := range field {
		b ^= 0xA5
		plain[i] = b<<4 | b>>4
	}
	return sqltypes.DecodeUTF16(plain)
}

// features reads the FeatureExt block, found through a u32 offset that the
// extension field points to.
func (p *loginParser) features() []Feature {
	const name = "feature extension"
	pointer := p.field(name, loginOffsets+20, 1)
	if len(pointer) < 4 {
		p.fail(name)
		return nil
	}
	c := cursor{b: p.b}
	off := binary.LittleEndian.Uint32(pointer)
	if uint64(off) > uint64(len(p.b)) {
		p.fail(name)
		return nil
	}
	c.off = int(off)
	var features []Feature
	for c.err == nil {
		id := c.u8()
		if id == featureTerminator {
			return features
		}
		n := c.u32()
		if uint64(n) > uint64(c.left()) {
			break
		}
		features = append(features, Feature{ID: id, Data: append([]byte(nil), c.bytes(int(n))...)})
	}
	p.fail(name)
	return nil
}
