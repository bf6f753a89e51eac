package sqltypes

import (
	"encoding/binary"
	"math"
)

// toTemporal converts to the date and time types.
func toTemporal(v Value, from, to Type, style int) (Value, error) {
	if from.ID.IsTemporal() && to.ID == DateTimeOffset && style != DefaultStyle && style != 1 {
		// MS docs, "CAST and CONVERT": no other style from dates to datetimeoffset.
		return Value{}, unsupportedStyle(style, from, to)
	}
	switch v.kind {
	case KindText:
		return textToTemporal(v, from, to, style)
	case KindInt, KindDecimal, KindMoney, KindFloat:
		return numberToDateTime(v, from, to)
	case KindBytes:
		return bytesToTemporal(v.s, from, to)
	case KindDateTime:
		if to.ID == DateTime {
			return v, nil
		}
		if to.ID == SmallDateTime {
			small, ok := smallDateTime(v.Days(), v.Ticks())
			if !ok {
				return Value{}, outOfRange(from, to)
			}
			return small, nil
		}
	case KindGUID:
		return Value{}, OperandClash(from.ID, to.ID)
	}
	built, ok := momentOf(v).build(to)
	if !ok {
		return Value{}, outOfRange(from, to)
	}
	return built, nil
}

// outOfRange is error 242.
func outOfRange(from, to Type) error {
	return Errorf(242, 3, 16, "The conversion of a %s data type to a %s data type resulted in an out-of-range value.", from.Name(), to.Name())
}

// textToTemporal reads text. For datetime and smalldatetime a date that does not exist
// is error 242, for the newer types everything wrong is 241.
func textToTemporal(v Value, from, to Type, style int) (Value, error) {
	syntax := Errorf(241, 1, 16, "Conversion failed when converting date and/or time from character string.")
	legacy := to.ID == DateTime || to.ID == SmallDateTime
	if to.ID == SmallDateTime {
		syntax = Errorf(295, 3, 16, "Conversion failed when converting character string to smalldatetime data type.")
	}
	parsed, result := parseTemporal(v.s, readingOf(style, legacy))
	switch {
	case result == parseStyle && !legacy:
		return Value{}, Errorf(9807, 0, 16, "The input character string does not follow style %d, either change the input character string or use a different style.", style)
	case result == parseRange && legacy:
		return Value{}, outOfRange(from, to)
	case result != parseOK:
		return Value{}, syntax
	case legacy && (parsed.fractionDigits > 3 || parsed.hasOffset && !parsed.zulu):
		return Value{}, syntax
	}
	m := parsed.moment
	if parsed.hasOffset && !parsed.zulu && to.ID != DateTimeOffset && to.ID != DateTime2 && to.ID != Time && to.ID != Date {
		return Value{}, syntax
	}
	built, ok := m.build(to)
	switch {
	case !ok && legacy:
		return Value{}, outOfRange(from, to)
	case !ok:
		return Value{}, syntax
	}
	return built, nil
}

// numberToDateTime counts days from 1900-01-01.
func numberToDateTime(v Value, from, to Type) (Value, error) {
	if to.ID != DateTime && to.ID != SmallDateTime {
		return Value{}, OperandClash(from.ID, to.ID)
	}
	overflow := overflowConverting("expression", to.Name(), 2)
	var days int
	var ticks int64
	if v.kind == KindInt {
		if v.Int64() < days1753 || v.Int64() > maxDateTimeDays {
			return Value{}, overflow
		}
		days = int(v.Int64())
	} else {
		f, err := toFloat(v, from, Simple(Float))
		if err != nil {
			return Value{}, err
		}
		whole := math.Floor(f.Float64())
		if whole < days1753 || whole > maxDateTimeDays {
			return Value{}, overflow
		}
		days = int(whole)
		ticks = int64(math.Round((f.Float64() - whole) * float64(Ticks300PerDay)))
		days, ticks = days+int(ticks/Ticks300PerDay), ticks%Ticks300PerDay
	}
	if to.ID == SmallDateTime {
		small, ok := smallDateTime(days, ticks)
		if !ok {
			return Value{}, overflow
		}
		return small, nil
	}
	if days > maxDateTimeDays {
		return Value{}, overflow
	}
	return DateTimeOf(days, ticks), nil
}

// bytesToTemporal reads what converting a date or time to varbinary gives.
func bytesToTemporal(raw string, from, to Type) (Value, error) {
	b := []byte(raw)
	switch to.ID {
	case DateTime:
		n := uint64(bytesToInteger(raw, Simple(BigInt)).Int64())
		days, ticks := int(int32(n>>32)), int64(uint32(n))
		if days < days1753 || days > maxDateTimeDays || ticks >= Ticks300PerDay {
			return Value{}, overflowConverting("expression", to.Name(), 2)
		}
		return DateTimeOf(days, ticks), nil
	case SmallDateTime:
		n := uint64(bytesToInteger(raw, Simple(BigInt)).Int64())
		days, minutes := int(uint16(n>>16)), int64(uint16(n))
		if minutes >= 24*60 {
			return Value{}, overflowConverting("expression", to.Name(), 2)
		}
		return DateTimeOf(days, minutes*Ticks300PerMinute), nil
	}
	scale := to.Scale
	if to.ID != Date {
		if len(b) == 0 || b[0] > 7 {
			return Value{}, errorConverting(from, to.Name())
		}
		scale, b = b[0], b[1:]
	}
	if len(b) < Type.MaxLength(Type{ID: to.ID, Scale: scale}) {
		return Value{}, errorConverting(from, to.Name())
	}
	var m moment
	var wide [8]byte
	if to.ID != Date {
		n := copy(wide[:], b[:timeBytes(scale)])
		m.ticks = int64(binary.LittleEndian.Uint64(wide[:])) * ticksPerUnit(scale)
		b = b[n:]
	}
	if to.ID != Time {
		m.days = int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		b = b[3:]
	}
	if to.ID == DateTimeOffset {
		m.offset = int(int16(binary.LittleEndian.Uint16(b)))
		if m.offset < -maxOffset || m.offset > maxOffset {
			return Value{}, errorConverting(from, to.Name())
		}
		m = m.add(int64(m.offset) * TicksPerMinute)
	}
	v, ok := m.build(to)
	if !ok || m.ticks >= TicksPerDay {
		return Value{}, errorConverting(from, to.Name())
	}
	return v, nil
}
