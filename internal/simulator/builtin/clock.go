package builtin

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// clockFunctions tell the time of the statement. They take no arguments.
var clockFunctions = []Function{
	{Name: "GETDATE", ResultType: always(sqltypes.Simple(sqltypes.DateTime)), Eval: localClock(sqltypes.DateTime)},
	{Name: "CURRENT_TIMESTAMP", ResultType: always(sqltypes.Simple(sqltypes.DateTime)), Eval: localClock(sqltypes.DateTime)},
	{Name: "GETUTCDATE", ResultType: always(sqltypes.Simple(sqltypes.DateTime)), Eval: utcClock(sqltypes.DateTime)},
	{Name: "SYSDATETIME", ResultType: always(sqltypes.Simple(sqltypes.DateTime2)), Eval: localClock(sqltypes.DateTime2)},
	{Name: "SYSUTCDATETIME", ResultType: always(sqltypes.Simple(sqltypes.DateTime2)), Eval: utcClock(sqltypes.DateTime2)},
	{Name: "SYSDATETIMEOFFSET", ResultType: always(sqltypes.Simple(sqltypes.DateTimeOffset)), Eval: localClock(sqltypes.DateTimeOffset)},
	{Name: "CURRENT_TIMEZONE", ResultType: always(sqltypes.VarCharOf(255)), Eval: evalCurrentTimeZone},
	{Name: "CURRENT_TIMEZONE_ID", ResultType: always(sqltypes.VarCharOf(255)), Eval: evalCurrentTimeZoneID},
}

func localClock(id sqltypes.ID) evalFunc {
	return func(env Env, _ []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
		return FromTime(env.Now().In(env.Location()), sqltypes.Simple(id)), nil
	}
}

func utcClock(id sqltypes.ID) evalFunc {
	return func(env Env, _ []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
		return FromTime(env.Now().UTC(), sqltypes.Simple(id)), nil
	}
}

// FromTime returns t, as its own location's clock shows it, as a value of a date or
// time type. It is NULL outside the type's range.
func FromTime(t time.Time, to sqltypes.Type) sqltypes.Value {
	_, offset := t.Zone()
	hour, minute, second := t.Clock()
	ticks := int64(hour)*sqltypes.TicksPerHour + int64(minute)*sqltypes.TicksPerMinute +
		int64(second)*sqltypes.TicksPerSecond + int64(t.Nanosecond()/100)
	v, ok := sqltypes.BuildTemporal(to, sqltypes.DaysOf(t.Year(), int(t.Month()), t.Day()), ticks, offset/60)
	if !ok {
		return sqltypes.Null()
	}
	return v
}

// ToTime returns a date or time value as a time in loc; a datetimeoffset keeps its own
// offset.
func ToTime(v sqltypes.Value, loc *time.Location) time.Time {
	m := sqltypes.MomentOf(v)
	if v.Kind() == sqltypes.KindDateTimeOffset {
		loc = time.FixedZone("", m.Offset*60)
	}
	return time.Date(m.Year, time.Month(m.Month), m.Day, 0, 0, int(m.Ticks/sqltypes.TicksPerSecond),
		int(m.Ticks%sqltypes.TicksPerSecond)*100, loc)
}
