package builtin

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// formatFunctions hold FORMAT, which writes numbers and dates in .NET's format strings.
// Only the cultures en-US and invariant are here; others are error 9818.
var formatFunctions = []Function{
	{Name: "FORMAT", MinArgs: 2, MaxArgs: 3, ResultType: formatType, Eval: evalFormat},
}

func formatType(args []sqltypes.Type) (sqltypes.Type, error) {
	if t := args[0]; !t.ID.IsNumber() && !t.ID.IsTemporal() && t.ID != sqltypes.Unknown || t.ID == sqltypes.Bit {
		return sqltypes.Type{}, invalidArgument(t, 1, "format")
	}
	return sqltypes.NVarCharOf(4000), nil
}

// checkCulture is error 9818 for a culture that is not served.
func checkCulture(name string) error {
	switch strings.ToLower(name) {
	case "", "en-us", "en", "iv":
		return nil
	default:
		return sqltypes.Errorf(9818, 1, 16, "The culture parameter '%s' provided in the function call is not supported.", name)
	}
}

// evalFormat gives NULL for a format that does not fit the value.
func evalFormat(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if len(args) == 3 {
		if err := checkCulture(args[2].Str()); err != nil {
			return sqltypes.Null(), err
		}
	}
	format := args[1].Str()
	if types[0].ID.IsTemporal() {
		text, ok := formatDate(args[0], types[0], format)
		if !ok {
			return sqltypes.Null(), nil
		}
		return sqltypes.StringOf(text), nil
	}
	text, ok := formatNumber(args[0], types[0], format)
	if !ok {
		return sqltypes.Null(), nil
	}
	return sqltypes.StringOf(text), nil
}

// standardDates are .NET's one-letter date formats for en-US.
var standardDates = map[string]string{
	"d": "M/d/yyyy", "D": "dddd, MMMM d, yyyy", "f": "dddd, MMMM d, yyyy h:mm tt", "F": "dddd, MMMM d, yyyy h:mm:ss tt",
	"g": "M/d/yyyy h:mm tt", "G": "M/d/yyyy h:mm:ss tt", "m": "MMMM d", "M": "MMMM d", "o": "yyyy-MM-ddTHH:mm:ss.fffffff",
	"O": "yyyy-MM-ddTHH:mm:ss.fffffff", "s": "yyyy-MM-ddTHH:mm:ss", "t": "h:mm tt", "T": "h:mm:ss tt",
	"u": "yyyy-MM-dd HH:mm:ssZ", "y": "MMMM yyyy", "Y": "MMMM yyyy",
}

// formatDate fills a .NET date format in. A time of day takes only the lower-case
// letters of .NET's TimeSpan, in which : and . need a backslash.
func formatDate(v sqltypes.Value, t sqltypes.Type, format string) (string, bool) {
	if len(format) == 1 {
		standard, ok := standardDates[format]
		if !ok || t.ID == sqltypes.Time {
			return "", false
		}
		format = standard
	}
	m := sqltypes.MomentOf(v)
	// .NET has a datetime in whole milliseconds.
	m.Ticks += int64(subsecond(v, m)/100) - m.Ticks%sqltypes.TicksPerSecond
	var b strings.Builder
	for i := 0; i < len(format); {
		c := format[i]
		switch c {
		case '\\', '%':
			i++
			if c == '\\' && i < len(format) {
				b.WriteByte(format[i])
				i++
			}
			continue
		case '\'', '"':
			end := strings.IndexByte(format[i+1:], c)
			if end < 0 {
				return "", false
			}
			b.WriteString(format[i+1 : i+1+end])
			i += end + 2
			continue
		}
		run := 1
		for i+run < len(format) && format[i+run] == c {
			run++
		}
		if t.ID == sqltypes.Time && strings.IndexByte("hmsfF", c) < 0 {
			return "", false
		}
		writeDateSpecifier(&b, m, t, c, run)
		i += run
	}
	return b.String(), true
}

func writeDateSpecifier(b *strings.Builder, m sqltypes.Moment, t sqltypes.Type, c byte, run int) {
	hour := int(m.Ticks / sqltypes.TicksPerHour)
	padded := func(n int) { fmt.Fprintf(b, "%0*d", min(run, 2), n) }
	switch c {
	case 'y':
		if run <= 2 {
			padded(m.Year % 100)
		} else {
			fmt.Fprintf(b, "%0*d", run, m.Year)
		}
	case 'M':
		writeName(b, run, m.Month, sqltypes.MonthNames[m.Month-1])
	case 'd':
		writeName(b, run, m.Day, sqltypes.DayNames[sqltypes.Weekday(m.Days)])
	case 'H':
		padded(hour)
	case 'h':
		if t.ID != sqltypes.Time {
			hour = (hour+11)%12 + 1
		}
		padded(hour)
	case 'm':
		padded(int(m.Ticks / sqltypes.TicksPerMinute % 60))
	case 's':
		padded(int(m.Ticks / sqltypes.TicksPerSecond % 60))
	case 'f', 'F':
		digits := fmt.Sprintf("%07d", m.Ticks%sqltypes.TicksPerSecond)[:min(run, 7)]
		if c == 'F' {
			digits = strings.TrimRight(digits, "0")
		}
		b.WriteString(digits)
	case 't':
		b.WriteString([]string{"AM", "PM"}[hour/12][:min(run, 2)])
	case 'z', 'K':
		if c == 'K' && t.ID != sqltypes.DateTimeOffset {
			return
		}
		writeZone(b, m.Offset, c, run)
	default:
		b.WriteString(strings.Repeat(string(c), run))
	}
}

