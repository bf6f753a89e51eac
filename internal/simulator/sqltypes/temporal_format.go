package sqltypes

import (
	"fmt"
	"strings"
)

// formatTemporal writes a date or time in a CONVERT style (MS docs, "CAST and CONVERT",
// "Date and time styles"). A style of which the type has nothing to show is error 8114,
// but 281 for a date in styles 14 and 114.
func formatTemporal(v Value, t, to Type, style int) (string, error) {
	if style == DefaultStyle {
		style = 121
		if t.ID == DateTime || t.ID == SmallDateTime {
			style = 100
		}
	}
	w := temporalWriter{Moment: MomentOf(v), typ: t}
	if t.ID == DateTimeOffset && style == 127 {
		m := momentOf(v)
		m = m.add(-int64(m.offset) * TicksPerMinute)
		w.Moment = MomentOf(DateTime2Of(m.days, m.ticks))
	}
	layout, ok := temporalStyles[style]
	if !ok {
		return "", invalidStyle(style, t)
	}
	date, clock := layout.date, layout.clock
	switch t.ID {
	case Date:
		clock = ""
	case Time:
		date = ""
	}
	if date == "" && clock == "" {
		if style == 14 || style == 114 {
			return "", invalidStyle(style, t)
		}
		return "", errorConverting(t, to.Name())
	}
	if t.ID == Time && !layout.padded {
		clock = strings.Replace(clock, "h", "k", 1)
	}
	if _, ok := hijriOf(w.Days); !ok && date != "" && (style == 130 || style == 131) {
		return "", errorConverting(t, to.Name())
	}
	var b strings.Builder
	w.write(&b, date)
	if date != "" && clock != "" {
		b.WriteString(layout.between)
	}
	w.write(&b, clock)
	if t.ID == DateTimeOffset && clock != "" {
		w.writeOffset(&b, style)
	}
	return b.String(), nil
}

// temporalStyle is a layout: Y year, y two digits of it, M month, N month's short
// name, D day, d day padded with a blank, j l r day padded with a blank, month and year
// of the Hijri calendar, L the month's name there, H hour, h hour of twelve padded with a
// blank, k the same without, m minute, s second, f fraction after a point, F the same
// after a colon for datetime, x the fraction unless it is zero, A AM or PM. Other
// characters stand for themselves.
type temporalStyle struct {
	date, between, clock string
	// padded styles keep the blank before the hour of a time, which has no date
	// before it.
	padded bool
}

var temporalStyles = map[int]temporalStyle{
	100: {date: "N d Y", between: " ", clock: "h:mA"},
	1:   {date: "M/D/y"}, 101: {date: "M/D/Y"},
	2: {date: "y.M.D"}, 102: {date: "Y.M.D"},
	3: {date: "D/M/y"}, 103: {date: "D/M/Y"},
	4: {date: "D.M.y"}, 104: {date: "D.M.Y"},
	5: {date: "D-M-y"}, 105: {date: "D-M-Y"},
	6: {date: "D N y"}, 106: {date: "D N Y"},
	7: {date: "N D, y"}, 107: {date: "N D, Y"},
	8: {clock: "H:m:s"}, 24: {clock: "H:m:s"}, 108: {clock: "H:m:s"},
	9: {date: "N d Y", between: " ", clock: "h:m:sFA"}, 109: {date: "N d Y", between: " ", clock: "h:m:sFA"},
	10: {date: "M-D-y"}, 110: {date: "M-D-Y"},
	11: {date: "y/M/D"}, 111: {date: "Y/M/D"},
	12: {date: "yMD"}, 112: {date: "YMD"},
	13: {date: "D N Y", between: " ", clock: "H:m:sF"}, 113: {date: "D N Y", between: " ", clock: "H:m:sF"},
	14: {clock: "H:m:sF"}, 114: {clock: "H:m:sF"},
	20: {date: "Y-M-D", between: " ", clock: "H:m:s"}, 120: {date: "Y-M-D", between: " ", clock: "H:m:s"},
	21: {date: "Y-M-D", between: " ", clock: "H:m:sf"}, 25: {date: "Y-M-D", between: " ", clock: "H:m:sf"}, 121: {date: "Y-M-D", between: " ", clock: "H:m:sf"},
	22:  {date: "M/D/y", between: " ", clock: "h:m:s A", padded: true},
	23:  {date: "Y-M-D"},
	126: {date: "Y-M-D", between: "T", clock: "H:m:sx"}, 127: {date: "Y-M-D", between: "T", clock: "H:m:sx"},
	130: {date: "j L r", between: " ", clock: "h:m:sFA", padded: true},
	131: {date: "j/l/r", between: " ", clock: "h:m:sFA", padded: true},
}

