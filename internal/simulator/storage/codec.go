package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// fileFormat is the version of everything in this file and in opcodec.go; it stands in
// a file's header.
const fileFormat = 1

// The codes of value kinds in files. They never change, whatever sqltypes does.
const (
	codeNull           = 0
	codeInt            = 1
	codeFloat          = 2
	codeDecimal        = 3
	codeMoney          = 4
	codeText           = 5
	codeBytes          = 6
	codeGUID           = 7
	codeDate           = 8
	codeTime           = 9
	codeDateTime       = 10
	codeDateTime2      = 11
	codeDateTimeOffset = 12
	// codeVariant is followed by the base type and the value.
	codeVariant = 13
)

// appendValue appends a value: a code and what it needs.
func appendValue(b []byte, v sqltypes.Value) []byte {
	if base, typ := v.Variant(); typ.ID != sqltypes.Unknown {
		return appendValue(appendType(append(b, codeVariant), typ), base)
	}
	switch v.Kind() {
	case sqltypes.KindNull:
		return append(b, codeNull)
	case sqltypes.KindInt:
		return binary.AppendVarint(append(b, codeInt), v.Int64())
	case sqltypes.KindFloat:
		return binary.LittleEndian.AppendUint64(append(b, codeFloat), math.Float64bits(v.Float64()))
	case sqltypes.KindDecimal:
		d := v.Dec()
		b = appendBool(append(b, codeDecimal, d.Scale), d.Neg)
		return binary.AppendUvarint(binary.AppendUvarint(b, d.Hi), d.Lo)
	case sqltypes.KindMoney:
		return binary.AppendVarint(append(b, codeMoney), v.Int64())
	case sqltypes.KindText:
		return appendString(append(b, codeText), v.Str())
	case sqltypes.KindBytes:
		return appendString(append(b, codeBytes), v.Raw())
	case sqltypes.KindGUID:
		guid := v.GUID()
		return append(append(b, codeGUID), guid[:]...)
	case sqltypes.KindDate:
		return binary.AppendVarint(append(b, codeDate), int64(v.Days()))
	case sqltypes.KindTime:
		return binary.AppendVarint(append(b, codeTime), v.Ticks())
	case sqltypes.KindDateTime:
		return appendDayTime(append(b, codeDateTime), v)
	case sqltypes.KindDateTime2:
		return appendDayTime(append(b, codeDateTime2), v)
	case sqltypes.KindDateTimeOffset:
		return binary.AppendVarint(appendDayTime(append(b, codeDateTimeOffset), v), int64(v.Offset()))
	default:
		panic(fmt.Sprintf("storing a value of unknown kind %d", v.Kind()))
	}
}

func appendDayTime(b []byte, v sqltypes.Value) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, int64(v.Days())), v.Ticks())
}

func appendRow(b []byte, row Row) []byte {
	b = binary.AppendUvarint(b, uint64(len(row)))
	for _, v := range row {
		b = appendValue(b, v)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// noTime stands for the zero time, which has no nanoseconds since 1970.
const noTime = math.MinInt64

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return binary.AppendVarint(b, noTime)
	}
	return binary.AppendVarint(b, t.UnixNano())
}

func appendType(b []byte, t sqltypes.Type) []byte {
	b = appendString(b, t.ID.Name())
	b = binary.AppendVarint(b, int64(t.Length))
	b = append(b, t.Precision, t.Scale)
	collation := ""
	if t.Collation != nil {
		collation = t.Collation.Name
	}
	return appendString(b, collation)
}

func appendTableDef(b []byte, def TableDef) []byte {
	b = binary.AppendVarint(b, def.ID)
	b = appendString(b, def.Name)
	b = binary.AppendUvarint(b, uint64(len(def.Columns)))
	for _, c := range def.Columns {
		b = appendType(b, c)
	}
	b = binary.AppendUvarint(b, uint64(len(def.Indexes)))
	for _, ix := range def.Indexes {
		b = binary.AppendUvarint(b, uint64(ix.ID))
		b = appendBool(b, ix.Unique)
		b = appendString(b, ix.FilterSource)
		b = binary.AppendUvarint(b, uint64(len(ix.Columns)))
		for _, c := range ix.Columns {
			b = appendBool(binary.AppendUvarint(b, uint64(c.Ordinal)), c.Desc)
		}
	}
	return b
}

