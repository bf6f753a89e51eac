package tds

import (
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Bounds of date and time values.
const (
	maxDate           = 3652058 // 9999-12-31 in days since 0001-01-01
	ticksPerDay       = 24 * 60 * 60 * 10_000_000
	minDateTimeDays   = -53690  // 1753-01-01 in days since 1900-01-01
	maxDateTimeDays   = 2958463 // 9999-12-31
	dateTimeTicks     = 24 * 60 * 60 * 300
	minutesPerDay     = 24 * 60
	maxOffsetMinutes  = 14 * 60
	dateTimePerMinute = 60 * 300
)

func decodeTemporal(t sqltypes.Type, b []byte) (sqltypes.Value, error) {
	switch t.ID {
	case sqltypes.DateTime, sqltypes.SmallDateTime:
		return decodeDateTime(b)
	case sqltypes.Date:
		days, ok := decodeDays(b)
		if !ok || len(b) != 3 {
			return sqltypes.Null(), errInvalidValue
		}
		return sqltypes.DateOf(days), nil
	}
	width := int(timeSize(t.Scale))
	if len(b) < width {
		return sqltypes.Null(), errInvalidValue
	}
	var wide [8]byte
	copy(wide[:], b[:width])
	units := binary.LittleEndian.Uint64(wide[:])
	unit := ticksPerUnit(t.Scale)
	if units >= uint64(ticksPerDay/unit) {
		return sqltypes.Null(), errInvalidValue
	}
	return decodeTimed(t, int64(units)*unit, b[width:])
}

// decodeTimed reads what follows the time of day: nothing, a date, or a date
// and an offset.
func decodeTimed(t sqltypes.Type, ticks int64, rest []byte) (sqltypes.Value, error) {
	need := map[sqltypes.ID]int{sqltypes.DateTime2: 3, sqltypes.DateTimeOffset: 5}[t.ID]
	if len(rest) != need {
		return sqltypes.Null(), errInvalidValue
	}
	if t.ID == sqltypes.Time {
		return sqltypes.TimeOf(ticks), nil
	}
	days, ok := decodeDays(rest)
	if !ok {
		return sqltypes.Null(), errInvalidValue
	}
	if t.ID == sqltypes.DateTime2 {
		return sqltypes.DateTime2Of(days, ticks), nil
	}
	offset := int(int16(binary.LittleEndian.Uint16(rest[3:])))
	if offset < -maxOffsetMinutes || offset > maxOffsetMinutes {
		return sqltypes.Null(), errInvalidValue
	}
	return sqltypes.DateTimeOffsetOf(days, ticks, offset), nil
}

func decodeDays(b []byte) (int, bool) {
	if len(b) < 3 {
		return 0, false
	}
	days := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	return days, days <= maxDate
}

// decodeDateTime reads datetime (8 bytes) and smalldatetime (4 bytes).
func decodeDateTime(b []byte) (sqltypes.Value, error) {
	switch len(b) {
	case 4:
		days, minutes := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])
		if minutes < minutesPerDay {
			return sqltypes.DateTimeOf(int(days), int64(minutes)*dateTimePerMinute), nil
		}
	case 8:
		days, ticks := int32(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
		if days >= minDateTimeDays && days <= maxDateTimeDays && ticks < dateTimeTicks {
			return sqltypes.DateTimeOf(int(days), int64(ticks)), nil
		}
	}
	return sqltypes.Null(), errInvalidValue
}
