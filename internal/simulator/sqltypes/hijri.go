package sqltypes

// hijriEpoch is the day number of the first day of the Hijri calendar, 18 July 622
// of the Gregorian one.
const hijriEpoch = 227013

// hijriMonths are the names that style 130 writes.
var hijriMonths = [...]string{
	"محرم", "صفر", "ربيع الاول", "ربيع الثاني", "جمادى الاولى", "جمادى الثانية",
	"رجب", "شعبان", "رمضان", "شوال", "ذو القعدة", "ذو الحجة",
}

// hijriDate is a date of the tabular Islamic calendar: months of 30 and 29 days in
// turn, eleven leap years in thirty, which MS docs, "CAST and CONVERT", call the
// Kuwaiti algorithm.
type hijriDate struct{ year, month, day int }

// daysBeforeHijriYear counts the days of the calendar before a year.
func daysBeforeHijriYear(year int) int { return 354*(year-1) + (11*year+3)/30 }

func daysBeforeHijriMonth(month int) int { return 29*(month-1) + month/2 }

// hijriOf returns the Hijri date of a day number; ok is false before the calendar
// begins.
func hijriOf(days int) (date hijriDate, ok bool) {
	days -= hijriEpoch
	if days < 0 {
		return hijriDate{}, false
	}
	date.year = days/355 + 1
	for daysBeforeHijriYear(date.year+1) <= days {
		date.year++
	}
	days -= daysBeforeHijriYear(date.year)
	date.month = 1
	for date.month < 12 && daysBeforeHijriMonth(date.month+1) <= days {
		date.month++
	}
	date.day = days - daysBeforeHijriMonth(date.month) + 1
	return date, true
}

// dayNumber returns the day number of a Hijri date; ok is false for one that does
// not exist.
func (d hijriDate) dayNumber() (days int, ok bool) {
	if d.year < 1 || d.month < 1 || d.month > 12 || d.day < 1 {
		return 0, false
	}
	days = hijriEpoch + daysBeforeHijriYear(d.year) + daysBeforeHijriMonth(d.month) + d.day - 1
	back, ok := hijriOf(days)
	return days, ok && back == d && days <= MaxDays
}
