package builtin

import (
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
)

// ZoneNames returns the Windows names of all time zones, in no order: sys.time_zone_info.
func ZoneNames() []string { return timezone.WindowsNames() }

// WindowsZone returns the Windows name of a location, and "UTC" for one that has none.
func WindowsZone(loc *time.Location) string { return timezone.WindowsName(loc) }

// LoadZone returns the location of a Windows time zone name, written in any case.
func LoadZone(name string) (*time.Location, bool) { return timezone.LoadWindows(name) }

func evalCurrentTimeZoneID(env Env, _ []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
	return sqltypes.StringOf(WindowsZone(env.Location())), nil
}

// evalCurrentTimeZone gives "(UTC+01:00) Name" with the offset of standard time. Windows
// shows a list of cities there for most zones; here it is the zone's own name.
func evalCurrentTimeZone(env Env, _ []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
	id := WindowsZone(env.Location())
	if id == "UTC" {
		return sqltypes.StringOf("(UTC) Coordinated Universal Time"), nil
	}
	return sqltypes.StringOf(fmt.Sprintf("(UTC%s) %s", sqltypes.FormatOffset(standardOffset(env.Now().In(env.Location()))), id)), nil
}

// standardOffset is the offset in minutes that holds outside daylight saving time.
func standardOffset(t time.Time) int {
	if t.IsDST() {
		for month := 1; month <= 12; month++ {
			if at := time.Date(t.Year(), time.Month(month), 1, 0, 0, 0, 0, t.Location()); !at.IsDST() {
				t = at
				break
			}
		}
	}
	_, seconds := t.Zone()
	return seconds / 60
}

// AtTimeZoneType is the type of AT TIME ZONE: datetimeoffset with the argument's scale.
func AtTimeZoneType(t sqltypes.Type) (sqltypes.Type, error) {
	switch {
	case t.ID == sqltypes.Date || t.ID == sqltypes.Time || !t.ID.IsTemporal() && !t.ID.IsText() && t.ID != sqltypes.Unknown:
		return sqltypes.Type{}, sqltypes.Errorf(8116, 1, 16, "Argument data type %s is invalid for argument 1 of AT TIME ZONE function.", t.Name())
	default:
		return offsetType([]sqltypes.Type{t})
	}
}

// AtTimeZone applies AT TIME ZONE. A value with an offset is moved to the zone; any
// other is a local time of the zone and gets its offset: in the hour that clocks skip it
// is moved on by that hour, in the hour they repeat it is the first of the two (MS docs,
// AT TIME ZONE). An unknown zone is error 9820.
func AtTimeZone(v sqltypes.Value, t sqltypes.Type, zone string) (sqltypes.Value, error) {
	result, err := AtTimeZoneType(t)
	if err != nil || v.IsNull() {
		return sqltypes.Null(), err
	}
	loc, ok := LoadZone(zone)
	if !ok {
		return sqltypes.Null(), sqltypes.Errorf(9820, 1, 16, "The time zone parameter '%s' provided to AT TIME ZONE clause is invalid.", zone)
	}
	if t.ID.IsText() {
		if v, err = sqltypes.Implicit(v, t, result); err != nil {
			return sqltypes.Null(), err
		}
	}
	if v.Kind() == sqltypes.KindDateTimeOffset {
		return FromTime(ToTime(v, time.UTC).In(loc), result), nil
	}
	return FromTime(timezone.Instant(ToTime(v, time.UTC), loc), result), nil
}
