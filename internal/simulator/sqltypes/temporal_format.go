package sqltypes

import (
	"fmt"
	"strings"
)

// formatTemporal writes a date or time in a CONVERT style (MS docs, "CAST and CONVERT",
// "Date and time styles").
func formatTemporal(v Value, t Type, style int) (string, error) {
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
		return "", Errorf(9809, 2, 16, "The style %d is not supported for conversions from %s to %s.", style, t.Name(), VarChar.Name())
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
// name, D day, d day padded with a blank, H hour, h hour of twelve padded with a blank,
// g hour of twelve padded with 0, m minute, s second, f fraction after a point, F the
// same after a colon for datetime, x the fraction unless it is zero, A AM or PM. Other
// characters stand for themselves.
type temporalStyle struct{ date, between, clock string }

var temporalStyles = map[int]temporalStyle{
	100: {"N d Y", " ", "h:mA"},
	1:   {"M/D/y", "", ""}, 101: {"M/D/Y", "", ""},
	2: {"y.M.D", "", ""}, 102: {"Y.M.D", "", ""},
	3: {"D/M/y", "", ""}, 103: {"D/M/Y", "", ""},
	4: {"D.M.y", "", ""}, 104: {"D.M.Y", "", ""},
	5: {"D-M-y", "", ""}, 105: {"D-M-Y", "", ""},
	6: {"D N y", "", ""}, 106: {"D N Y", "", ""},
	7: {"N D, y", "", ""}, 107: {"N D, Y", "", ""},
	8: {"", "", "H:m:s"}, 24: {"", "", "H:m:s"}, 108: {"", "", "H:m:s"},
	9: {"N d Y", " ", "h:m:sFA"}, 109: {"N d Y", " ", "h:m:sFA"},
	10: {"M-D-y", "", ""}, 110: {"M-D-Y", "", ""},
	11: {"y/M/D", "", ""}, 111: {"Y/M/D", "", ""},
	12: {"yMD", "", ""}, 112: {"YMD", "", ""},
	13: {"D N Y", " ", "H:m:sF"}, 113: {"D N Y", " ", "H:m:sF"},
	14: {"", "", "H:m:sF"}, 114: {"", "", "H:m:sF"},
	20: {"Y-M-D", " ", "H:m:s"}, 120: {"Y-M-D", " ", "H:m:s"},
	21: {"Y-M-D", " ", "H:m:sf"}, 25: {"Y-M-D", " ", "H:m:sf"}, 121: {"Y-M-D", " ", "H:m:sf"},
	22:  {"M/D/y", " ", "h:m:s A"},
	23:  {"Y-M-D", "", ""},
	126: {"Y-M-D", "T", "H:m:sx"}, 127: {"Y-M-D", "T", "H:m:sx"},
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
