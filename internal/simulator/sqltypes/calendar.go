package sqltypes

// Days are counted from 0001-01-01 of the proleptic Gregorian calendar, the first
// date SQL Server has.
const (
	// MaxDays is 9999-12-31.
	MaxDays = 3652058
	// Days1900 is 1900-01-01, from which datetime counts.
	Days1900 = 693595
	// days1753 is 1753-01-01, the first datetime, counted from 1900.
	days1753 = -53690
	// maxDateTimeDays is 9999-12-31 counted from 1900.
	maxDateTimeDays = MaxDays - Days1900
	// maxSmallDateTimeDays is 2079-06-06 counted from 1900.
	maxSmallDateTimeDays = 65535
)

// Ticks of 100 ns.
const (
	TicksPerSecond = int64(10_000_000)
	TicksPerMinute = 60 * TicksPerSecond
	TicksPerHour   = 60 * TicksPerMinute
	TicksPerDay    = 24 * TicksPerHour
)

// Ticks of 1/300 s, in which datetime counts the time of day.
const (
	Ticks300PerSecond = int64(300)
	Ticks300PerMinute = 60 * Ticks300PerSecond
	Ticks300PerDay    = 24 * 60 * Ticks300PerMinute
)

// DaysOf returns the day number of a date; month and day must be in range for the
// result to mean that date.
func DaysOf(year, month, day int) int {
	// Years begin in March here, so that the leap day is the last of its year.
	y, m := year, month-3
	if m < 0 {
		y, m = y-1, m+12
	}
	const fromMarch1OfYear0 = 306
	return 365*y + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400) + (153*m+2)/5 + day - 1 - fromMarch1OfYear0
}

// Civil returns the date of a day number.
func Civil(days int) (year, month, day int) {
	const daysPer400Years = 146097
	n := days + 306
	era := floorDiv(n, daysPer400Years)
	doe := n - era*daysPer400Years
	yoe := (doe - doe/1460 + doe/36524 - doe/(daysPer400Years-1)) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	month = mp + 3
	year = yoe + era*400
	if month > 12 {
		month, year = month-12, year+1
	}
	return year, month, day
}

// DaysInMonth returns 28 to 31.
func DaysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// Weekday returns 0 for Sunday to 6 for Saturday.
func Weekday(days int) int { return floorMod(days+1, 7) }

// validDate reports a date that exists, of the years 1 to 9999.
func validDate(year, month, day int) bool {
	return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= DaysInMonth(year, month)
}

func floorDiv[I ~int | ~int64](a, b I) I {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod[I ~int | ~int64](a, b I) I {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}