// temporalWriter fills layouts in.
type temporalWriter struct {
	Moment
	typ Type
}

func (w temporalWriter) write(b *strings.Builder, layout string) {
	seconds := w.Ticks / TicksPerSecond
	hour := seconds / 3600
	twelve := (hour+11)%12 + 1
	for i := range len(layout) {
		switch c := layout[i]; c {
		case 'Y':
			fmt.Fprintf(b, "%04d", w.Year)
		case 'y':
			fmt.Fprintf(b, "%02d", w.Year%100)
		case 'M':
			fmt.Fprintf(b, "%02d", w.Month)
		case 'N':
			b.WriteString(MonthNames[w.Month-1][:3])
		case 'D':
			fmt.Fprintf(b, "%02d", w.Day)
		case 'd':
			fmt.Fprintf(b, "%2d", w.Day)
		case 'H':
			fmt.Fprintf(b, "%02d", hour)
		case 'h':
			fmt.Fprintf(b, "%2d", twelve)
		case 'k':
			fmt.Fprintf(b, "%d", twelve)
		case 'j', 'l', 'L', 'r':
			w.writeHijri(b, c)
		case 'm':
			fmt.Fprintf(b, "%02d", seconds/60%60)
		case 's':
			fmt.Fprintf(b, "%02d", seconds%60)
		case 'f':
			b.WriteString(w.fraction("."))
		case 'F':
			b.WriteString(w.fraction(w.fractionMark()))
		case 'x':
			if w.fractionMark() == "." || w.Ticks%TicksPerSecond != 0 {
				b.WriteString(w.fraction("."))
			}
		case 'A':
			if hour < 12 {
				b.WriteString("AM")
			} else {
				b.WriteString("PM")
			}
		default:
			b.WriteByte(c)
		}
	}
}

func (w temporalWriter) writeHijri(b *strings.Builder, part byte) {
	date, _ := hijriOf(w.Days)
	switch part {
	case 'j':
		fmt.Fprintf(b, "%2d", date.day)
	case 'l':
		fmt.Fprintf(b, "%02d", date.month)
	case 'L':
		b.WriteString(hijriMonths[max(date.month, 1)-1])
	case 'r':
		fmt.Fprintf(b, "%d", date.year)
	}
}

// fractionMark is what stands before the fraction in the styles that write hh:mi:ss:mmm.
func (w temporalWriter) fractionMark() string {
	if w.typ.ID == DateTime || w.typ.ID == SmallDateTime {
		return ":"
	}
	return "."
}

// fraction writes as many digits as the type has: three for datetime and, as zeroes,
// for smalldatetime; none for a scale of 0.
func (w temporalWriter) fraction(mark string) string {
	scale := w.typ.Scale
	if w.typ.ID == DateTime || w.typ.ID == SmallDateTime {
		scale = 3
	}
	if scale == 0 {
		return ""
	}
	digits := w.Ticks % TicksPerSecond
	if w.typ.ID == DateTime {
		digits += ticksPerUnit(3) / 2 // thirds of milliseconds round to the nearest
	}
	return fmt.Sprintf("%s%0*d", mark, int(scale), digits/ticksPerUnit(scale))
}

func (w temporalWriter) writeOffset(b *strings.Builder, style int) {
	if style == 127 {
		b.WriteByte('Z')
		return
	}
	if style != 126 {
		b.WriteByte(' ')
	}
	b.WriteString(FormatOffset(w.Offset))
}

// FormatOffset writes minutes from UTC as "+05:30".
func FormatOffset(minutes int) string {
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60)
}
