package sqltypes

// moment is a point in time as it is written down: the local date and time of day and
// how far that is from UTC.
type moment struct {
	days   int   // since 0001-01-01
	ticks  int64 // 100 ns since midnight
	offset int   // minutes east of UTC
}

// momentOf reads any date or time value. A time of day stands on 1900-01-01.
func momentOf(v Value) moment {
	switch v.kind {
	case KindDate:
		return moment{days: v.Days()}
	case KindTime:
		return moment{days: Days1900, ticks: v.Ticks()}
	case KindDateTime:
		return moment{days: v.Days() + Days1900, ticks: (v.Ticks()*TicksPerSecond + Ticks300PerSecond/2) / Ticks300PerSecond}
	case KindDateTimeOffset:
		m := moment{days: v.Days(), ticks: v.Ticks(), offset: v.Offset()}
		return m.add(int64(m.offset) * TicksPerMinute)
	default:
		return moment{days: v.Days(), ticks: v.Ticks()}
	}
}

// add moves the local time by less than a few thousand years of ticks.
func (m moment) add(ticks int64) moment {
	total := m.ticks + ticks
	m.days += int(floorDiv(total, TicksPerDay))
	m.ticks = floorMod(total, TicksPerDay)
	return m
}

// round rounds to a scale, half up.
func (m moment) round(scale uint8) moment {
	unit := ticksPerUnit(scale)
	m.ticks = (m.ticks + unit/2) / unit * unit
	return m.add(0)
}

// ticks300 rounds to 1/300 s and carries into the date.
func (m moment) ticks300() (days int, ticks int64) {
	t := (m.ticks*Ticks300PerSecond + TicksPerSecond/2) / TicksPerSecond
	return m.days - Days1900 + int(t/Ticks300PerDay), t % Ticks300PerDay
}

// build makes a value of a date or time type; ok is false outside its range.
func (m moment) build(to Type) (v Value, ok bool) {
	switch to.ID {
	case Date:
		return DateOf(m.days), m.days >= 0 && m.days <= MaxDays
	case Time:
		return TimeOf(m.round(to.Scale).ticks), true
	case DateTime:
		days, ticks := m.ticks300()
		return DateTimeOf(days, ticks), days >= days1753 && days <= maxDateTimeDays
	case SmallDateTime:
		days, ticks := m.ticks300()
		return smallDateTime(days, ticks)
	case DateTime2:
		m = m.round(to.Scale)
		return DateTime2Of(m.days, m.ticks), m.days >= 0 && m.days <= MaxDays
	default:
		m = m.round(to.Scale)
		utc := m.add(-int64(m.offset) * TicksPerMinute)
		inRange := utc.days >= 0 && utc.days <= MaxDays && m.days >= 0 && m.days <= MaxDays
		return DateTimeOffsetOf(utc.days, utc.ticks, m.offset), inRange
	}
}

// smallDateTime rounds to the minute, half up.
func smallDateTime(days int, ticks300 int64) (Value, bool) {
	minutes := (ticks300 + Ticks300PerMinute/2) / Ticks300PerMinute
	if minutes == 24*60 {
		days, minutes = days+1, 0
	}
	return DateTimeOf(days, minutes*Ticks300PerMinute), days >= 0 && days <= maxSmallDateTimeDays
}

// Moment is a date and time of day for functions that count in calendar units.
type Moment struct {
	Year, Month, Day int
	// Days is the same date counted from 0001-01-01.
	Days int
	// Ticks of 100 ns since midnight.
	Ticks int64
	// Offset from UTC in minutes.
	Offset int
}

// MomentOf takes a date or time value apart, in its own local time.
func MomentOf(v Value) Moment {
	m := momentOf(v)
	year, month, day := Civil(m.days)
	return Moment{Year: year, Month: month, Day: day, Days: m.days, Ticks: m.ticks, Offset: m.offset}
}

// BuildTemporal makes a value of a date or time type from local days since 0001-01-01,
// ticks and offset, rounded to its scale. ok is false outside the type's range. ticks
// may be negative or more than a day.
func BuildTemporal(to Type, days int, ticks int64, offset int) (v Value, ok bool) {
	return moment{days: days, ticks: 0, offset: offset}.add(ticks).build(to)
}