// errMalformed says that bytes with a valid checksum make no sense.
var errMalformed = errors.New("malformed record")

// decoder takes a payload apart. After an error every read returns zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.b = nil
	if d.err == nil {
		d.err = errMalformed
	}
}

// more reports that there is something left to read.
func (d *decoder) more() bool { return d.err == nil && len(d.b) > 0 }

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) byte() byte {
	p := d.take(1)
	if p == nil {
		return 0
	}
	return p[0]
}

func (d *decoder) bool() bool { return d.byte() != 0 }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

func (d *decoder) time() time.Time {
	nanos := d.varint()
	if nanos == noTime {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// count reads the length of a list whose items take at least one byte each, so that a
// damaged length cannot ask for much memory.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) value() sqltypes.Value {
	code := d.byte()
	if code != codeVariant {
		return d.plainValue(code)
	}
	typ := d.typ()
	v := d.plainValue(d.byte())
	if typ.ID == sqltypes.Unknown || typ.ID == sqltypes.SQLVariant || v.IsNull() {
		d.fail()
		return sqltypes.Null()
	}
	return sqltypes.VariantOf(v, typ)
}

func (d *decoder) plainValue(code byte) sqltypes.Value {
	switch code {
	case codeNull:
		return sqltypes.Null()
	case codeInt:
		return sqltypes.IntOf(d.varint())
	case codeFloat:
		p := d.take(8)
		if p == nil {
			return sqltypes.Null()
		}
		return sqltypes.FloatOf(math.Float64frombits(binary.LittleEndian.Uint64(p)))
	case codeDecimal:
		scale, neg := d.byte(), d.bool()
		hi := d.uvarint()
		return sqltypes.DecimalOf(neg, hi, d.uvarint(), scale)
	case codeMoney:
		return sqltypes.MoneyOf(d.varint())
	case codeText:
		return sqltypes.StringOf(d.string())
	case codeBytes:
		return sqltypes.RawOf(d.string())
	case codeGUID:
		var guid [16]byte
		copy(guid[:], d.take(16))
		return sqltypes.GUIDOf(guid)
	case codeDate:
		return sqltypes.DateOf(int(d.varint()))
	case codeTime:
		return sqltypes.TimeOf(d.varint())
	case codeDateTime:
		days := int(d.varint())
		return sqltypes.DateTimeOf(days, d.varint())
	case codeDateTime2:
		days := int(d.varint())
		return sqltypes.DateTime2Of(days, d.varint())
	case codeDateTimeOffset:
		days, ticks := int(d.varint()), d.varint()
		return sqltypes.DateTimeOffsetOf(days, ticks, int(d.varint()))
	default:
		d.fail()
		return sqltypes.Null()
	}
}

func (d *decoder) row() Row {
	n := d.count()
	if d.err != nil {
		return nil
	}
	row := make(Row, n)
	for i := range row {
		row[i] = d.value()
	}
	return row
}

// typeIDs finds types by name, which files use so that sqltypes may renumber them.
var typeIDs = func() map[string]sqltypes.ID {
	ids := make(map[string]sqltypes.ID)
	for id := sqltypes.Unknown; id <= sqltypes.Geography; id++ {
		ids[id.Name()] = id
	}
	return ids
}()

func (d *decoder) typ() sqltypes.Type {
	id, ok := typeIDs[d.string()]
	t := sqltypes.Type{ID: id, Length: int(d.varint()), Precision: d.byte(), Scale: d.byte()}
	if name := d.string(); name != "" {
		collation, known := sqltypes.LookupCollation(name)
		t.Collation, ok = collation, ok && known
	}
	if !ok {
		d.fail()
	}
	return t
}

func (d *decoder) tableDef() TableDef {
	def := TableDef{ID: d.varint(), Name: d.string()}
	for range d.count() {
		def.Columns = append(def.Columns, d.typ())
	}
	for range d.count() {
		ix := IndexDef{ID: int(d.uvarint()), Unique: d.bool(), FilterSource: d.string()}
		for range d.count() {
			ix.Columns = append(ix.Columns, IndexColumn{Ordinal: int(d.uvarint()), Desc: d.bool()})
		}
		def.Indexes = append(def.Indexes, ix)
	}
	if d.err == nil && def.validate() != nil {
		d.fail()
	}
	return def
}
