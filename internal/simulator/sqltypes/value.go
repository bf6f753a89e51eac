package sqltypes

import (
	"encoding/binary"
	"math"
)

// Kind says what a Value holds. Several types share a kind: all integers are
// KindInt, datetime and smalldatetime are KindDateTime.
type Kind uint8

// The kinds of values. KindNull is the zero Value.
const (
	KindNull Kind = iota
	KindInt
	KindFloat
	KindDecimal
	KindMoney
	KindText
	KindBytes
	KindGUID
	KindDate
	KindTime
	KindDateTime
	KindDateTime2
	KindDateTimeOffset
)

// Value is one SQL value without its type. It is immutable and cheap to copy;
// numbers, dates and GUIDs allocate nothing. Compare values with [Compare], not ==:
// equal text may differ in bytes.
type Value struct {
	s      string // text (WTF-8) or bytes
	n      uint64 // integer, float bits, money, decimal low word, ticks, GUID head; of text and bytes in a variant: the base type's facets
	hi     uint64 // decimal high word, days, GUID tail
	kind   Kind
	scale  uint8 // of a decimal; of a time held in a variant
	neg    bool  // of a decimal
	base   ID    // base type of a sql_variant, else Unknown
	offset int16 // minutes east of UTC of a datetimeoffset
	prec   uint8 // base type's precision in a sql_variant
}

// Dec is a decimal number: an unsigned 128-bit magnitude, a sign and a scale.
// Zero is never negative.
type Dec struct {
	Hi, Lo uint64
	Scale  uint8
	Neg    bool
}

// Null returns NULL.
func Null() Value { return Value{} }

// BoolOf returns a bit.
func BoolOf(b bool) Value {
	if b {
		return IntOf(1)
	}
	return IntOf(0)
}

// IntOf returns an integer of any width.
func IntOf(i int64) Value { return Value{kind: KindInt, n: uint64(i)} }

// FloatOf returns a float or real.
func FloatOf(f float64) Value { return Value{kind: KindFloat, n: math.Float64bits(f)} }

// DecimalOf returns a decimal of magnitude hi·2^64+lo, times 10^-scale.
func DecimalOf(neg bool, hi, lo uint64, scale uint8) Value {
	return Value{kind: KindDecimal, n: lo, hi: hi, scale: scale, neg: neg && hi|lo != 0}
}

// DecOf returns the decimal d.
func DecOf(d Dec) Value { return DecimalOf(d.Neg, d.Hi, d.Lo, d.Scale) }

// MoneyOf returns a money or smallmoney of tenThousandths times 10^-4.
func MoneyOf(tenThousandths int64) Value { return Value{kind: KindMoney, n: uint64(tenThousandths)} }

// StringOf returns a text. Lone surrogates are kept in WTF-8: see [DecodeUTF16].
func StringOf(s string) Value { return Value{kind: KindText, s: s} }

// BytesOf returns a binary value; b is copied.
func BytesOf(b []byte) Value { return Value{kind: KindBytes, s: string(b)} }

// RawOf returns a binary value of the bytes of s, without a copy.
func RawOf(s string) Value { return Value{kind: KindBytes, s: s} }

// GUIDOf returns a uniqueidentifier from its 16 bytes in wire order, in which the
// first three groups are little-endian.
func GUIDOf(wire [16]byte) Value {
	return Value{kind: KindGUID, n: binary.BigEndian.Uint64(wire[:8]), hi: binary.BigEndian.Uint64(wire[8:])}
}

// DateOf returns a date, in days since 0001-01-01.
func DateOf(days int) Value { return Value{kind: KindDate, hi: uint64(int64(days))} }

// TimeOf returns a time of day, in 100 ns ticks since midnight.
func TimeOf(ticks int64) Value { return Value{kind: KindTime, n: uint64(ticks)} }

// DateTimeOf returns a datetime or smalldatetime: days since 1900-01-01 (negative
// before) and 1/300 seconds since midnight.
func DateTimeOf(days int, ticks300 int64) Value {
	return Value{kind: KindDateTime, n: uint64(ticks300), hi: uint64(int64(days))}
}

// DateTime2Of returns a datetime2: days since 0001-01-01 and 100 ns ticks since
// midnight.
func DateTime2Of(days int, ticks int64) Value {
	return Value{kind: KindDateTime2, n: uint64(ticks), hi: uint64(int64(days))}
}

// DateTimeOffsetOf returns a datetimeoffset: days since 0001-01-01 and 100 ns ticks
// in UTC, and the offset in minutes.
func DateTimeOffsetOf(utcDays int, utcTicks int64, minutes int) Value {
	return Value{kind: KindDateTimeOffset, n: uint64(utcTicks), hi: uint64(int64(utcDays)), offset: int16(minutes)}
}

// IsNull reports NULL.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Kind returns what v holds.
func (v Value) Kind() Kind { return v.kind }

// Bool returns whether an integer is not zero.
func (v Value) Bool() bool { return v.n != 0 }

// Int64 returns an integer, or the ten-thousandths of a money.
func (v Value) Int64() int64 { return int64(v.n) }

// Float64 returns a float.
func (v Value) Float64() float64 { return math.Float64frombits(v.n) }

// Dec returns a decimal.
func (v Value) Dec() Dec { return Dec{Hi: v.hi, Lo: v.n, Scale: v.scale, Neg: v.neg} }

// Str returns a text.
func (v Value) Str() string { return v.s }

// Raw returns the bytes of a binary value as a string, without a copy.
func (v Value) Raw() string { return v.s }

// Bytes returns a copy of the bytes of a binary value.
func (v Value) Bytes() []byte { return []byte(v.s) }

// GUID returns the 16 bytes of a uniqueidentifier in wire order.
func (v Value) GUID() [16]byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], v.n)
	binary.BigEndian.PutUint64(b[8:], v.hi)
	return b
}

// Days returns the days of a date or time value: since 1900-01-01 for
// KindDateTime, since 0001-01-01 (in UTC for a datetimeoffset) for the others.
func (v Value) Days() int { return int(int64(v.hi)) }

// Ticks returns the time of day: 1/300 s for KindDateTime, 100 ns (in UTC for a
// datetimeoffset) for the others.
func (v Value) Ticks() int64 { return int64(v.n) }

// Offset returns the minutes east of UTC of a datetimeoffset.
func (v Value) Offset() int { return int(v.offset) }
