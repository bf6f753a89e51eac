package schema

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// The codecs a second time: slow, with numbers of any size, and from the
// quantities that SQL Server counts (days since the year 1, units of a fraction,
// unscaled decimals, wire bytes) instead of driver values. What they give in any
// mode is a text of JSON, or the empty string for a value without an exact form.

// quantity is a value of a type as the driver gives it, and its JSON by mode.
type quantity struct {
	typ  Type
	v    driver.Value
	json func(Modes) string
}

// fixed is the JSON of types that no mode writes.
func fixed(text string) func(Modes) string { return func(Modes) string { return text } }

// anyQuantity draws a type and a value within its range.
func anyQuantity(t *rapid.T) quantity {
	return rapid.SampledFrom([]func(*rapid.T) quantity{
		anyBit, anyInteger, anyReal, anyDouble, anyExact, anyText, anyGUID, anyBytes, anyDate, anyClock, anyTimestamp, anyZoned,
	}).Draw(t, "kind")(t)
}

func anyBit(t *rapid.T) quantity {
	b := rapid.Bool().Draw(t, "v")
	return quantity{bitType, b, fixed(fmt.Sprint(b))}
}

func anyInteger(t *rapid.T) quantity {
	of := rapid.SampledFrom([]struct {
		typ         Type
		least, most int64
	}{
		{tinyIntType, 0, 255}, {smallIntType, -1 << 15, 1<<15 - 1}, {intType, -1 << 31, 1<<31 - 1}, {bigIntType, -1 << 63, 1<<63 - 1},
	}).Draw(t, "type")
	n := rapid.Int64Range(of.least, of.most).Draw(t, "v")
	return quantity{of.typ, n, fixed(big.NewInt(n).String())}
}

func anyReal(t *rapid.T) quantity {
	f := rapid.Float32().Draw(t, "v")
	want := fixed(javaFloat(float64(f), 32))
	if rapid.Bool().Draw(t, "may be NULL") {
		return quantity{realType, float64(f), want}
	}
	return quantity{realType, f, want}
}

func anyDouble(t *rapid.T) quantity {
	f := rapid.Float64().Draw(t, "v")
	return quantity{floatType, f, fixed(javaFloat(f, 64))}
}

// anyExact draws a number with decimals.
func anyExact(t *rapid.T) quantity {
	typ := rapid.SampledFrom([]Type{moneyType, smallMoney, decimalType(0, 0)}).Draw(t, "type")
	bound := new(big.Int).Lsh(big.NewInt(1), map[Kind]uint{Money: 63, SmallMoney: 31}[typ.Kind])
	if typ.Kind == Decimal {
		typ = Type{Kind: rapid.SampledFrom([]Kind{Decimal, Numeric}).Draw(t, "synonym"), Name: "decimal", Precision: rapid.IntRange(1, 38).Draw(t, "precision")}
		typ.Scale = rapid.IntRange(0, typ.Precision).Draw(t, "scale")
		bound = powerOfTen(typ.Precision)
	}
	n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "unscaled"))
	n.Mod(n, bound)
	if rapid.Bool().Draw(t, "negative") {
		n.Neg(n)
	}
	return exact(typ, n)
}