// writeName writes a number with one or two letters, a short name with three, the whole
// name with more.
func writeName(b *strings.Builder, run, number int, name string) {
	switch {
	case run <= 2:
		fmt.Fprintf(b, "%0*d", run, number)
	case run == 3:
		b.WriteString(name[:3])
	default:
		b.WriteString(name)
	}
}

func writeZone(b *strings.Builder, offset int, c byte, run int) {
	text := sqltypes.FormatOffset(offset)
	switch {
	case c == 'K' || run >= 3:
		b.WriteString(text)
	case run == 2:
		b.WriteString(text[:3])
	default:
		b.WriteString(text[:1] + strings.TrimPrefix(text[1:3], "0"))
	}
}

// formatNumber fills a .NET number format in: a standard one of a letter and a
// precision, or a picture of 0, #, point, comma, percent and literals.
func formatNumber(v sqltypes.Value, t sqltypes.Type, format string) (string, bool) {
	d, err := sqltypes.Convert(v, t, sqltypes.NumericOf(sqltypes.MaxPrecision, numberScale(t)), sqltypes.DefaultStyle)
	if err != nil {
		return "", false
	}
	number := d.Dec()
	if format == "" {
		format = "G"
	}
	if letter := format[0] &^ 0x20; len(format) <= 3 && letter >= 'A' && letter <= 'Z' {
		precision := -1
		if len(format) > 1 {
			n, err := strconv.Atoi(format[1:])
			if err != nil {
				return "", false
			}
			precision = n
		}
		return standardNumber(number, v, t, format[0], precision)
	}
	return numberPicture(number, format), true
}

// numberScale is the scale at which a number is formatted.
func numberScale(t sqltypes.Type) uint8 {
	switch {
	case t.ID.IsDecimal():
		return t.Scale
	case t.ID.IsMoney():
		return 4
	case t.ID.IsFloat():
		return 15
	default:
		return 0
	}
}

func standardNumber(d sqltypes.Dec, v sqltypes.Value, t sqltypes.Type, letter byte, precision int) (string, bool) {
	digits := func(fallback int) int {
		if precision < 0 {
			return fallback
		}
		return precision
	}
	negative := d.Neg
	d.Neg = false
	sign := ""
	if negative {
		sign = "-"
	}
	switch letter &^ 0x20 {
	case 'N':
		return sign + grouped(fixed(d, digits(2))), true
	case 'F':
		return sign + fixed(d, digits(2)), true
	case 'C':
		text := "$" + grouped(fixed(d, digits(2)))
		if negative {
			return "(" + text + ")", true
		}
		return text, true
	case 'P':
		return sign + grouped(fixed(timesHundred(d), digits(2))) + " %", true
	case 'D':
		if !t.ID.IsInteger() {
			return "", false
		}
		text := d.String()
		return sign + strings.Repeat("0", max(0, digits(0)-len(text))) + text, true
	case 'X':
		if !t.ID.IsInteger() {
			return "", false
		}
		text := strconv.FormatUint(uint64(v.Int64())&(math.MaxUint64>>(64-8*min(t.MaxLength(), 8))), 16)
		if letter == 'X' {
			text = strings.ToUpper(text)
		}
		return strings.Repeat("0", max(0, digits(0)-len(text))) + text, true
	case 'G':
		if t.ID.IsFloat() {
			return strconv.FormatFloat(v.Float64(), 'G', digits(15), 64), true
		}
		return sign + d.String(), true
	case 'E':
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(d.Float64(), 'e', digits(6), 64), "e")
		return sign + mantissa + string(letter) + exponent[:1] + strings.Repeat("0", max(0, 4-len(exponent))) + exponent[1:], true
	default:
		return "", false
	}
}

// timesHundred moves the point by two digits.
func timesHundred(d sqltypes.Dec) sqltypes.Dec {
	if d.Scale < 2 {
		d, _ = d.Rescale(2)
	}
	d.Scale -= 2
	return d
}

// fixed writes d with exactly n decimals.
func fixed(d sqltypes.Dec, n int) string {
	if n > int(d.Scale) {
		text := d.String()
		if d.Scale == 0 && n > 0 {
			text += "."
		}
		return text + strings.Repeat("0", n-int(d.Scale))
	}
	rounded, _ := d.Rescale(uint8(n))
	return rounded.String()
}

// grouped puts commas between thousands.
func grouped(text string) string {
	whole, fraction, hasPoint := strings.Cut(text, ".")
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if hasPoint {
		b.WriteString("." + fraction)
	}
	return b.String()
}
