package sqltypes

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// MaxPrecision is the greatest number of digits of a decimal.
const MaxPrecision = 38

// uint128 is an unsigned number of 128 bits.
type uint128 struct{ hi, lo uint64 }

// powersOfTen are 10^0 to 10^38.
var powersOfTen = func() (p [MaxPrecision + 1]uint128) {
	p[0] = uint128{lo: 1}
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].mul64(10)
	}
	return p
}()

func (x uint128) cmp(y uint128) int {
	return cmp.Or(cmp.Compare(x.hi, y.hi), cmp.Compare(x.lo, y.lo))
}

func (x uint128) add(y uint128) (sum uint128, overflow bool) {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, carry := bits.Add64(x.hi, y.hi, carry)
	return uint128{hi, lo}, carry != 0
}

// sub returns x-y for x >= y.
func (x uint128) sub(y uint128) uint128 {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return uint128{hi, lo}
}

func (x uint128) mul64(y uint64) (product uint128, overflow bool) {
	carry, lo := bits.Mul64(x.lo, y)
	over, hi := bits.Mul64(x.hi, y)
	hi, c := bits.Add64(hi, carry, 0)
	return uint128{hi, lo}, over != 0 || c != 0
}

func (x uint128) div64(y uint64) (quotient uint128, remainder uint64) {
	quotient.hi, remainder = x.hi/y, x.hi%y
	quotient.lo, remainder = bits.Div64(remainder, x.lo, y)
	return quotient, remainder
}

// scaleUp returns x times 10^n, n up to 38.
func (x uint128) scaleUp(n int) (scaled uint128, overflow bool) {
	for n > 0 && !overflow {
		step := min(n, 19)
		x, overflow = x.mul64(powersOfTen[step].lo)
		n -= step
	}
	return x, overflow
}

// scaleDown returns x divided by 10^n towards zero, and the last digit cut off.
func (x uint128) scaleDown(n int) (scaled uint128, lastDigit uint64) {
	for n > 1 {
		step := min(n-1, 19)
		x, _ = x.div64(powersOfTen[step].lo)
		n -= step
	}
	if n == 1 {
		x, lastDigit = x.div64(10)
	}
	return x, lastDigit
}

func (x uint128) big() *big.Int {
	b := new(big.Int).SetUint64(x.hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(x.lo))
}

