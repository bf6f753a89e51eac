package sqltypes

import (
	"strings"
)

// parseResult tells text that is no date from text that names one which does not
// exist: the old types have an error for each.
type parseResult uint8

const (
	parseOK parseResult = iota
	parseSyntax
	parseRange
	// parseStyle is a numeric date in a style that has none.
	parseStyle
)

// maxOffset is the greatest distance from UTC, in minutes.
const maxOffset = 14 * 60

// parsedTemporal is a date and time as read from text.
type parsedTemporal struct {
	moment
	fractionDigits int
	hasOffset      bool
	zulu           bool
}

// temporalParser reads the string formats of "Supported string literal formats for
// datetime" (MS docs): ISO 8601, unseparated, numeric and alphabetic dates, times with
// AM and PM, in any order.
type temporalParser struct {
	rest    string
	reading dateReading
	numbers []dateNumber
	month   int // from a month's name; 0 for none
	// monthAfter is how many numbers stood before the month's name.
	monthAfter int
	hasTime    bool
	// iso is set by the T between date and time.
	iso bool
	out parsedTemporal
}

// dateNumber is one of the numbers that make up a date.
type dateNumber struct {
	value, digits int
}

// parseTemporal reads a date, a time or both. A missing date is 1900-01-01, a missing
// time midnight, empty text both.
func parseTemporal(s string, reading dateReading) (parsedTemporal, parseResult) {
	p := &temporalParser{rest: strings.Trim(s, blanks), reading: reading}
	for p.rest != "" {
		if r := p.token(); r != parseOK {
			return parsedTemporal{}, r
		}
	}
	if r := p.finishDate(); r != parseOK {
		return parsedTemporal{}, r
	}
	return p.out, parseOK
}

func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// digits takes a run of digits off the text.
func (p *temporalParser) digits() string {
	i := 0
	for i < len(p.rest) && isDigit(p.rest[i]) {
		i++
	}
	run := p.rest[:i]
	p.rest = p.rest[i:]
	return run
}

func (p *temporalParser) skipBlanks() { p.rest = strings.TrimLeft(p.rest, blanks) }

func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// token reads one part of the text.
func (p *temporalParser) token() parseResult {
	switch b := p.rest[0]; {
	case isDigit(b):
		return p.numeric()
	case isLetter(b):
		return p.word()
	case p.hasTime && (b == '+' || b == '-'):
		return p.offset()
	case strings.IndexByte(" \t\n\v\f\r,/-.", b) >= 0:
		if b != ' ' && len(p.numbers) == 0 && p.month == 0 {
			return parseSyntax
		}
		p.rest = p.rest[1:]
		return parseOK
	default:
		return parseSyntax
	}
}

// numeric reads a number of a date, or a time that begins here.
func (p *temporalParser) numeric() parseResult {
	digits := p.digits()
	if len(digits) > 8 {
		return parseSyntax
	}
	if strings.HasPrefix(p.rest, ":") {
		return p.time(digits)
	}
	if len(digits) <= 2 && p.meridiemFollows() {
		return p.time(digits)
	}
	p.numbers = append(p.numbers, dateNumber{number(digits), len(digits)})
	return parseOK
}

// meridiemFollows reports AM or PM after optional blanks.
func (p *temporalParser) meridiemFollows() bool {
	rest := strings.TrimLeft(p.rest, blanks)
	if len(rest) < 2 || len(rest) > 2 && isLetter(rest[2]) {
		return false
	}
	word := strings.ToUpper(rest[:2])
	return word == "AM" || word == "PM"
}

// time reads what follows the hour.
func (p *temporalParser) time(hourDigits string) parseResult {
	if p.hasTime || len(hourDigits) > 2 {
		return parseSyntax
	}
	p.hasTime = true
	var part [3]int // hour, minute, second
	part[0] = number(hourDigits)
	for i := 1; i < 3 && strings.HasPrefix(p.rest, ":"); i++ {
		p.rest = p.rest[1:]
		digits := p.digits()
		if digits == "" || len(digits) > 2 {
			return parseSyntax
		}
		part[i] = number(digits)
	}
	fraction, r := p.fraction()
	if r != parseOK {
		return r
	}
	if p.meridiemFollows() {
		p.skipBlanks()
		pm := p.rest[0]|0x20 == 'p'
		p.rest = p.rest[2:]
		switch {
		case pm && part[0] < 12:
			part[0] += 12
		case !pm && part[0] == 12:
			part[0] = 0
		case !pm && part[0] > 12:
			return parseRange
		}
	}
	if part[0] > 23 || part[1] > 59 || part[2] > 59 {
		return parseRange
	}
	p.out.ticks = int64(part[0])*TicksPerHour + int64(part[1])*TicksPerMinute + int64(part[2])*TicksPerSecond + fraction
	return parseOK
}

// fraction reads ".5", a decimal fraction, or ":005", thousandths.
func (p *temporalParser) fraction() (ticks int64, r parseResult) {
	if p.rest == "" || p.rest[0] != '.' && p.rest[0] != ':' {
		return 0, parseOK
	}
	colon := p.rest[0] == ':'
	p.rest = p.rest[1:]
	digits := p.digits()
	if digits == "" || len(digits) > 7 || colon && len(digits) > 3 {
		return 0, parseSyntax
	}
	p.out.fractionDigits = len(digits)
	if colon {
		return int64(number(digits)) * TicksPerSecond / 1000, parseOK
	}
	return int64(number(digits)) * ticksPerUnit(uint8(len(digits))), parseOK
}

