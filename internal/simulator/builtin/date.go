package builtin

import (
	"math"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// dateFunctions calculate with dates and build them.
var dateFunctions = []Function{
	{Name: "DATEADD", MinArgs: 3, MaxArgs: 3, DatePart: true, Deterministic: true, ResultType: dateAddType, Eval: evalDateAdd},
	{Name: "DATEDIFF", MinArgs: 3, MaxArgs: 3, DatePart: true, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalDateDiff},
	{Name: "DATEDIFF_BIG", MinArgs: 3, MaxArgs: 3, DatePart: true, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.BigInt)), Eval: evalDateDiffBig},
	{Name: "DATETRUNC", MinArgs: 2, MaxArgs: 2, DatePart: true, ResultType: dateTruncType, Eval: evalDateTrunc},
	{Name: "EOMONTH", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Date)), Eval: evalEndOfMonth, nulls: true},
	{Name: "ISDATE", MinArgs: 1, MaxArgs: 1, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalIsDate, nulls: true},
	{Name: "SWITCHOFFSET", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: offsetType, Eval: evalSwitchOffset},
	{Name: "TODATETIMEOFFSET", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: offsetType, Eval: evalToDateTimeOffset},
	{Name: "DATEFROMPARTS", MinArgs: 3, MaxArgs: 3, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Date)), Eval: fromParts(sqltypes.Date)},
	{Name: "DATETIMEFROMPARTS", MinArgs: 7, MaxArgs: 7, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.DateTime)), Eval: fromParts(sqltypes.DateTime)},
	{Name: "SMALLDATETIMEFROMPARTS", MinArgs: 5, MaxArgs: 5, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.SmallDateTime)), Eval: fromParts(sqltypes.SmallDateTime)},
	{Name: "DATETIME2FROMPARTS", MinArgs: 8, MaxArgs: 8, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.DateTime2)), Eval: fromParts(sqltypes.DateTime2)},
	{Name: "DATETIMEOFFSETFROMPARTS", MinArgs: 10, MaxArgs: 10, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.DateTimeOffset)), Eval: fromParts(sqltypes.DateTimeOffset)},
	{Name: "TIMEFROMPARTS", MinArgs: 5, MaxArgs: 5, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Time)), Eval: fromParts(sqltypes.Time)},
}

// dateAddType is the type of the date; text and numbers are datetime.
func dateAddType(args []sqltypes.Type) (sqltypes.Type, error) {
	if args[2].ID.IsTemporal() {
		return args[2], nil
	}
	return sqltypes.Simple(sqltypes.DateTime), nil
}

func dateTruncType(args []sqltypes.Type) (sqltypes.Type, error) {
	if args[1].ID.IsTemporal() {
		return args[1], nil
	}
	return sqltypes.Simple(sqltypes.DateTime2), nil
}

