package debezium

import (
	"strconv"
	"time"

	ours "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

// rules turn a value of Debezium's into ours.
var rules = map[string]func(debezium string) string{
	"our version":      func(string) string { return quoted(ours.Version) },
	"a second earlier": aSecondEarlier,
	"ten days earlier": tenDaysEarlier,
	"not Julian":       notJulian,
}

// zonedText is the form of ISO 8601 texts in quotes.
const zonedText = `"2006-01-02T15:04:05.9999999Z07:00"`

// aSecondEarlier takes a second from an ISO 8601 text in quotes.
func aSecondEarlier(text string) string {
	at, err := time.Parse(zonedText, text)
	if err != nil {
		return absent
	}
	return at.Add(-time.Second).Format(zonedText)
}

// The days that a calendar with a change from Julian to Gregorian does not have,
// moved behind it by ten days.
var (
	movedFirst = time.Date(1582, 10, 15, 0, 0, 0, 0, time.UTC)
	movedEnd   = movedFirst.AddDate(0, 0, 10)
)

// tenDaysEarlier moves back a day that Debezium has moved: a text, or a number
// of days, milli- or microseconds since 1970.
func tenDaysEarlier(text string) string {
	moved := func(at time.Time) bool { return !at.Before(movedFirst) && at.Before(movedEnd) }
	for _, layout := range []string{zonedText, `"2006-01-02Z07:00"`} {
		if at, err := time.Parse(layout, text); err == nil && moved(at) {
			return at.AddDate(0, 0, -10).Format(layout)
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return absent
	}
	const day = 24 * 60 * 60
	switch {
	case moved(time.Unix(n*day, 0)):
		return strconv.FormatInt(n-10, 10)
	case moved(time.UnixMilli(n)):
		return strconv.FormatInt(n-10*day*1e3, 10)
	case moved(time.UnixMicro(n)):
		return strconv.FormatInt(n-10*day*1e6, 10)
	}
	return absent
}

// notJulian turns an ISO 8601 text whose date in UTC was read as one of the
// Julian calendar into what was read. Its second is off too if there is a
// fraction; see aSecondEarlier.
func notJulian(text string) string {
	at, err := time.Parse(zonedText, text)
	if err != nil {
		return absent
	}
	if at.Nanosecond() >= int(time.Millisecond) {
		at = at.Add(-time.Second)
	}
	utc := at.UTC()
	year, month, day := julianDate(utc)
	hour, minute, second := utc.Clock()
	return time.Date(year, month, day, hour, minute, second, utc.Nanosecond(), time.UTC).In(at.Location()).Format(zonedText)
}

// julianDate is the date of a day in the Julian calendar.
// Source: E. G. Richards, Calendars (in Explanatory Supplement to the
// Astronomical Almanac, 3rd edition, 15.11), algorithm 3.
func julianDate(at time.Time) (year int, month time.Month, day int) {
	const secondsPerDay, dayNumberOf1970 = 24 * 60 * 60, 2440588
	seconds := at.Unix() + (dayNumberOf1970+1401)*secondsPerDay // days of positive numbers
	f := int(seconds / secondsPerDay)
	e := 4*f + 3
	h := 5*(e%1461/4) + 2
	month = time.Month((h/153+2)%12 + 1)
	return e/1461 - 4716 + (14-int(month))/12, month, h%153/5 + 1
}