// offset reads "+05:30" after a time.
func (p *temporalParser) offset() parseResult {
	neg := p.rest[0] == '-'
	p.rest = p.rest[1:]
	p.skipBlanks()
	hours := p.digits()
	if hours == "" || len(hours) > 2 || !strings.HasPrefix(p.rest, ":") || p.out.hasOffset {
		return parseSyntax
	}
	p.rest = p.rest[1:]
	minutes := p.digits()
	if len(minutes) != 2 {
		return parseSyntax
	}
	total := number(hours)*60 + number(minutes)
	if total > maxOffset || number(minutes) > 59 {
		return parseRange
	}
	if neg {
		total = -total
	}
	p.out.hasOffset, p.out.moment.offset = true, total
	return parseOK
}

// MonthNames are the English names, January first.
var MonthNames = [...]string{
	"January", "February", "March", "April", "May", "June",
	"July", "August", "September", "October", "November", "December",
}

// DayNames are the English names, Sunday first.
var DayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

// word reads a month's name, ISO 8601's T before the time, or its Z.
func (p *temporalParser) word() parseResult {
	i := 0
	for i < len(p.rest) && isLetter(p.rest[i]) {
		i++
	}
	word := p.rest[:i]
	p.rest = p.rest[i:]
	switch {
	case strings.EqualFold(word, "T"):
		if len(p.numbers) != 3 || p.hasTime || p.rest == "" || !isDigit(p.rest[0]) {
			return parseSyntax
		}
		p.iso = true
		return parseOK
	case strings.EqualFold(word, "Z"):
		if !p.hasTime || p.out.hasOffset || p.rest != "" {
			return parseSyntax
		}
		p.out.hasOffset, p.out.zulu = true, true
		return parseOK
	}
	if p.month != 0 {
		return parseSyntax
	}
	for i, name := range MonthNames {
		if strings.EqualFold(word, name) || strings.EqualFold(word, name[:3]) {
			p.month, p.monthAfter = i+1, len(p.numbers)
			return parseOK
		}
	}
	return parseSyntax
}

// finishDate makes a date of the numbers read.
func (p *temporalParser) finishDate() parseResult {
	year, month, day := 1900, 1, 1
	switch n := p.numbers; {
	case p.month != 0:
		var r parseResult
		if year, day, r = p.alphabetic(); r != parseOK {
			return r
		}
		month = p.month
	case len(n) == 0:
	case len(n) == 1:
		switch n[0].digits {
		case 8:
			year, month, day = n[0].value/10000, n[0].value/100%100, n[0].value%100
		case 6:
			year, month, day = fullYear(n[0].value/10000), n[0].value/100%100, n[0].value%100
		case 4:
			year = n[0].value
		default:
			return parseSyntax
		}
	case len(n) == 3:
		var r parseResult
		if year, month, day, r = p.numericDate(); r != parseOK {
			return r
		}
		if p.reading.hijri && !p.iso {
			days, ok := hijriDate{year, month, day}.dayNumber()
			if !ok {
				return parseRange
			}
			p.out.days = days
			return parseOK
		}
	default:
		return parseSyntax
	}
	if !validDate(year, month, day) {
		return parseRange
	}
	p.out.days = DaysOf(year, month, day)
	return parseOK
}

// alphabetic reads the numbers beside a month's name: the one of four digits is the
// year, of two the first is the day, a single short one is the year.
func (p *temporalParser) alphabetic() (year, day int, r parseResult) {
	n := p.numbers
	switch {
	case len(n) == 1 && (n[0].digits == 4 || n[0].digits == 2):
		return yearOf(n[0]), 1, parseOK
	case len(n) != 2:
		return 0, 0, parseSyntax
	case n[0].digits == 4 && n[1].digits <= 2:
		return n[0].value, n[1].value, parseOK
	case n[0].digits <= 2 && (n[1].digits == 4 || n[1].digits == 2):
		return yearOf(n[1]), n[0].value, parseOK
	default:
		return 0, 0, parseSyntax
	}
}

// numericDate reads three numbers in the order of the style, whose year has two or
// four digits.
func (p *temporalParser) numericDate() (year, month, day int, r parseResult) {
	a, b, c := p.numbers[0], p.numbers[1], p.numbers[2]
	order := p.reading.order
	switch {
	case p.iso && (a.digits == 4 || p.reading.long):
		order = orderYMD
	case order == orderNone:
		return 0, 0, 0, parseStyle
	case a.digits == 4 && order != orderYMD:
		if !p.reading.yearFirst {
			return 0, 0, 0, parseSyntax
		}
		// The other two stay in the style's own order.
		a, b, c = b, c, a
	}
	switch order {
	case orderYMD:
		a, b, c = b, c, a
	case orderDMY:
		a, b = b, a
	}
	if a.digits > 2 || b.digits > 2 || !p.iso && !p.reading.wants(c.digits) || c.digits != 2 && c.digits != 4 {
		return 0, 0, 0, parseSyntax
	}
	return yearOf(c), a.value, b.value, parseOK
}

func yearOf(n dateNumber) int {
	if n.digits == 4 {
		return n.value
	}
	return fullYear(n.value)
}

// fullYear applies the server's two-digit year cutoff, 2049.
func fullYear(yy int) int {
	if yy < 50 {
		return 2000 + yy
	}
	return 1900 + yy
}