// exact is the number of an unscaled integer.
func exact(typ Type, n *big.Int) quantity {
	text := pointed(n, typ.Scale)
	return quantity{typ, []byte(text), func(m Modes) string {
		switch m.Decimal {
		case DecimalString:
			return `"` + text + `"`
		case DecimalDouble:
			f, _ := new(big.Rat).SetFrac(n, powerOfTen(typ.Scale)).Float64()
			return javaFloat(f, 64)
		default:
			return `"` + base64.StdEncoding.EncodeToString(shortestComplement(n)) + `"`
		}
	}}
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// pointed prints an integer with a point before its last digits.
func pointed(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// shortestComplement tries ever more bytes until the two's complement has room.
func shortestComplement(n *big.Int) []byte {
	for size := uint(1); ; size++ {
		half := new(big.Int).Lsh(big.NewInt(1), 8*size-1)
		if n.Cmp(half) >= 0 || n.Cmp(new(big.Int).Neg(half)) < 0 {
			continue
		}
		whole := new(big.Int).Lsh(half, 1)
		return whole.Mod(n, whole).FillBytes(make([]byte, size))
	}
}

// javaFloat looks for the shortest decimal of at least two digits that is read
// as f, the nearest of several, and prints it as Java does.
func javaFloat(f float64, bits int) string {
	if f == 0 {
		if 1/f < 0 {
			return "-0.0"
		}
		return "0.0"
	}
	for digits := 2; ; digits++ {
		mantissa, exponent, found := nearestDecimal(f, bits, digits)
		if !found {
			continue
		}
		sign := ""
		if mantissa[0] == '-' {
			sign, mantissa = "-", mantissa[1:]
		}
		if exponent >= -3 && exponent < 7 {
			n, _ := new(big.Int).SetString(mantissa, 10)
			if over := exponent + 1 - len(mantissa); over > 0 {
				n.Mul(n, powerOfTen(over))
			}
			return sign + withDecimal(pointed(n, max(0, len(mantissa)-1-exponent)))
		}
		return sign + withDecimal(mantissa[:1]+"."+mantissa[1:]) + "E" + strconv.Itoa(exponent)
	}
}

// withDecimal leaves one decimal, and more only up to the last that is not zero.
func withDecimal(text string) string {
	if !strings.Contains(text, ".") {
		return text + ".0"
	}
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		return text + "0"
	}
	return text
}

// nearestDecimal returns the digits of the nearest decimal of so many digits
// that is read as f, and the exponent of its first digit.
func nearestDecimal(f float64, bits, digits int) (mantissa string, exponent int, found bool) {
	text := strconv.FormatFloat(f, 'e', digits-1, 64)
	whole, power, _ := strings.Cut(text, "e")
	exponent, err := strconv.Atoi(power)
	if err != nil {
		panic(err)
	}
	middle, ok := new(big.Int).SetString(strings.Replace(whole, ".", "", 1), 10)
	if !ok {
		panic(text)
	}
	exactly := new(big.Rat).SetFloat64(f)
	var least *big.Rat
	for _, step := range []int64{0, -1, 1} {
		n := new(big.Int).Add(middle, big.NewInt(step))
		candidate := fmt.Sprintf("%se%d", n, exponent-digits+1)
		if read, err := strconv.ParseFloat(candidate, bits); err != nil || read != f {
			continue
		}
		value, _ := new(big.Rat).SetString(candidate)
		distance := value.Sub(value, exactly)
		distance.Abs(distance)
		if least == nil || distance.Cmp(least) < 0 {
			least, mantissa = distance, n.String()
		}
	}
	return mantissa, exponent, least != nil
}

func anyText(t *rapid.T) quantity {
	typ := rapid.SampledFrom([]Type{charType, textType, xmlType, nvarcharMax, ntextType}).Draw(t, "type")
	text := rapid.String().Draw(t, "v")
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(`"\`, r):
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("\b\t\n\f\r", r):
			b.WriteString(`\` + string("btnfr"[strings.IndexRune("\b\t\n\f\r", r)]))
		case r < ' ':
			fmt.Fprintf(&b, `\u%04X`, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04X\u%04X`, high, low)
		default:
			b.WriteRune(r)
		}
	}
	return quantity{typ, text, fixed(`"` + b.String() + `"`)}
}

func anyGUID(t *rapid.T) quantity {
	a, b, c := rapid.Uint32().Draw(t, "a"), rapid.Uint16().Draw(t, "b"), rapid.Uint16().Draw(t, "c")
	d := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "d")
	wire := []byte{byte(a), byte(a >> 8), byte(a >> 16), byte(a >> 24), byte(b), byte(b >> 8), byte(c), byte(c >> 8)}
	return quantity{guidType, append(wire, d...), fixed(fmt.Sprintf(`"%08X-%04X-%04X-%X-%X"`, a, b, c, d[:2], d[2:]))}
}

func anyBytes(t *rapid.T) quantity {
	typ := rapid.SampledFrom([]Type{binaryType, varbinaryMax, imageType, rowVersion, {Kind: HierarchyID, Name: "hierarchyid"}, {Kind: Geography, Name: "geography"}}).Draw(t, "type")
	raw := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "v")
	return quantity{typ, raw, func(m Modes) string {
		switch m.Binary {
		case BinaryHex:
			return fmt.Sprintf(`"%x"`, raw)
		case BinaryBase64URLSafe:
			return `"` + strings.NewReplacer("+", "-", "/", "_").Replace(sixes(raw)) + `"`
		default:
			return `"` + sixes(raw) + `"`
		}
	}}
}

// sixes is base64: groups of six bits, padded.
func sixes(raw []byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var b bytes.Buffer
	for ; len(raw) > 0; raw = raw[min(3, len(raw)):] {
		three := make([]byte, 3)
		n := copy(three, raw)
		group := int(three[0])<<16 | int(three[1])<<8 | int(three[2])
		for i := range 4 {
			if i > n {
				b.WriteByte('=')
				continue
			}
			b.WriteByte(alphabet[group>>(18-6*i)&63])
		}
	}
	return b.String()
}

