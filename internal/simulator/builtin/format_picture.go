package builtin

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// picture is a custom number format taken apart.
type picture struct {
	before, after     string // literals around the digits
	minWhole          int    // zeroes before the point
	minFrac, maxFrac  int
	grouped, percent  bool
	digitPlaceholders int
}

// numberPicture writes d in a custom format, which may have sections for positive,
// negative and zero, divided by semicolons.
func numberPicture(d sqltypes.Dec, format string) string {
	sections := strings.Split(format, ";")
	section, negative := sections[0], d.Neg
	switch {
	case d.IsZero() && len(sections) > 2:
		section = sections[2]
	case d.Neg && len(sections) > 1 && sections[1] != "":
		section, negative = sections[1], false
	}
	d.Neg = false
	p := parsePicture(section)
	if p.percent {
		d = timesHundred(d)
	}
	if p.digitPlaceholders == 0 {
		return p.before + p.after
	}
	text := fixed(d, p.maxFrac)
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	whole = strings.Repeat("0", max(0, p.minWhole-len(whole))) + whole
	for len(fraction) > p.minFrac && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	if p.grouped {
		whole = grouped(whole)
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && strings.Trim(text, "0.") != "" {
		return "-" + p.before + whole + p.after
	}
	return p.before + whole + p.after
}

// parsePicture reads one section. Literals between digits are left out.
func parsePicture(section string) picture {
	var p picture
	inFraction, sawDigit := false, false
	literal := func(s string) {
		if sawDigit {
			p.after += s
		} else {
			p.before += s
		}
	}
	for i := 0; i < len(section); i++ {
		switch c := section[i]; c {
		case '0', '#':
			sawDigit = true
			p.digitPlaceholders++
			switch {
			case inFraction:
				p.maxFrac++
				if c == '0' {
					p.minFrac = p.maxFrac
				}
			case c == '0' || p.minWhole > 0:
				p.minWhole++
			}
		case '.':
			inFraction = true
		case ',':
			p.grouped = p.grouped || sawDigit && !inFraction
		case '%':
			p.percent = true
			literal("%")
		case '\\':
			if i++; i < len(section) {
				literal(section[i : i+1])
			}
		case '\'', '"':
			end := strings.IndexByte(section[i+1:], c)
			if end < 0 {
				end = len(section) - i - 1
			}
			literal(section[i+1 : i+1+end])
			i += end + 1
		default:
			literal(section[i : i+1])
		}
	}
	return p
}
