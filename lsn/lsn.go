package lsn

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
)

// Size is the length of an LSN in bytes: binary(10) in every CDC table.
const Size = 10

// textSize is the length of the colon form: 8 + 1 + 8 + 1 + 4 digits.
const textSize = 2*Size + 2

// LSN is a log sequence number: the virtual log file (4 bytes), the offset of
// the log block in it (4 bytes) and the slot in the block (2 bytes), each
// big-endian, so that unsigned byte order is log order. The zero LSN stands
// for "none": sys.fn_cdc_get_min_lsn returns it for an unknown instance.
type LSN [Size]byte

// Max is the greatest LSN. It stands for no log record.
var Max = LSN{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// Parse reads either text form of an LSN: "00000027:00000758:0005", which
// Debezium and the dynamic management views print, or "0x" followed by 20
// hexadecimal digits, which CONVERT(..., 1) prints. Upper and lower case
// digits are accepted; anything before, after or between is an error.
func Parse(s string) (LSN, error) {
	var digits string
	switch {
	case isColonForm(s):
		digits = s[:8] + s[9:17] + s[18:]
	case len(s) == 2+2*Size && (s[:2] == "0x" || s[:2] == "0X"):
		digits = s[2:]
	default:
		return LSN{}, fmt.Errorf("parsing LSN %q: want 00000000:00000000:0000 or 0x and 20 hexadecimal digits", s)
	}
	var l LSN
	if _, err := hex.Decode(l[:], []byte(digits)); err != nil {
		return LSN{}, fmt.Errorf("parsing LSN %q: %w", s, err)
	}
	return l, nil
}

// isColonForm reports whether s has the length and the colons of that form.
func isColonForm(s string) bool { return len(s) == textSize && s[8] == ':' && s[17] == ':' }

// FromBytes copies the ten bytes of a binary(10) value.
func FromBytes(b []byte) (LSN, error) {
	if len(b) != Size {
		return LSN{}, fmt.Errorf("reading LSN: got %d bytes, want %d", len(b), Size)
	}
	return LSN(b), nil
}

// String returns the colon form, in lower case.
func (l LSN) String() string {
	return string(l.Append(nil))
}

// Append appends the colon form to dst.
func (l LSN) Append(dst []byte) []byte {
	dst = hex.AppendEncode(dst, l[:4])
	dst = append(dst, ':')
	dst = hex.AppendEncode(dst, l[4:8])
	dst = append(dst, ':')
	return hex.AppendEncode(dst, l[8:])
}

// Compare returns -1, 0 or +1 as l comes before, at or after m in the log.
func (l LSN) Compare(m LSN) int { return bytes.Compare(l[:], m[:]) }

// Before reports whether l comes before m in the log.
func (l LSN) Before(m LSN) bool { return l.Compare(m) < 0 }

// After reports whether l comes after m in the log.
func (l LSN) After(m LSN) bool { return l.Compare(m) > 0 }

// IsZero reports whether l is the zero LSN.
func (l LSN) IsZero() bool { return l == LSN{} }

// Next returns the 80-bit number after l, as sys.fn_cdc_increment_lsn does.
// The LSN after [Max] is Max.
func (l LSN) Next() LSN {
	if l == Max {
		return l
	}
	for i := Size - 1; i >= 0; i-- {
		l[i]++
		if l[i] != 0 {
			break
		}
	}
	return l
}

// Prev returns the 80-bit number before l, as sys.fn_cdc_decrement_lsn does.
// The LSN before zero is zero.
func (l LSN) Prev() LSN {
	if l.IsZero() {
		return l
	}
	for i := Size - 1; i >= 0; i-- {
		l[i]--
		if l[i] != 0xff {
			break
		}
	}
	return l
}

// MarshalText returns the colon form.
func (l LSN) MarshalText() ([]byte, error) { return l.Append(nil), nil }

// UnmarshalText accepts what [Parse] accepts.
func (l *LSN) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// Scan implements [database/sql.Scanner] for binary(10) and text values. NULL
// is an error: use *LSN where a column may hold it.
func (l *LSN) Scan(src any) error {
	var (
		scanned LSN
		err     error
	)
	switch v := src.(type) {
	case []byte:
		scanned, err = FromBytes(v)
	case string:
		scanned, err = Parse(v)
	default:
		err = fmt.Errorf("reading LSN: unexpected %T", src)
	}
	if err != nil {
		return err
	}
	*l = scanned
	return nil
}

// Value implements [driver.Valuer]: the ten bytes.
func (l LSN) Value() (driver.Value, error) { return l[:], nil }
