package sqltypes

import (
	"math/big"
	"strconv"
	"strings"
)

// String returns all digits of d: "-0.50" for -50 at scale 2.
func (d Dec) String() string { return string(d.Append(nil)) }

// Append appends the text of d.
func (d Dec) Append(dst []byte) []byte {
	var buf [48]byte
	i := len(buf)
	m := d.magnitude()
	for n := 0; m.hi|m.lo != 0 || n <= int(d.Scale); n++ {
		if n == int(d.Scale) && n > 0 {
			i--
			buf[i] = '.'
		}
		var digit uint64
		m, digit = m.div64(10)
		i--
		buf[i] = '0' + byte(digit)
	}
	if d.Neg {
		i--
		buf[i] = '-'
	}
	return append(dst, buf[i:]...)
}

// ParseDec reads a decimal number without an exponent: "-1.50", ".5", "7.". Its scale
// is the number of digits written after the point; digits beyond 38 are dropped from
// the fraction. ok is false for anything else and for numbers of more than 38 digits
// before the point.
func ParseDec(s string) (d Dec, ok bool) {
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if whole == "" && fraction == "" {
		return Dec{}, false
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > MaxPrecision {
		return Dec{}, false
	}
	var m uint128
	for _, digits := range []string{whole, fraction} {
		for i := range len(digits) {
			if digits[i] < '0' || digits[i] > '9' {
				return Dec{}, false
			}
		}
	}
	kept := min(len(fraction), MaxPrecision-len(whole))
	roundUp := kept < len(fraction) && fraction[kept] >= '5'
	for _, digits := range []string{whole, fraction[:kept]} {
		for i := range len(digits) {
			m, _ = m.mul64(10)
			m, _ = m.add(uint128{lo: uint64(digits[i] - '0')})
		}
	}
	if roundUp {
		m, _ = m.add(uint128{lo: 1})
	}
	return decOf(neg, m, uint8(kept)), m.cmp(powersOfTen[MaxPrecision]) < 0
}

// decFromFloat rounds a float to a scale. Like the server it works from the 17
// significant digits of the float, not from its exact binary value.
func decFromFloat(f float64, scale uint8) (Dec, bool) {
	text := strconv.FormatFloat(f, 'e', 16, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	e, err := strconv.Atoi(exponent)
	if err != nil || e > MaxPrecision {
		return Dec{}, false // infinities and NaN have no exponent
	}
	neg := strings.HasPrefix(mantissa, "-")
	digits := strings.Replace(strings.TrimPrefix(mantissa, "-"), ".", "", 1)
	b, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return Dec{}, false
	}
	m, ok := scaleBig(b, len(digits)-1-e, int(scale), true)
	return decOf(neg, m, scale), ok
}
