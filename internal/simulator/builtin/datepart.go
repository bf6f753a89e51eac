package builtin

import (
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// part is a unit of dates and times.
type part uint8

const (
	partYear part = iota
	partQuarter
	partMonth
	partDayOfYear
	partDay
	partWeek
	partISOWeek
	partWeekday
	partHour
	partMinute
	partSecond
	partMillisecond
	partMicrosecond
	partNanosecond
	partTZOffset
)

// partNames are the names and abbreviations of date parts (MS docs, DATEPART).
var partNames = map[string]part{
	"year": partYear, "yy": partYear, "yyyy": partYear,
	"quarter": partQuarter, "qq": partQuarter, "q": partQuarter,
	"month": partMonth, "mm": partMonth, "m": partMonth,
	"dayofyear": partDayOfYear, "dy": partDayOfYear, "y": partDayOfYear,
	"day": partDay, "dd": partDay, "d": partDay,
	"week": partWeek, "wk": partWeek, "ww": partWeek,
	"iso_week": partISOWeek, "isowk": partISOWeek, "isoww": partISOWeek,
	"weekday": partWeekday, "dw": partWeekday, "w": partWeekday,
	"hour": partHour, "hh": partHour,
	"minute": partMinute, "mi": partMinute, "n": partMinute,
	"second": partSecond, "ss": partSecond, "s": partSecond,
	"millisecond": partMillisecond, "ms": partMillisecond,
	"microsecond": partMicrosecond, "mcs": partMicrosecond,
	"nanosecond": partNanosecond, "ns": partNanosecond,
	"tzoffset": partTZOffset, "tz": partTZOffset,
}

// partNameOf is the full name of a part, for error texts.
var partNameOf = [...]string{
	"year", "quarter", "month", "dayofyear", "day", "week", "iso_week", "weekday",
	"hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "tzoffset",
}

// ticksOf are the 100 ns ticks of the parts of a day; a nanosecond has none.
var ticksOf = map[part]int64{
	partHour: sqltypes.TicksPerHour, partMinute: sqltypes.TicksPerMinute, partSecond: sqltypes.TicksPerSecond,
	partMillisecond: sqltypes.TicksPerSecond / 1000, partMicrosecond: sqltypes.TicksPerSecond / 1_000_000,
}

// parsePart reads a date part; a word that is none is error 155.
func parsePart(word, function string) (part, error) {
	p, ok := partNames[strings.ToLower(word)]
	if !ok {
		return 0, sqltypes.Errorf(155, 1, 15, "'%s' is not a recognized %s option.", word, strings.ToLower(function))
	}
	return p, nil
}

// unsupportedPart is error 9810.
func unsupportedPart(p part, function string, t sqltypes.Type) error {
	return sqltypes.Errorf(9810, 1, 16, "The datepart %s is not supported by date function %s for data type %s.",
		partNameOf[p], strings.ToLower(function), t.Name())
}

// checkPart refuses parts that a type does not have: times of a date, dates of a time,
// an offset of anything but datetimeoffset.
func checkPart(p part, function string, t sqltypes.Type) error {
	switch {
	case t.ID == sqltypes.Time && p < partHour,
		t.ID == sqltypes.Date && p >= partHour,
		p == partTZOffset && t.ID != sqltypes.DateTimeOffset && t.ID != sqltypes.DateTime2:
		return unsupportedPart(p, function, t)
	default:
		return nil
	}
}

// datePartFunctions read one part of a date.
var datePartFunctions = []Function{
	{Name: "DATEPART", MinArgs: 2, MaxArgs: 2, DatePart: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalDatePart},
	{Name: "DATENAME", MinArgs: 2, MaxArgs: 2, DatePart: true, ResultType: always(sqltypes.NVarCharOf(30)), Eval: evalDateName},
	{Name: "YEAR", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: onePart("YEAR", partYear)},
	{Name: "MONTH", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: onePart("MONTH", partMonth)},
	{Name: "DAY", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: onePart("DAY", partDay)},
}

// dateArgument returns an argument as a date or time: its own type, datetimeoffset for
// text, datetime for numbers.
func dateArgument(v sqltypes.Value, t sqltypes.Type) (sqltypes.Value, sqltypes.Type, error) {
	var to sqltypes.Type
	switch {
	case t.ID.IsTemporal():
		return v, t, nil
	case t.ID.IsText():
		to = sqltypes.Simple(sqltypes.DateTimeOffset)
	default:
		to = sqltypes.Simple(sqltypes.DateTime)
	}
	converted, err := sqltypes.Implicit(v, t, to)
	return converted, to, err
}

func evalDatePart(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	p, err := parsePart(args[0].Str(), "datepart")
	if err != nil {
		return sqltypes.Null(), err
	}
	return readArgument(env, "datepart", p, args[1], types[1])
}

func onePart(function string, p part) evalFunc {
	return func(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		return readArgument(env, function, p, args[0], types[0])
	}
}

func readArgument(env Env, function string, p part, v sqltypes.Value, t sqltypes.Type) (sqltypes.Value, error) {
	v, t, err := dateArgument(v, t)
	if err != nil {
		return sqltypes.Null(), err
	}
	if err := checkPart(p, function, t); err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.IntOf(int64(readPart(p, v, env.Session().DateFirst))), nil
}

// readPart returns a part of v.
func readPart(p part, v sqltypes.Value, dateFirst int) int {
	m := sqltypes.MomentOf(v)
	switch p {
	case partYear:
		return m.Year
	case partQuarter:
		return (m.Month + 2) / 3
	case partMonth:
		return m.Month
	case partDayOfYear:
		return m.Days - sqltypes.DaysOf(m.Year, 1, 1) + 1
	case partDay:
		return m.Day
	case partWeek:
		jan1 := sqltypes.DaysOf(m.Year, 1, 1)
		return (m.Days-jan1+weekdayOf(jan1, dateFirst)-1)/7 + 1
	case partISOWeek:
		return isoWeek(m.Days)
	case partWeekday:
		return weekdayOf(m.Days, dateFirst)
	case partHour:
		return int(m.Ticks / sqltypes.TicksPerHour)
	case partMinute:
		return int(m.Ticks / sqltypes.TicksPerMinute % 60)
	case partSecond:
		return int(m.Ticks / sqltypes.TicksPerSecond % 60)
	case partMillisecond:
		return subsecond(v, m) / 1_000_000
	case partMicrosecond:
		return subsecond(v, m) / 1000
	case partNanosecond:
		return subsecond(v, m)
	default:
		return m.Offset
	}
}

// subsecond returns the nanoseconds of the second. A datetime shows whole milliseconds.
func subsecond(v sqltypes.Value, m sqltypes.Moment) int {
	if v.Kind() == sqltypes.KindDateTime {
		ms := (v.Ticks()%sqltypes.Ticks300PerSecond*10 + 1) / 3
		return int(ms) * 1_000_000
	}
	return int(m.Ticks%sqltypes.TicksPerSecond) * 100
}

// weekdayOf counts from 1 for the day that SET DATEFIRST names (1 is Monday).
func weekdayOf(days, dateFirst int) int {
	if dateFirst == 0 {
		dateFirst = 7
	}
	return (sqltypes.Weekday(days)-dateFirst%7+7)%7 + 1
}

// isoWeek is the week of ISO 8601: weeks begin on Monday and belong to the year of
// their Thursday.
func isoWeek(days int) int {
	thursday := days - (sqltypes.Weekday(days)+6)%7 + 3
	year, _, _ := sqltypes.Civil(thursday)
	return (thursday-sqltypes.DaysOf(year, 1, 1))/7 + 1
}

func evalDateName(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	p, err := parsePart(args[0].Str(), "datename")
	if err != nil {
		return sqltypes.Null(), err
	}
	v, t, err := dateArgument(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	if err := checkPart(p, "datename", t); err != nil {
		return sqltypes.Null(), err
	}
	m := sqltypes.MomentOf(v)
	switch p {
	case partMonth:
		return sqltypes.StringOf(sqltypes.MonthNames[m.Month-1]), nil
	case partWeekday:
		return sqltypes.StringOf(sqltypes.DayNames[sqltypes.Weekday(m.Days)]), nil
	case partTZOffset:
		return sqltypes.StringOf(sqltypes.FormatOffset(m.Offset)), nil
	default:
		return sqltypes.StringOf(strconv.Itoa(readPart(p, v, env.Session().DateFirst))), nil
	}
}
