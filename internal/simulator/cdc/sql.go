package cdc

import (
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// sysname is the type of identifiers.
var sysname = sqltypes.NVarCharOf(128)

var (
	lsnType      = sqltypes.BinaryOf(storageLSNSize)
	intType      = sqltypes.Simple(sqltypes.Int)
	bigintType   = sqltypes.Simple(sqltypes.BigInt)
	smallintType = sqltypes.Simple(sqltypes.SmallInt)
	tinyintType  = sqltypes.Simple(sqltypes.TinyInt)
	bitType      = sqltypes.Simple(sqltypes.Bit)
	datetimeType = sqltypes.Simple(sqltypes.DateTime)
	guidType     = sqltypes.Simple(sqltypes.UniqueIdentifier)
	textType     = sqltypes.NVarCharOf(sqltypes.Max)
)

const storageLSNSize = len(storage.LSN{})

// quote brackets an identifier.
func quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// arg is a statement's parameter; its type is the widest that holds the value.
func arg(name string, v any) engine.Arg {
	a := engine.Arg{Name: "@" + name}
	switch v := v.(type) {
	case int64:
		a.Type, a.Value = bigintType, sqltypes.IntOf(v)
	case int:
		a.Type, a.Value = bigintType, sqltypes.IntOf(int64(v))
	case bool:
		a.Type, a.Value = bitType, sqltypes.BoolOf(v)
	case string:
		a.Type, a.Value = textType, sqltypes.StringOf(v)
	case storage.LSN:
		a.Type, a.Value = lsnType, lsnValue(v)
	case typed:
		a.Type, a.Value = v.typ, v.value
	}
	return a
}

// typed is a value with its type, for arg.
type typed struct {
	typ   sqltypes.Type
	value sqltypes.Value
}

// rows runs a query and returns its rows.
func rows(x *engine.Exec, sql string, args ...engine.Arg) ([][]sqltypes.Value, error) {
	rs, err := x.Query(sql, args...)
	if err != nil {
		return nil, err
	}
	return rs.Rows, nil
}

// one runs a query and returns its only row, nil when there is none.
func one(x *engine.Exec, sql string, args ...engine.Arg) ([]sqltypes.Value, error) {
	list, err := rows(x, sql, args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// run executes statements that answer nothing.
func run(x *engine.Exec, sql string, args ...engine.Arg) error {
	_, err := x.Exec(sql, args...)
	return err
}

// localTime is a point in time as the datetime of the server's clock on the
// wall, which is what the mapping table holds.
func localTime(t time.Time, loc *time.Location) sqltypes.Value {
	t = t.In(loc)
	year, month, day := t.Date()
	days := int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Sub(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
	hour, minute, second := t.Clock()
	ticks := int64(hour*3600+minute*60+second)*sqltypes.TicksPerSecond + int64(t.Nanosecond())/100
	v, _ := sqltypes.BuildTemporal(datetimeType, days+sqltypes.Days1900, ticks, 0)
	return v
}

// textOrEmpty is a text argument, or nothing for NULL.
func textOrEmpty(v sqltypes.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Str()
}
