package schema

import (
	"database/sql/driver"
	"time"
)

// The ISO texts are those of Java's DateTimeFormatter as Debezium uses it:
// seconds always, a fraction only if it is not zero and without its trailing
// zeros, Z for a zero offset.

func timeOf(v driver.Value) (time.Time, error) {
	t, ok := v.(time.Time)
	if !ok {
		return time.Time{}, typeError(v, "time.Time")
	}
	return t, nil
}

// appendISODate appends a date such as 2018-07-13Z.
func appendISODate(dst []byte, v driver.Value) ([]byte, error) {
	t, err := timeOf(v)
	if err != nil {
		return dst, err
	}
	return append(appendDate(dst, t), 'Z'), nil
}

// appendISOTime appends a time such as 10:23:45.68Z.
func appendISOTime(dst []byte, v driver.Value) ([]byte, error) {
	t, err := timeOf(v)
	if err != nil {
		return dst, err
	}
	return append(appendClock(dst, t), 'Z'), nil
}

// appendISOTimestamp appends a timestamp such as 2018-07-13T11:23:45.34Z.
func appendISOTimestamp(dst []byte, v driver.Value) ([]byte, error) {
	t, err := timeOf(v)
	if err != nil {
		return dst, err
	}
	dst = append(appendDate(dst, t), 'T')
	return append(appendClock(dst, t), 'Z'), nil
}

// appendZoned appends a datetimeoffset in its own offset, such as
// 2018-07-13T12:23:45.456+11:00.
func appendZoned(dst []byte, v driver.Value) ([]byte, error) {
	t, err := timeOf(v)
	if err != nil {
		return dst, err
	}
	dst = append(appendDate(dst, t), 'T')
	dst = appendClock(dst, t)
	_, offset := t.Zone()
	if offset == 0 {
		return append(dst, 'Z'), nil
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = appendTwo(append(dst, sign), offset/3600)
	return appendTwo(append(dst, ':'), offset%3600/60), nil
}

func appendDate(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	dst = appendTwo(appendTwo(dst, year/100), year%100)
	dst = appendTwo(append(dst, '-'), int(month))
	return appendTwo(append(dst, '-'), day)
}

func appendClock(dst []byte, t time.Time) []byte {
	hour, minute, second := t.Clock()
	dst = appendTwo(dst, hour)
	dst = appendTwo(append(dst, ':'), minute)
	dst = appendTwo(append(dst, ':'), second)
	nanos := t.Nanosecond()
	if nanos == 0 {
		return dst
	}
	dst = append(dst, '.')
	for divisor := 100_000_000; nanos > 0; divisor /= 10 {
		dst = append(dst, '0'+byte(nanos/divisor))
		nanos %= divisor
	}
	return dst
}

func appendTwo(dst []byte, n int) []byte { return append(dst, '0'+byte(n/10), '0'+byte(n%10)) }