func evalDateAdd(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	p, err := parsePart(args[0].Str(), "dateadd")
	if err != nil {
		return sqltypes.Null(), err
	}
	t, _ := dateAddType(types)
	v, err := sqltypes.Implicit(args[2], types[2], t)
	if err != nil {
		return sqltypes.Null(), err
	}
	n, err := countArgument(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	if err := checkPart(p, "dateadd", t); err != nil {
		return sqltypes.Null(), err
	}
	if p == partISOWeek || p == partTZOffset {
		return sqltypes.Null(), unsupportedPart(p, "dateadd", t)
	}
	return addPart(p, n, v, t)
}

// countArgument is an int; decimals are cut.
func countArgument(v sqltypes.Value, t sqltypes.Type) (int64, error) {
	n, err := intOf(v, t)
	return int64(n), err
}

// addPart adds n units. A month that is too short takes its last day.
func addPart(p part, n int64, v sqltypes.Value, t sqltypes.Type) (sqltypes.Value, error) {
	m := sqltypes.MomentOf(v)
	switch p {
	case partYear, partQuarter, partMonth:
		months := map[part]int64{partYear: 12, partQuarter: 3, partMonth: 1}[p]
		total := int64(m.Year)*12 + int64(m.Month-1) + n*months
		year, month := total/12, int(total%12)+1
		if total < 12 || year > 9999 {
			return sqltypes.Null(), addOverflow(t)
		}
		day := min(m.Day, sqltypes.DaysInMonth(int(year), month))
		m.Days = sqltypes.DaysOf(int(year), month, day)
	case partWeek:
		m.Days += int(n) * 7
	case partDay, partDayOfYear, partWeekday:
		m.Days += int(n)
	case partNanosecond:
		m.Ticks += int64(math.Round(float64(n) / 100))
	default:
		if v.Kind() == sqltypes.KindDateTime && p <= partSecond {
			return addDateTimeTicks(n*ticksOf[p], v, t)
		}
		unit := ticksOf[p]
		m.Days += int(n / (sqltypes.TicksPerDay / unit))
		m.Ticks += n % (sqltypes.TicksPerDay / unit) * unit
	}
	if v.Kind() == sqltypes.KindDateTime && p < partHour {
		// The time of day stays as it is, to the 1/300 s.
		days := m.Days - sqltypes.Days1900
		return checkedDateTime(days, v.Ticks(), t)
	}
	sum, ok := sqltypes.BuildTemporal(t, m.Days, m.Ticks, m.Offset)
	if !ok {
		return sqltypes.Null(), addOverflow(t)
	}
	return sum, nil
}

// addDateTimeTicks adds whole seconds, which are exact in 1/300 s.
func addDateTimeTicks(ticks int64, v sqltypes.Value, t sqltypes.Type) (sqltypes.Value, error) {
	total := v.Ticks() + ticks/sqltypes.TicksPerSecond*sqltypes.Ticks300PerSecond
	days := v.Days() + int(total/sqltypes.Ticks300PerDay)
	total %= sqltypes.Ticks300PerDay
	if total < 0 {
		days, total = days-1, total+sqltypes.Ticks300PerDay
	}
	return checkedDateTime(days, total, t)
}

func checkedDateTime(days int, ticks300 int64, t sqltypes.Type) (sqltypes.Value, error) {
	v, err := sqltypes.Convert(sqltypes.DateTimeOf(days, ticks300), sqltypes.Simple(sqltypes.DateTime), t, sqltypes.DefaultStyle)
	low := sqltypes.DaysOf(1753, 1, 1) - sqltypes.Days1900
	if err != nil || days < low || days > sqltypes.MaxDays-sqltypes.Days1900 {
		return sqltypes.Null(), addOverflow(t)
	}
	return v, nil
}

// addOverflow is error 517.
func addOverflow(t sqltypes.Type) error {
	return sqltypes.Errorf(517, 1, 16, "Adding a value to a '%s' column caused an overflow.", t.Name())
}

func evalDateDiff(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := dateDiff("datediff", args, types)
	if err == nil && (n < math.MinInt32 || n > math.MaxInt32) {
		err = diffOverflow("datediff")
	}
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.IntOf(n), nil
}

func evalDateDiffBig(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := dateDiff("datediff_big", args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.IntOf(n), nil
}

// diffOverflow is error 535.
func diffOverflow(function string) error {
	return sqltypes.Errorf(535, 0, 16, "The %s function resulted in an overflow. The number of dateparts separating two date/time instances is too large. Try to use %s with a less precise datepart.", function, function)
}

// dateDiff counts the boundaries of a part between two dates. Values with an offset
// are compared in UTC; a date has midnight for a time, a time 1900-01-01 for a date
// (MS docs, "DATEDIFF").
func dateDiff(function string, args []sqltypes.Value, types []sqltypes.Type) (int64, error) {
	p, err := parsePart(args[0].Str(), function)
	if err != nil {
		return 0, err
	}
	var m [2]sqltypes.Moment
	for i := range m {
		v, t, err := dateArgument(args[i+1], types[i+1])
		if err != nil {
			return 0, err
		}
		if t.ID == sqltypes.Time {
			v = sqltypes.DateTime2Of(sqltypes.Days1900, v.Ticks())
		}
		m[i] = sqltypes.MomentOf(v)
		if m[i].Offset != 0 {
			m[i] = sqltypes.MomentOf(sqltypes.DateTime2Of(v.Days(), v.Ticks()))
		}
	}
	a, b := m[0], m[1]
	days := int64(b.Days - a.Days)
	switch p {
	case partYear:
		return int64(b.Year - a.Year), nil
	case partQuarter:
		return int64(b.Year-a.Year)*4 + int64((b.Month-1)/3-(a.Month-1)/3), nil
	case partMonth:
		return int64(b.Year-a.Year)*12 + int64(b.Month-a.Month), nil
	case partDay, partDayOfYear, partWeekday:
		return days, nil
	case partWeek:
		// Weeks always begin on Sunday here, whatever DATEFIRST says.
		return int64((b.Days+1)/7 - (a.Days+1)/7), nil
	case partISOWeek, partTZOffset:
		return 0, unsupportedPart(p, function, types[1])
	case partNanosecond:
		if days > 106751 || days < -106751 { // 2^63 ns
			return 0, diffOverflow(function)
		}
		return (days*sqltypes.TicksPerDay + b.Ticks - a.Ticks) * 100, nil
	default:
		unit := ticksOf[p]
		return days*(sqltypes.TicksPerDay/unit) + b.Ticks/unit - a.Ticks/unit, nil
	}
}

// evalDateTrunc sets everything below a part to its beginning.
func evalDateTrunc(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	p, err := parsePart(args[0].Str(), "datetrunc")
	if err != nil {
		return sqltypes.Null(), err
	}
	t, _ := dateTruncType(types)
	v, err := sqltypes.Implicit(args[1], types[1], t)
	if err != nil {
		return sqltypes.Null(), err
	}
	if err := checkPart(p, "datetrunc", t); err != nil {
		return sqltypes.Null(), err
	}
	m := sqltypes.MomentOf(v)
	switch p {
	case partYear:
		m.Days, m.Ticks = sqltypes.DaysOf(m.Year, 1, 1), 0
	case partQuarter:
		m.Days, m.Ticks = sqltypes.DaysOf(m.Year, (m.Month-1)/3*3+1, 1), 0
	case partMonth:
		m.Days, m.Ticks = sqltypes.DaysOf(m.Year, m.Month, 1), 0
	case partDay, partDayOfYear:
		m.Ticks = 0
	case partWeek:
		m.Days, m.Ticks = m.Days-weekdayOf(m.Days, env.Session().DateFirst)+1, 0
	case partISOWeek:
		m.Days, m.Ticks = m.Days-weekdayOf(m.Days, 1)+1, 0
	case partWeekday, partTZOffset, partNanosecond:
		return sqltypes.Null(), unsupportedPart(p, "datetrunc", t)
	default:
		m.Ticks -= m.Ticks % ticksOf[p]
	}
	truncated, ok := sqltypes.BuildTemporal(t, m.Days, m.Ticks, m.Offset)
	if !ok {
		return sqltypes.Null(), addOverflow(t)
	}
	return truncated, nil
}

func evalEndOfMonth(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if args[0].IsNull() {
		return sqltypes.Null(), nil
	}
	date := sqltypes.Simple(sqltypes.Date)
	v, err := sqltypes.Implicit(args[0], types[0], date)
	if err != nil {
		return sqltypes.Null(), err
	}
	if len(args) == 2 && !args[1].IsNull() {
		n, err := countArgument(args[1], types[1])
		if err != nil {
			return sqltypes.Null(), err
		}
		if v, err = addPart(partMonth, n, v, date); err != nil {
			return sqltypes.Null(), err
		}
	}
	m := sqltypes.MomentOf(v)
	return sqltypes.DateOf(m.Days - m.Day + sqltypes.DaysInMonth(m.Year, m.Month)), nil
}

// evalIsDate is 1 for text that CAST makes a datetime, and for datetimes themselves.
func evalIsDate(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	return sqltypes.BoolOf(isDate(args[0], types[0])), nil
}

func isDate(v sqltypes.Value, t sqltypes.Type) bool {
	if v.IsNull() || t.ID == sqltypes.Date || t.ID == sqltypes.Time || t.ID == sqltypes.DateTime2 || t.ID == sqltypes.DateTimeOffset {
		return false
	}
	if !t.ID.IsText() && !t.ID.IsTemporal() {
		text, err := textOf(v, t)
		if err != nil {
			return false
		}
		v, t = sqltypes.StringOf(text), sqltypes.VarCharOf(sqltypes.Max)
	}
	if t.ID.IsText() && strings.TrimSpace(v.Str()) == "" {
		return false
	}
	_, err := sqltypes.Implicit(v, t, sqltypes.Simple(sqltypes.DateTime))
	return err == nil
}

// offsetType is datetimeoffset with as many fractional digits as the argument has.
func offsetType(args []sqltypes.Type) (sqltypes.Type, error) {
	t := sqltypes.Simple(sqltypes.DateTimeOffset)
	switch args[0].ID {
	case sqltypes.DateTimeOffset, sqltypes.DateTime2, sqltypes.DateTime, sqltypes.SmallDateTime:
		t.Scale = args[0].Scale
	}
	return t, nil
}

// offsetArgument reads '+05:30' or a number of minutes: error 9812.
func offsetArgument(v sqltypes.Value, t sqltypes.Type, function string) (int, error) {
	invalid := invalidOffset(function)
	if !t.ID.IsText() {
		minutes, err := intOf(v, t)
		if err == nil && (minutes < -14*60 || minutes > 14*60) {
			err = invalid
		}
		return minutes, err
	}
	s := strings.TrimSpace(v.Str())
	if len(s) != 6 || s[0] != '+' && s[0] != '-' {
		return 0, invalid
	}
	parsed, err := sqltypes.Implicit(sqltypes.StringOf("2000-01-01 00:00 "+s), sqltypes.VarCharOf(30), sqltypes.Simple(sqltypes.DateTimeOffset))
	if err != nil {
		return 0, invalid
	}
	return parsed.Offset(), nil
}

func evalSwitchOffset(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	v, err := sqltypes.Implicit(args[0], types[0], sqltypes.Simple(sqltypes.DateTimeOffset))
	if err != nil {
		return sqltypes.Null(), err
	}
	minutes, err := offsetArgument(args[1], types[1], "switchoffset")
	if err != nil {
		return sqltypes.Null(), err
	}
	t, _ := offsetType(types)
	return atOffset(v.Days(), v.Ticks()+int64(minutes)*sqltypes.TicksPerMinute, minutes, t, "switchoffset")
}

// atOffset builds a datetimeoffset of a local time, which may lie outside the calendar.
func atOffset(days int, ticks int64, minutes int, t sqltypes.Type, function string) (sqltypes.Value, error) {
	v, ok := sqltypes.BuildTemporal(t, days, ticks, minutes)
	if !ok {
		return sqltypes.Null(), invalidOffset(function)
	}
	return v, nil
}

// invalidOffset is error 9812.
func invalidOffset(function string) error {
	return sqltypes.Errorf(9812, 0, 16, "The timezone provided to builtin function %s is invalid.", function)
}

// evalToDateTimeOffset keeps the local time and gives it an offset.
func evalToDateTimeOffset(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	v, err := sqltypes.Implicit(args[0], types[0], sqltypes.Simple(sqltypes.DateTime2))
	if err != nil {
		return sqltypes.Null(), err
	}
	minutes, err := offsetArgument(args[1], types[1], "todatetimeoffset")
	if err != nil {
		return sqltypes.Null(), err
	}
	m := sqltypes.MomentOf(v)
	t, _ := offsetType(types)
	return atOffset(m.Days, m.Ticks, minutes, t, "todatetimeoffset")
}

// fromParts builds a date or time from numbers: year, month, day, hour, minute, second
// and fraction, hour and minute of the offset, and the precision, as far as the type
// has them. Parts out of range are error 289.
func fromParts(id sqltypes.ID) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		n := make([]int, len(args))
		for i := range args {
			var err error
			if n[i], err = intOf(args[i], types[i]); err != nil {
				return sqltypes.Null(), err
			}
		}
		v, ok := assemble(id, n)
		if !ok {
			return sqltypes.Null(), sqltypes.Errorf(289, 2, 16, "Cannot construct data type %s, some of the arguments have values which are not valid.", id)
		}
		return v, nil
	}
}

