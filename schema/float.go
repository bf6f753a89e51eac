package schema

import (
	"bytes"
	"math"
	"strconv"
)

// appendFloat appends f, a float of the given bit size, as Java's
// Double.toString and Float.toString print it since JDK 19: the shortest
// digits that identify the value, at least one of them a decimal, plain from
// 1e-3 up to 1e7 and with an exponent elsewhere.
// Source: OpenJDK, java.lang.Double.toString.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if math.Signbit(f) {
		dst = append(dst, '-')
		f = -f
	}
	if f == 0 {
		return append(dst, "0.0"...)
	}
	var text, digits [32]byte
	n, exponent := decompose(digits[:], appendShortest(text[:0], f, bits))
	if n == 1 {
		// Java compares decimals of one and of two digits then and takes the
		// nearest: 4.9E-324, not 5.0E-324.
		n, exponent = decompose(digits[:], strconv.AppendFloat(text[:0], f, 'e', 1, bits))
	}
	d := digits[:n]
	switch {
	case exponent >= 7 || exponent < -3:
		dst = append(dst, d[0], '.')
		dst = appendFraction(dst, d[1:])
		dst = append(dst, 'E')
		return strconv.AppendInt(dst, int64(exponent), 10)
	case exponent < 0:
		dst = append(dst, "0.00"[:1-exponent]...)
		return appendFraction(dst, d)
	default:
		for i := range exponent + 1 {
			if i < n {
				dst = append(dst, d[i])
			} else {
				dst = append(dst, '0')
			}
		}
		dst = append(dst, '.')
		return appendFraction(dst, d[min(exponent+1, n):])
	}
}

// appendShortest appends the shortest digits that identify f, in strconv's 'e'
// format: of several decimals the nearest, of two that are equally near the
// even one. strconv takes the odd one for some powers of two, whose neighbours
// are not equally far: 2.4414063e-04, a real's 2 to the power of -12.
func appendShortest(dst []byte, f float64, bits int) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	if fraction, _ := math.Frexp(f); fraction != 0.5 {
		return dst
	}
	decimals := bytes.IndexByte(dst[start:], 'e') - len("1.")
	var text [32]byte
	even := strconv.AppendFloat(text[:0], f, 'e', max(0, decimals), 64)
	if read, err := strconv.ParseFloat(string(even), bits); err == nil && read == f {
		return append(dst[:start], even...)
	}
	return dst
}

// appendFraction appends the digits after the point, without trailing zeros
// but at least one.
func appendFraction(dst, digits []byte) []byte {
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	if len(digits) == 0 {
		return append(dst, '0')
	}
	return append(dst, digits...)
}

// decompose copies the digits of text, which is in strconv's 'e' format, and
// returns their number and the exponent of the first.
func decompose(digits, text []byte) (n, exponent int) {
	for i, c := range text {
		if c == 'e' {
			exponent = parseExponent(text[i+1:])
			break
		}
		if c != '.' {
			digits[n] = c
			n++
		}
	}
	return n, exponent
}

func parseExponent(text []byte) int {
	exponent := 0
	for _, c := range text[1:] {
		exponent = exponent*10 + int(c-'0')
	}
	if text[0] == '-' {
		return -exponent
	}
	return exponent
}