// days of the years 1 to 9999, and those before 1970.
const (
	allDays    = 3652059
	daysBefore = 719162
)

// wallClock is a moment without a zone.
type wallClock struct {
	days  int64 // since 0001-01-01
	ticks int64 // of 100 ns, since midnight
}

// anyWallClock draws one of a scale, the days near the bounds of nanoseconds and
// of everything more often than others.
func anyWallClock(t *rapid.T, scale int) wallClock {
	unit := new(big.Int).Quo(big.NewInt(1e7), powerOfTen(scale)).Int64()
	return wallClock{
		days: rapid.OneOf(
			rapid.Int64Range(0, allDays-1),
			rapid.SampledFrom([]int64{0, daysBefore - 1, daysBefore, allDays - 1, daysBefore - 106752, daysBefore - 106751, daysBefore + 106751, daysBefore + 106752}),
		).Draw(t, "days"),
		ticks: rapid.Int64Range(0, 24*3600*1e7/unit-1).Draw(t, "ticks") * unit,
	}
}

// in is the moment as the driver places it in a zone.
func (w wallClock) in(zone *time.Location) time.Time {
	return time.Date(1, 1, 1+int(w.days), 0, 0, int(w.ticks/1e7), int(w.ticks%1e7*100), zone)
}

// since1970 is the number of units of a power of ten of a second, cut off
// towards the past.
func (w wallClock) since1970(decimals int) *big.Int {
	ticks := new(big.Int).Mul(big.NewInt(w.days-daysBefore), big.NewInt(24*3600*1e7))
	ticks.Add(ticks, big.NewInt(w.ticks))
	if decimals > 7 {
		return ticks.Mul(ticks, powerOfTen(decimals-7))
	}
	return ticks.Div(ticks, powerOfTen(7-decimals)) // Euclid's, which is the floor here
}

func anyZone(t *rapid.T) *time.Location {
	return time.FixedZone("", 60*rapid.IntRange(-840, 840).Draw(t, "offset"))
}

func anyDate(t *rapid.T) quantity {
	w := wallClock{days: anyWallClock(t, 0).days}
	return quantity{dateType, w.in(anyZone(t)), func(m Modes) string {
		if m.Time == TimeISOString {
			return w.in(time.UTC).Format(`"2006-01-02Z"`)
		}
		return fmt.Sprint(w.days - daysBefore)
	}}
}

// decimalsOf is how many decimals of a second a scale's unit has, as the table
// of Debezium's time.precision.mode says.
func decimalsOf(scale int, m TimeMode, clock bool) int {
	switch {
	case m == TimeConnect:
		return 3
	case m == TimeMicroseconds, clock && m == TimeAdaptiveTimeMicroseconds:
		return 6
	case m == TimeNanoseconds:
		return 9
	}
	return []int{3, 3, 3, 3, 6, 6, 6, 9}[scale]
}

func anyClock(t *rapid.T) quantity {
	scale := rapid.IntRange(0, 7).Draw(t, "scale")
	w := wallClock{ticks: anyWallClock(t, scale).ticks}
	return quantity{timeType(scale), w.in(anyZone(t)), func(m Modes) string {
		if m.Time == TimeISOString {
			return w.in(time.UTC).Format(`"15:04:05.9999999Z"`)
		}
		w.days = daysBefore
		return w.since1970(decimalsOf(scale, m.Time, true)).String()
	}}
}

func anyTimestamp(t *rapid.T) quantity {
	scale := rapid.IntRange(0, 7).Draw(t, "scale")
	typ := dateTime2(scale)
	switch {
	case scale == 0 && rapid.Bool().Draw(t, "small"):
		typ = smallDate
	case scale == 3 && rapid.Bool().Draw(t, "old"):
		typ = dateTime
	}
	w := anyWallClock(t, scale)
	return quantity{typ, w.in(anyZone(t)), func(m Modes) string {
		if m.Time == TimeISOString {
			return w.in(time.UTC).Format(`"2006-01-02T15:04:05.9999999Z"`)
		}
		n := w.since1970(decimalsOf(scale, m.Time, false))
		if !n.IsInt64() {
			return ""
		}
		return n.String()
	}}
}

func anyZoned(t *rapid.T) quantity {
	scale := rapid.IntRange(0, 7).Draw(t, "scale")
	at := anyWallClock(t, scale).in(anyZone(t))
	return quantity{scaled(DateTimeOffset, "datetimeoffset", scale), at, fixed(at.Format(`"2006-01-02T15:04:05.9999999Z07:00"`))}
}
