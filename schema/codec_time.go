package schema

import (
	"database/sql/driver"
	"time"
)

const (
	secondsPerDay = 24 * 60 * 60
	// kafkaTime starts the names of Kafka Connect's own temporal types.
	kafkaTime = "org.apache.kafka.connect.data."
)

func debeziumTime(connectType, name string) ConnectSchema {
	return ConnectSchema{Type: connectType, Name: "io.debezium.time." + name, Version: 1}
}

// wall returns the seconds from 1970-01-01 to what a clock on the wall shows
// at t, and the nanoseconds after that second. Zone-less SQL values are wall
// time, in whatever location the driver was told to place them.
func wall(v driver.Value) (seconds int64, nanos int64, err error) {
	t, ok := v.(time.Time)
	if !ok {
		return 0, 0, typeError(v, "time.Time")
	}
	_, offset := t.Zone()
	return t.Unix() + int64(offset), int64(t.Nanosecond()), nil
}

// wallDays returns days since 1970-01-01 and the seconds and nanoseconds since
// midnight.
func wallDays(v driver.Value) (days, seconds, nanos int64, err error) {
	seconds, nanos, err = wall(v)
	days = seconds / secondsPerDay
	seconds %= secondsPerDay
	if seconds < 0 {
		days--
		seconds += secondsPerDay
	}
	return days, seconds, nanos, err
}

// dateCodec writes date values.
func dateCodec(mode TimeMode) codec {
	switch mode {
	case TimeISOString:
		return asciiCodec(debeziumTime("string", "IsoDate"), appendISODate)
	case TimeConnect:
		return intCodec(ConnectSchema{Type: "int32", Name: kafkaTime + "Date", Version: 1}, dateDays)
	default:
		return intCodec(debeziumTime("int32", "Date"), dateDays)
	}
}

func dateDays(v driver.Value) (int64, error) {
	days, _, _, err := wallDays(v)
	return days, err
}

// unit is the resolution of a temporal number.
type unit int

const (
	millis unit = iota
	micros
	nanoseconds
)

// adaptiveUnit is the coarsest unit that holds all decimals of a scale.
func adaptiveUnit(scale int) unit {
	switch {
	case scale <= 3:
		return millis
	case scale <= 6:
		return micros
	default:
		return nanoseconds
	}
}

// timeCodec writes time(n) values.
func timeCodec(scale int, mode TimeMode) codec {
	u := adaptiveUnit(scale)
	switch mode {
	case TimeISOString:
		return asciiCodec(debeziumTime("string", "IsoTime"), appendISOTime)
	case TimeConnect:
		return intCodec(ConnectSchema{Type: "int32", Name: kafkaTime + "Time", Version: 1}, timeOfDay(millis))
	case TimeMicroseconds, TimeAdaptiveTimeMicroseconds:
		u = micros
	case TimeNanoseconds:
		u = nanoseconds
	}
	s := [...]ConnectSchema{
		millis:      debeziumTime("int32", "Time"),
		micros:      debeziumTime("int64", "MicroTime"),
		nanoseconds: debeziumTime("int64", "NanoTime"),
	}[u]
	return intCodec(s, timeOfDay(u))
}

// timeOfDay returns the time since midnight; finer digits are cut off.
func timeOfDay(u unit) func(driver.Value) (int64, error) {
	perSecond, nanosPer := u.factors()
	return func(v driver.Value) (int64, error) {
		_, seconds, nanos, err := wallDays(v)
		return seconds*perSecond + nanos/nanosPer, err
	}
}

func (u unit) factors() (perSecond, nanosPer int64) {
	switch u {
	case millis:
		return 1e3, 1e6
	case micros:
		return 1e6, 1e3
	default:
		return 1e9, 1
	}
}

// timestampCodec writes datetime, smalldatetime and datetime2(n) values.
func timestampCodec(scale int, mode TimeMode) codec {
	u := adaptiveUnit(scale)
	switch mode {
	case TimeISOString:
		return asciiCodec(debeziumTime("string", "IsoTimestamp"), appendISOTimestamp)
	case TimeConnect:
		return intCodec(ConnectSchema{Type: "int64", Name: kafkaTime + "Timestamp", Version: 1}, epoch(millis))
	case TimeMicroseconds:
		u = micros
	case TimeNanoseconds:
		u = nanoseconds
	}
	s := debeziumTime("int64", [...]string{
		millis:      "Timestamp",
		micros:      "MicroTimestamp",
		nanoseconds: "NanoTimestamp",
	}[u])
	if u == nanoseconds {
		return intCodec(s, epochNanos(mode))
	}
	return intCodec(s, epoch(u))
}

// epoch returns the time since 1970-01-01; finer digits are cut off, towards
// the past. SQL Server's years 1 to 9999 fit in milli- and microseconds.
func epoch(u unit) func(driver.Value) (int64, error) {
	perSecond, nanosPer := u.factors()
	return func(v driver.Value) (int64, error) {
		seconds, nanos, err := wall(v)
		return seconds*perSecond + nanos/nanosPer, err
	}
}

// The first and last moments that 64 bits of nanoseconds hold:
// 1677-09-21 00:12:43.145224192 and 2262-04-11 23:47:16.854775807.
const (
	minNanoSecond, minNanoRest = -9223372037, 145224192
	maxNanoSecond, maxNanoRest = 9223372036, 854775807
)

// epochNanos returns nanoseconds since 1970-01-01, or an error where a
// wrapped number would pass for a date centuries away.
func epochNanos(mode TimeMode) func(driver.Value) (int64, error) {
	distant := &rangeError{
		reason: "is outside the range of nanoseconds in 64 bits (1677-09-21 to 2262-04-11)",
		remedy: "set time_precision_mode to isostring or microseconds, which hold every date",
	}
	if mode != TimeNanoseconds { // where the column's scale chose the unit
		distant.remedy += ", or declare the column datetime2(6)"
	}
	return func(v driver.Value) (int64, error) {
		seconds, nanos, err := wall(v)
		switch {
		case err != nil:
			return 0, err
		case seconds < minNanoSecond || seconds == minNanoSecond && nanos < minNanoRest,
			seconds > maxNanoSecond || seconds == maxNanoSecond && nanos > maxNanoRest:
			return 0, distant
		case seconds < 0:
			// The product of the first second alone would overflow.
			return (seconds+1)*1e9 + (nanos - 1e9), nil
		}
		return seconds*1e9 + nanos, nil
	}
}
