package builtin

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var bucketFunctions = []Function{
	{Name: "DATE_BUCKET", MinArgs: 3, MaxArgs: 4, DatePart: true, Deterministic: true, ResultType: bucketType, Eval: evalDateBucket},
}

// bucketType is the type of the date; text is no date here (MS docs, "DATE_BUCKET").
func bucketType(args []sqltypes.Type) (sqltypes.Type, error) {
	if !args[2].ID.IsTemporal() {
		return sqltypes.Type{}, invalidArgument(args[2], 3, "date_bucket")
	}
	return args[2], nil
}

// evalDateBucket returns the beginning of the bucket of so many units, counted from
// the origin, 1900-01-01, in which the date lies.
func evalDateBucket(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	p, err := parsePart(args[0].Str(), "date_bucket")
	if err != nil {
		return sqltypes.Null(), err
	}
	t := types[2]
	if p == partDayOfYear || p == partWeekday || p == partISOWeek || p > partMillisecond {
		return sqltypes.Null(), unsupportedPart(p, "date_bucket", t)
	}
	if err := checkPart(p, "date_bucket", t); err != nil {
		return sqltypes.Null(), err
	}
	width, err := bigIntOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	if width < 1 {
		return sqltypes.Null(), sqltypes.Errorf(9834, 1, 16, "Invalid bucket width value passed to date_bucket function. Only positive values are allowed.")
	}
	origin, ok := sqltypes.BuildTemporal(t, sqltypes.Days1900, 0, 0)
	if len(args) > 3 {
		origin, err = sqltypes.Implicit(args[3], types[3], t)
	}
	if err != nil || !ok {
		return sqltypes.Null(), err
	}
	n := unitsBetween(p, sqltypes.MomentOf(origin), sqltypes.MomentOf(args[2]))
	return addPart(p, n-((n%width)+width)%width, origin, t)
}

// unitsBetween counts the whole units from one time to the other, rounded down.
func unitsBetween(p part, from, to sqltypes.Moment) int64 {
	switch p {
	case partYear, partQuarter, partMonth:
		months := int64(to.Year-from.Year)*12 + int64(to.Month-from.Month)
		// The day that the origin becomes in a shorter month is its last.
		day := min(from.Day, sqltypes.DaysInMonth(to.Year, to.Month))
		if to.Day < day || to.Day == day && to.Ticks < from.Ticks {
			months--
		}
		return floorDivide(months, map[part]int64{partYear: 12, partQuarter: 3, partMonth: 1}[p])
	}
	unit, known := ticksOf[p]
	if !known {
		unit = sqltypes.TicksPerDay
	}
	if p == partWeek {
		unit *= 7
	}
	days, ticks := int64(to.Days-from.Days), to.Ticks-from.Ticks
	return floorDivide(days*sqltypes.TicksPerDay+ticks, unit)
}

func floorDivide(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
