package builtin

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // Windows has no IANA database of its own

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// windowsZones maps the names SQL Server uses to IANA's: Unicode CLDR, windowsZones,
// territory 001.
var windowsZones = map[string]string{
	"Dateline Standard Time": "Etc/GMT+12", "UTC-11": "Etc/GMT+11", "Aleutian Standard Time": "America/Adak",
	"Hawaiian Standard Time": "Pacific/Honolulu", "Marquesas Standard Time": "Pacific/Marquesas",
	"Alaskan Standard Time": "America/Anchorage", "UTC-09": "Etc/GMT+9", "Pacific Standard Time (Mexico)": "America/Tijuana",
	"UTC-08": "Etc/GMT+8", "Pacific Standard Time": "America/Los_Angeles", "US Mountain Standard Time": "America/Phoenix",
	"Mountain Standard Time (Mexico)": "America/Mazatlan", "Mountain Standard Time": "America/Denver", "Yukon Standard Time": "America/Whitehorse",
	"Central America Standard Time": "America/Guatemala", "Central Standard Time": "America/Chicago",
	"Easter Island Standard Time": "Pacific/Easter", "Central Standard Time (Mexico)": "America/Mexico_City",
	"Canada Central Standard Time": "America/Regina", "SA Pacific Standard Time": "America/Bogota",
	"Eastern Standard Time (Mexico)": "America/Cancun", "Eastern Standard Time": "America/New_York", "Haiti Standard Time": "America/Port-au-Prince",
	"Cuba Standard Time": "America/Havana", "US Eastern Standard Time": "America/Indianapolis", "Turks And Caicos Standard Time": "America/Grand_Turk",
	"Paraguay Standard Time": "America/Asuncion", "Atlantic Standard Time": "America/Halifax", "Venezuela Standard Time": "America/Caracas",
	"Central Brazilian Standard Time": "America/Cuiaba", "SA Western Standard Time": "America/La_Paz", "Pacific SA Standard Time": "America/Santiago",
	"Newfoundland Standard Time": "America/St_Johns", "Tocantins Standard Time": "America/Araguaina", "E. South America Standard Time": "America/Sao_Paulo",
	"SA Eastern Standard Time": "America/Cayenne", "Argentina Standard Time": "America/Buenos_Aires", "Greenland Standard Time": "America/Godthab",
	"Montevideo Standard Time": "America/Montevideo", "Magallanes Standard Time": "America/Punta_Arenas", "Saint Pierre Standard Time": "America/Miquelon",
	"Bahia Standard Time": "America/Bahia", "UTC-02": "Etc/GMT+2", "Azores Standard Time": "Atlantic/Azores", "Cape Verde Standard Time": "Atlantic/Cape_Verde",
	"UTC": "Etc/UTC", "GMT Standard Time": "Europe/London", "Greenwich Standard Time": "Atlantic/Reykjavik", "Sao Tome Standard Time": "Africa/Sao_Tome",
	"Morocco Standard Time": "Africa/Casablanca", "W. Europe Standard Time": "Europe/Berlin", "Central Europe Standard Time": "Europe/Budapest",
	"Romance Standard Time": "Europe/Paris", "Central European Standard Time": "Europe/Warsaw", "W. Central Africa Standard Time": "Africa/Lagos",
	"Jordan Standard Time": "Asia/Amman", "GTB Standard Time": "Europe/Bucharest", "Middle East Standard Time": "Asia/Beirut",
	"Egypt Standard Time": "Africa/Cairo", "E. Europe Standard Time": "Europe/Chisinau", "Syria Standard Time": "Asia/Damascus",
	"West Bank Standard Time": "Asia/Hebron", "South Africa Standard Time": "Africa/Johannesburg", "FLE Standard Time": "Europe/Kiev",
	"Israel Standard Time": "Asia/Jerusalem", "South Sudan Standard Time": "Africa/Juba", "Kaliningrad Standard Time": "Europe/Kaliningrad",
	"Sudan Standard Time": "Africa/Khartoum", "Libya Standard Time": "Africa/Tripoli", "Namibia Standard Time": "Africa/Windhoek",
	"Arabic Standard Time": "Asia/Baghdad", "Turkey Standard Time": "Europe/Istanbul", "Arab Standard Time": "Asia/Riyadh",
	"Belarus Standard Time": "Europe/Minsk", "Russian Standard Time": "Europe/Moscow", "E. Africa Standard Time": "Africa/Nairobi",
	"Iran Standard Time": "Asia/Tehran", "Arabian Standard Time": "Asia/Dubai", "Astrakhan Standard Time": "Europe/Astrakhan",
	"Azerbaijan Standard Time": "Asia/Baku", "Russia Time Zone 3": "Europe/Samara", "Mauritius Standard Time": "Indian/Mauritius",
	"Saratov Standard Time": "Europe/Saratov", "Georgian Standard Time": "Asia/Tbilisi", "Volgograd Standard Time": "Europe/Volgograd",
	"Caucasus Standard Time": "Asia/Yerevan", "Afghanistan Standard Time": "Asia/Kabul", "West Asia Standard Time": "Asia/Tashkent",
	"Ekaterinburg Standard Time": "Asia/Yekaterinburg", "Pakistan Standard Time": "Asia/Karachi", "Qyzylorda Standard Time": "Asia/Qyzylorda",
	"India Standard Time": "Asia/Calcutta", "Sri Lanka Standard Time": "Asia/Colombo", "Nepal Standard Time": "Asia/Katmandu",
	"Central Asia Standard Time": "Asia/Bishkek", "Bangladesh Standard Time": "Asia/Dhaka", "Omsk Standard Time": "Asia/Omsk",
	"Myanmar Standard Time": "Asia/Rangoon", "SE Asia Standard Time": "Asia/Bangkok", "Altai Standard Time": "Asia/Barnaul",
	"W. Mongolia Standard Time": "Asia/Hovd", "North Asia Standard Time": "Asia/Krasnoyarsk", "N. Central Asia Standard Time": "Asia/Novosibirsk",
	"Tomsk Standard Time": "Asia/Tomsk", "China Standard Time": "Asia/Shanghai", "North Asia East Standard Time": "Asia/Irkutsk",
	"Singapore Standard Time": "Asia/Singapore", "W. Australia Standard Time": "Australia/Perth", "Taipei Standard Time": "Asia/Taipei",
	"Ulaanbaatar Standard Time": "Asia/Ulaanbaatar", "Aus Central W. Standard Time": "Australia/Eucla", "Transbaikal Standard Time": "Asia/Chita",
	"Tokyo Standard Time": "Asia/Tokyo", "North Korea Standard Time": "Asia/Pyongyang", "Korea Standard Time": "Asia/Seoul",
	"Yakutsk Standard Time": "Asia/Yakutsk", "Cen. Australia Standard Time": "Australia/Adelaide", "AUS Central Standard Time": "Australia/Darwin",
	"E. Australia Standard Time": "Australia/Brisbane", "AUS Eastern Standard Time": "Australia/Sydney", "West Pacific Standard Time": "Pacific/Port_Moresby",
	"Tasmania Standard Time": "Australia/Hobart", "Vladivostok Standard Time": "Asia/Vladivostok", "Lord Howe Standard Time": "Australia/Lord_Howe",
	"Bougainville Standard Time": "Pacific/Bougainville", "Russia Time Zone 10": "Asia/Srednekolymsk", "Magadan Standard Time": "Asia/Magadan",
	"Norfolk Standard Time": "Pacific/Norfolk", "Sakhalin Standard Time": "Asia/Sakhalin", "Central Pacific Standard Time": "Pacific/Guadalcanal",
	"Russia Time Zone 11": "Asia/Kamchatka", "New Zealand Standard Time": "Pacific/Auckland", "UTC+12": "Etc/GMT-12", "Fiji Standard Time": "Pacific/Fiji",
	"Chatham Islands Standard Time": "Pacific/Chatham", "UTC+13": "Etc/GMT-13", "Tonga Standard Time": "Pacific/Tongatapu",
	"Samoa Standard Time": "Pacific/Apia", "Line Islands Standard Time": "Pacific/Kiritimati",
}