func assemble(id sqltypes.ID, n []int) (sqltypes.Value, bool) {
	t := sqltypes.Simple(id)
	days := sqltypes.Days1900
	if id != sqltypes.Time {
		if n[0] < 1 || n[0] > 9999 || n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > sqltypes.DaysInMonth(n[0], n[1]) {
			return sqltypes.Null(), false
		}
		days, n = sqltypes.DaysOf(n[0], n[1], n[2]), n[3:]
	}
	if id == sqltypes.Date {
		return sqltypes.BuildTemporal(t, days, 0, 0)
	}
	for len(n) < 3 {
		n = append(n, 0) // smalldatetime has no seconds
	}
	if n[0] < 0 || n[0] > 23 || n[1] < 0 || n[1] > 59 || n[2] < 0 || n[2] > 59 {
		return sqltypes.Null(), false
	}
	ticks := int64(n[0])*sqltypes.TicksPerHour + int64(n[1])*sqltypes.TicksPerMinute + int64(n[2])*sqltypes.TicksPerSecond
	offset, fraction, precision := 0, 0, 0
	switch id {
	case sqltypes.DateTime:
		fraction, precision = n[3], 3
	case sqltypes.DateTime2, sqltypes.Time:
		fraction, precision = n[3], n[4]
	case sqltypes.DateTimeOffset:
		fraction, precision = n[3], n[6]
		if n[4] < -14 || n[4] > 14 || n[5] < -59 || n[5] > 59 || n[4]*n[5] < 0 {
			return sqltypes.Null(), false
		}
		offset = n[4]*60 + n[5]
	}
	if precision < 0 || precision > 7 || fraction < 0 || fraction >= int(math.Pow10(precision)) || offset < -14*60 || offset > 14*60 {
		return sqltypes.Null(), false
	}
	ticks += int64(fraction) * int64(math.Pow10(7-precision))
	return sqltypes.BuildTemporal(t, days, ticks, offset)
}
