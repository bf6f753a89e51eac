package schema

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"

	common "github.com/redpanda-data/benthos/v4/public/schema"
)

// decimalCodec writes exact numbers. The driver hands them over as text.
func decimalCodec(precision, scale int, mode DecimalMode) codec {
	switch mode {
	case DecimalString:
		c := asciiCodec(ConnectSchema{Type: "string"}, func(dst []byte, v driver.Value) ([]byte, error) {
			u, err := unscaledOf(v, scale)
			if err != nil {
				return dst, err
			}
			return u.appendPlain(dst, scale), nil
		})
		c.common = common.Common{Type: common.Decimal, Logical: &common.LogicalParams{
			Decimal: &common.DecimalParams{Precision: int32(precision), Scale: int32(scale)},
		}}
		return c
	case DecimalDouble:
		c := doubleCodec()
		c.append = func(dst []byte, v driver.Value) ([]byte, error) {
			f, err := doubleOf(v, scale)
			if err != nil {
				return dst, err
			}
			return appendFloat(dst, f, 64), nil
		}
		c.structured = func(v driver.Value) (any, error) { return doubleOf(v, scale) }
		return c
	default:
		return asciiCodec(ConnectSchema{
			Type:    "bytes",
			Name:    "org.apache.kafka.connect.data.Decimal",
			Version: 1,
			Parameters: []Parameter{
				{"scale", strconv.Itoa(scale)},
				{"connect.decimal.precision", strconv.Itoa(precision)},
			},
		}, func(dst []byte, v driver.Value) ([]byte, error) {
			u, err := unscaledOf(v, scale)
			if err != nil {
				return dst, err
			}
			return u.appendBase64(dst), nil
		})
	}
}

// doubleOf returns the double nearest to a decimal that fits its column.
func doubleOf(v driver.Value, scale int) (float64, error) {
	u, err := unscaledOf(v, scale)
	if err != nil {
		return 0, err
	}
	if u.hi|u.lo == 0 {
		return 0, nil // without a sign, as decimals are
	}
	return strconv.ParseFloat(string(v.([]byte)), 64)
}

// unscaled is the integer of a decimal once its point is taken away: 38 digits
// need 127 bits.
type unscaled struct {
	negative bool
	hi, lo   uint64
}

var (
	errNotDecimal   = errors.New("is not a decimal number")
	errDecimalScale = errors.New("has more decimals than its column")
	errDecimalSize  = errors.New("has more than 38 digits")
)

func unscaledOf(v driver.Value, scale int) (unscaled, error) {
	text, ok := v.([]byte)
	if !ok {
		return unscaled{}, typeError(v, "[]byte")
	}
	return parseUnscaled(text, scale)
}

// parseUnscaled reads decimal text such as "-0.0010" at a scale. Missing
// decimals are zeros.
func parseUnscaled(text []byte, scale int) (unscaled, error) {
	var (
		u        unscaled
		point    bool
		decimals int
		digits   int
	)
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		u.negative = text[0] == '-'
		text = text[1:]
	}
	for _, c := range text {
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			return unscaled{}, errNotDecimal
		case point && decimals == scale:
			if c != '0' {
				return unscaled{}, errDecimalScale
			}
			continue
		case point:
			decimals++
		}
		digits++
		if !u.push(c - '0') {
			return unscaled{}, errDecimalSize
		}
	}
	if digits == 0 {
		return unscaled{}, errNotDecimal
	}
	for ; decimals < scale; decimals++ {
		if !u.push(0) {
			return unscaled{}, errDecimalSize
		}
	}
	return u, nil
}

// push appends a digit; false if the magnitude would need its 128th bit,
// which is the sign's.
func (u *unscaled) push(digit byte) bool {
	over, hi := bits.Mul64(u.hi, 10)
	carry, lo := bits.Mul64(u.lo, 10)
	lo, c := bits.Add64(lo, uint64(digit), 0)
	hi, c = bits.Add64(hi, carry, c)
	if over != 0 || c != 0 || hi>>63 != 0 {
		return false
	}
	u.hi, u.lo = hi, lo
	return true
}

// appendBase64 appends the base64 of the shortest big-endian two's complement,
// at least one byte, as Kafka Connect's Decimal holds it.
func (u unscaled) appendBase64(dst []byte) []byte {
	hi, lo := u.hi, u.lo
	if u.negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], hi)
	binary.BigEndian.PutUint64(b[8:], lo)
	i := 0
	for i < 15 && (b[i] == 0 && b[i+1] < 0x80 || b[i] == 0xff && b[i+1] >= 0x80) {
		i++
	}
	return base64.StdEncoding.AppendEncode(dst, b[i:])
}

// appendPlain appends the number as Java's BigDecimal.toPlainString prints it:
// all decimals, never an exponent, no negative zero.
func (u unscaled) appendPlain(dst []byte, scale int) []byte {
	if u.negative && (u.hi|u.lo) != 0 {
		dst = append(dst, '-')
	}
	var digits [40]byte
	i := len(digits)
	for n := 0; n <= scale || (u.hi|u.lo) != 0; n++ {
		if n == scale && scale > 0 {
			i--
			digits[i] = '.'
		}
		var rest uint64
		u.hi, rest = u.hi/10, u.hi%10
		u.lo, rest = bits.Div64(rest, u.lo, 10)
		i--
		digits[i] = '0' + byte(rest)
	}
	return append(dst, digits[i:]...)
}