// zoneAliases are IANA names that stand for a Windows zone beside the one in the table.
var zoneAliases = map[string]string{
	"UTC": "UTC", "Etc/GMT": "UTC", "GMT": "UTC", "Local": "UTC",
	"Asia/Kolkata": "India Standard Time", "Asia/Kathmandu": "Nepal Standard Time", "Asia/Yangon": "Myanmar Standard Time",
	"Europe/Kyiv": "FLE Standard Time", "Europe/Helsinki": "FLE Standard Time", "Europe/Athens": "GTB Standard Time",
	"Europe/Vienna": "W. Europe Standard Time", "Europe/Zurich": "W. Europe Standard Time", "Europe/Rome": "W. Europe Standard Time",
	"Europe/Amsterdam": "W. Europe Standard Time", "Europe/Stockholm": "W. Europe Standard Time", "Europe/Oslo": "W. Europe Standard Time",
	"Europe/Madrid": "Romance Standard Time", "Europe/Brussels": "Romance Standard Time", "Europe/Copenhagen": "Romance Standard Time",
	"Europe/Prague": "Central Europe Standard Time", "Europe/Belgrade": "Central Europe Standard Time", "Europe/Dublin": "GMT Standard Time",
	"Europe/Lisbon": "GMT Standard Time", "America/Toronto": "Eastern Standard Time", "America/Argentina/Buenos_Aires": "Argentina Standard Time",
	"America/Indiana/Indianapolis": "US Eastern Standard Time", "America/Nuuk": "Greenland Standard Time", "Asia/Hong_Kong": "China Standard Time",
}

// ZoneNames returns the Windows names of all time zones, in no order: sys.time_zone_info.
func ZoneNames() []string {
	names := make([]string, 0, len(windowsZones))
	for name := range windowsZones {
		names = append(names, name)
	}
	return names
}

// WindowsZone returns the Windows name of a location, and "UTC" for one that has none.
func WindowsZone(loc *time.Location) string {
	if name, ok := zoneAliases[loc.String()]; ok {
		return name
	}
	for windows, iana := range windowsZones {
		if iana == loc.String() {
			return windows
		}
	}
	return "UTC"
}

// LoadZone returns the location of a Windows time zone name, written in any case.
func LoadZone(name string) (*time.Location, bool) {
	for windows, iana := range windowsZones {
		if strings.EqualFold(windows, name) {
			loc, err := time.LoadLocation(iana)
			return loc, err == nil
		}
	}
	return nil, false
}

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
	local := ToTime(v, time.UTC)
	// The offset that held half a day earlier is the one before any change of clocks.
	_, before := local.Add(-12 * time.Hour).In(loc).Zone()
	candidate := local.Add(-time.Duration(before) * time.Second).In(loc)
	if _, offset := candidate.Zone(); offset != before {
		after := local.Add(-time.Duration(offset) * time.Second).In(loc)
		if _, again := after.Zone(); again == offset {
			candidate = after
		}
	}
	return FromTime(candidate, result), nil
}