// fromBig returns b, which must not be negative, if it has at most 38 digits.
func fromBig(b *big.Int) (uint128, bool) {
	if b.BitLen() > 127 {
		return uint128{}, false
	}
	lo := new(big.Int).And(b, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	hi := new(big.Int).Rsh(b, 64).Uint64()
	x := uint128{hi, lo}
	return x, x.cmp(powersOfTen[MaxPrecision]) < 0
}

func (d Dec) magnitude() uint128 { return uint128{d.Hi, d.Lo} }

func decOf(neg bool, m uint128, scale uint8) Dec {
	return Dec{Hi: m.hi, Lo: m.lo, Scale: scale, Neg: neg && m.hi|m.lo != 0}
}

// DecFromInt returns an integer as a decimal of scale 0.
func DecFromInt(i int64) Dec {
	if i < 0 {
		return Dec{Lo: -uint64(i), Neg: true}
	}
	return Dec{Lo: uint64(i)}
}

// Fits reports whether d has at most precision digits.
func (d Dec) Fits(precision uint8) bool {
	return d.magnitude().cmp(powersOfTen[min(precision, MaxPrecision)]) < 0
}

// IsZero reports 0.
func (d Dec) IsZero() bool { return d.Hi|d.Lo == 0 }

// Digits returns the number of significant digits, at least 1.
func (d Dec) Digits() int {
	n := 1
	for n < MaxPrecision && d.magnitude().cmp(powersOfTen[n]) >= 0 {
		n++
	}
	return n
}

// Rescale returns d at another scale, rounded half away from zero. ok is false when
// it no longer fits 38 digits.
func (d Dec) Rescale(scale uint8) (scaled Dec, ok bool) {
	if scale >= d.Scale {
		m, overflow := d.magnitude().scaleUp(int(scale - d.Scale))
		return decOf(d.Neg, m, scale), !overflow && m.cmp(powersOfTen[MaxPrecision]) < 0
	}
	m, digit := d.magnitude().scaleDown(int(d.Scale - scale))
	if digit >= 5 {
		m, _ = m.add(uint128{lo: 1})
	}
	return decOf(d.Neg, m, scale), true
}

// Truncate returns d at a smaller scale, cut towards zero.
func (d Dec) Truncate(scale uint8) Dec {
	if scale >= d.Scale {
		return d
	}
	m, _ := d.magnitude().scaleDown(int(d.Scale - scale))
	return decOf(d.Neg, m, scale)
}

// Int64 returns d cut to an integer; ok is false when it does not fit.
func (d Dec) Int64() (i int64, ok bool) {
	t := d.Truncate(0)
	if t.Hi != 0 {
		return 0, false
	}
	if t.Neg {
		return -int64(t.Lo), t.Lo <= 1<<63
	}
	return int64(t.Lo), t.Lo < 1<<63
}

// Float64 returns the nearest float.
func (d Dec) Float64() float64 {
	if d.Hi == 0 && d.Lo < 1<<53 && d.Scale <= 22 {
		f := float64(d.Lo) / math.Pow10(int(d.Scale))
		if d.Neg {
			return -f
		}
		return f
	}
	r := new(big.Rat).SetFrac(d.magnitude().big(), powersOfTen[d.Scale].big())
	f, _ := r.Float64()
	if d.Neg {
		return -f
	}
	return f
}

// Negated returns -d.
func (d Dec) Negated() Dec { return decOf(!d.Neg, d.magnitude(), d.Scale) }

// normalizeDec drops trailing zeroes of the fraction.
func normalizeDec(d Dec) Dec {
	for d.Scale > 0 {
		q, r := d.magnitude().div64(10)
		if r != 0 {
			break
		}
		d = decOf(d.Neg, q, d.Scale-1)
	}
	return d
}

func compareDec(a, b Dec) int {
	if a.Neg != b.Neg {
		if a.Neg {
			return -1
		}
		return 1
	}
	c := compareMagnitudes(a, b)
	if a.Neg {
		return -c
	}
	return c
}

func compareMagnitudes(a, b Dec) int {
	if a.Scale == b.Scale {
		return a.magnitude().cmp(b.magnitude())
	}
	if a.Scale > b.Scale {
		return -compareMagnitudes(b, a)
	}
	up, overflow := a.magnitude().scaleUp(int(b.Scale - a.Scale))
	if overflow {
		return 1
	}
	return up.cmp(b.magnitude())
}

// addDec returns a+b at the scale of the larger fraction; ok is false past 38 digits.
func addDec(a, b Dec) (Dec, bool) {
	scale := max(a.Scale, b.Scale)
	x, okX := a.Rescale(scale)
	y, okY := b.Rescale(scale)
	if !okX || !okY {
		return Dec{}, false
	}
	if x.Neg == y.Neg {
		sum, overflow := x.magnitude().add(y.magnitude())
		return decOf(x.Neg, sum, scale), !overflow && sum.cmp(powersOfTen[MaxPrecision]) < 0
	}
	if x.magnitude().cmp(y.magnitude()) >= 0 {
		return decOf(x.Neg, x.magnitude().sub(y.magnitude()), scale), true
	}
	return decOf(y.Neg, y.magnitude().sub(x.magnitude()), scale), true
}

// mulDec returns a*b rounded to scale.
func mulDec(a, b Dec, scale uint8) (Dec, bool) {
	product := new(big.Int).Mul(a.magnitude().big(), b.magnitude().big())
	m, ok := scaleBig(product, int(a.Scale)+int(b.Scale), int(scale), true)
	return decOf(a.Neg != b.Neg, m, scale), ok
}

// divDec returns a/b cut to scale, as the server divides; b must not be zero.
func divDec(a, b Dec, scale uint8) (Dec, bool) {
	// a/10^sa / (b/10^sb) * 10^scale
	numerator := a.magnitude().big()
	shift := int(scale) + int(b.Scale) - int(a.Scale)
	denominator := b.magnitude().big()
	if shift >= 0 {
		numerator.Mul(numerator, bigPow10(shift))
	} else {
		denominator.Mul(denominator, bigPow10(-shift))
	}
	m, ok := fromBig(numerator.Quo(numerator, denominator))
	return decOf(a.Neg != b.Neg, m, scale), ok
}

// modDec returns the remainder of a/b, with the sign of a; b must not be zero.
func modDec(a, b Dec) (Dec, bool) {
	scale := max(a.Scale, b.Scale)
	x := new(big.Int).Mul(a.magnitude().big(), bigPow10(int(scale-a.Scale)))
	y := new(big.Int).Mul(b.magnitude().big(), bigPow10(int(scale-b.Scale)))
	m, ok := fromBig(x.Rem(x, y))
	return decOf(a.Neg, m, scale), ok
}

func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// scaleBig moves b from one scale to another.
func scaleBig(b *big.Int, from, to int, round bool) (uint128, bool) {
	if to >= from {
		return fromBig(b.Mul(b, bigPow10(to-from)))
	}
	unit := bigPow10(from - to)
	rest := new(big.Int)
	b.QuoRem(b, unit, rest)
	if round && rest.Lsh(rest, 1).Cmp(unit) >= 0 {
		b.Add(b, big.NewInt(1))
	}
	return fromBig(b)
}
