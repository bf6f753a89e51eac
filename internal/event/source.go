package event

import (
	"strconv"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Version is the connector's version in source blocks.
var Version = "0.1.0"

// Connector is the connector's name in source blocks, by which consumers of
// Debezium's events tell databases apart.
const Connector = "sqlserver"

// streaming is the snapshot marker of events that come from change tables.
const streaming = "false"

// sourceSchema is the schema of the source block.
func sourceSchema() schema.ConnectSchema {
	str := schema.ConnectSchema{Type: "string"}
	optionalStr := schema.ConnectSchema{Type: "string", Optional: true}
	optionalInt := schema.ConnectSchema{Type: "int64", Optional: true}
	return schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.sqlserver.Source", Version: 1,
		Fields: []schema.ConnectField{
			{Name: "version", Schema: str},
			{Name: "connector", Schema: str},
			{Name: "name", Schema: str},
			{Name: "ts_ms", Schema: schema.ConnectSchema{Type: "int64"}},
			{Name: "snapshot", Schema: schema.ConnectSchema{
				Type: "string", Optional: true, Name: "io.debezium.data.Enum", Version: 1,
				Parameters: []schema.Parameter{{
					Name:  "allowed",
					Value: "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental",
				}},
				Default: []byte(`"false"`),
			}},
			{Name: "db", Schema: str},
			{Name: "sequence", Schema: optionalStr},
			{Name: "ts_us", Schema: optionalInt},
			{Name: "ts_ns", Schema: optionalInt},
			{Name: "schema", Schema: str},
			{Name: "table", Schema: str},
			{Name: "change_lsn", Schema: optionalStr},
			{Name: "commit_lsn", Schema: optionalStr},
			{Name: "event_serial_no", Schema: optionalInt},
		},
	}
}

// source writes the source blocks of one table.
type source struct {
	// Strings put into interfaces once, for the structured form.
	prefix, database, schema, table any
	// What stands before the values that change.
	beforeMillis, beforeMicros, beforeChange []byte
	stamp                                    stamp
}

func newSource(prefix string, id schema.TableID) source {
	s := source{prefix: prefix, database: id.Database, schema: id.Schema, table: id.Name}

	b := schema.AppendString([]byte(`{"version":`), Version)
	b = schema.AppendString(append(b, `,"connector":`...), Connector)
	b = schema.AppendString(append(b, `,"name":`...), prefix)
	s.beforeMillis = append(b, `,"ts_ms":`...)

	b = schema.AppendString([]byte(`,"db":`), id.Database)
	s.beforeMicros = append(b, `,"sequence":null,"ts_us":`...)

	b = schema.AppendString([]byte(`,"schema":`), id.Schema)
	b = schema.AppendString(append(b, `,"table":`...), id.Name)
	s.beforeChange = append(b, `,"change_lsn":`...)
	return s
}

// origin is what the source block of one event says.
type origin struct {
	time           time.Time
	snapshot       string
	change, commit lsn.LSN // zero: null
	serial         int64   // zero: null
}

func (s *source) append(dst []byte, o *origin) []byte {
	s.stamp.set(o.time)
	dst = append(dst, s.beforeMillis...)
	dst = append(dst, s.stamp.millis...)
	dst = schema.AppendString(append(dst, `,"snapshot":`...), o.snapshot)
	dst = append(dst, s.beforeMicros...)
	dst = append(dst, s.stamp.micros...)
	dst = append(dst, `,"ts_ns":`...)
	dst = append(dst, s.stamp.nanos...)
	dst = append(dst, s.beforeChange...)
	dst = appendLSN(dst, o.change)
	dst = appendLSN(append(dst, `,"commit_lsn":`...), o.commit)
	dst = append(dst, `,"event_serial_no":`...)
	if o.serial == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendInt(dst, o.serial, 10)
	}
	return append(dst, '}')
}

// appendLSN appends an LSN as a JSON string, the zero LSN as null.
func appendLSN(dst []byte, l lsn.LSN) []byte {
	if l.IsZero() {
		return append(dst, "null"...)
	}
	return append(l.Append(append(dst, '"')), '"')
}

func (s *source) structured(o *origin) map[string]any {
	m := map[string]any{
		"version": Version, "connector": Connector, "name": s.prefix,
		"ts_ms": o.time.UnixMilli(), "snapshot": o.snapshot, "db": s.database, "sequence": nil,
		"ts_us": o.time.UnixMicro(), "ts_ns": o.time.UnixNano(),
		"schema": s.schema, "table": s.table,
		"change_lsn": nil, "commit_lsn": nil, "event_serial_no": nil,
	}
	if !o.change.IsZero() {
		m["change_lsn"] = o.change.String()
	}
	if !o.commit.IsZero() {
		m["commit_lsn"] = o.commit.String()
	}
	if o.serial != 0 {
		m["event_serial_no"] = o.serial
	}
	return m
}
