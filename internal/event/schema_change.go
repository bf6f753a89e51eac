package event

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// The types of schema changes.
const (
	TableCreated = "CREATE"
	TableAltered = "ALTER"
	TableDropped = "DROP"
)

// SchemaChange is a change of one table's structure.
type SchemaChange struct {
	// Type is one of the types above.
	Type string
	// Table is the structure from now on, or until now for a dropped table.
	Table *schema.Table
	// DDL is the statement as far as it is known; empty: null.
	DDL string
	// SourceTable is the table in the source block: that of the event before,
	// while streaming.
	SourceTable          schema.TableID
	Position             lsn.Position
	CommitLSN, ChangeLSN lsn.LSN // zero: null
	SourceTime           time.Time
	Serial               int64  // event_serial_no; zero: null
	Snapshot             string // marker; empty while streaming
}

// SchemaChanges writes schema-change messages. It is not safe for concurrent
// use.
type SchemaChanges struct {
	control control
	prefix  string
	now     func() time.Time
}

// NewSchemaChanges returns an encoder for the topic of schema changes.
func NewSchemaChanges(opts Options) (*SchemaChanges, error) {
	key := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.sqlserver.SchemaChangeKey", Version: 1,
		Fields: []schema.ConnectField{{Name: "databaseName", Schema: schema.ConnectSchema{Type: "string"}}},
	}
	c, err := newControl(KindSchemaChange, opts.Topics.SchemaChanges(), key, schemaChangeSchema(), opts)
	if err != nil {
		return nil, err
	}
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	return &SchemaChanges{control: c, prefix: opts.Topics.Prefix, now: now}, nil
}

func schemaChangeSchema() schema.ConnectSchema {
	str := schema.ConnectSchema{Type: "string"}
	optionalStr := schema.ConnectSchema{Type: "string", Optional: true}
	optionalInt := schema.ConnectSchema{Type: "int32", Optional: true}
	optionalBool := schema.ConnectSchema{Type: "boolean", Optional: true}
	integer := schema.ConnectSchema{Type: "int32"}
	column := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.schema.Column", Version: 1,
		Fields: []schema.ConnectField{
			{Name: "name", Schema: str},
			{Name: "jdbcType", Schema: integer},
			{Name: "nativeType", Schema: optionalInt},
			{Name: "typeName", Schema: str},
			{Name: "typeExpression", Schema: optionalStr},
			{Name: "charsetName", Schema: optionalStr},
			{Name: "length", Schema: optionalInt},
			{Name: "scale", Schema: optionalInt},
			{Name: "position", Schema: integer},
			{Name: "optional", Schema: optionalBool},
			{Name: "autoIncremented", Schema: optionalBool},
			{Name: "generated", Schema: optionalBool},
			{Name: "comment", Schema: optionalStr},
			{Name: "defaultValueExpression", Schema: optionalStr},
			{Name: "enumValues", Schema: schema.ConnectSchema{Type: "array", Items: &str, Optional: true}},
		},
	}
	table := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.schema.Table", Version: 1, Optional: true,
		Fields: []schema.ConnectField{
			{Name: "defaultCharsetName", Schema: optionalStr},
			{Name: "primaryKeyColumnNames", Schema: schema.ConnectSchema{Type: "array", Items: &str, Optional: true}},
			{Name: "columns", Schema: schema.ConnectSchema{Type: "array", Items: &column}},
			{Name: "comment", Schema: optionalStr},
		},
	}
	change := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.schema.Change", Version: 1,
		Fields: []schema.ConnectField{
			{Name: "type", Schema: str},
			{Name: "id", Schema: str},
			{Name: "table", Schema: table},
		},
	}
	return schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.sqlserver.SchemaChangeValue", Version: 1,
		Fields: []schema.ConnectField{
			{Name: "source", Schema: sourceSchema()},
			{Name: "ts_ms", Schema: schema.ConnectSchema{Type: "int64"}},
			{Name: "databaseName", Schema: optionalStr},
			{Name: "schemaName", Schema: optionalStr},
			{Name: "ddl", Schema: optionalStr},
			{Name: "tableChanges", Schema: schema.ConnectSchema{Type: "array", Items: &change}},
		},
	}
}

// Append appends the message of a schema change.
func (s *SchemaChanges) Append(dst *Batch, c SchemaChange) error {
	o := origin{time: c.SourceTime, snapshot: c.Snapshot, change: c.ChangeLSN, commit: c.CommitLSN, serial: c.Serial}
	if o.snapshot == "" {
		o.snapshot = streaming
	}
	id := c.Table.ID()
	key := append(schema.AppendString([]byte(`{"databaseName":`), id.Database), '}')

	block := newSource(s.prefix, c.SourceTable)
	value := block.append([]byte(`{"source":`), &o)
	value = strconv.AppendInt(append(value, `,"ts_ms":`...), s.now().UnixMilli(), 10)
	value = schema.AppendString(append(value, `,"databaseName":`...), id.Database)
	value = schema.AppendString(append(value, `,"schemaName":`...), id.Schema)
	value = appendOptional(append(value, `,"ddl":`...), c.DDL)
	value = schema.AppendString(append(value, `,"tableChanges":[{"type":`...), c.Type)
	value = schema.AppendString(append(value, `,"id":`...), quotedID(id))
	value = append(value, `,"table":`...)
	if c.Type == TableDropped {
		value = append(value, "null"...)
	} else {
		value = appendTable(value, c.Table)
	}
	value = append(value, `}]}`...)

	return s.control.append(dst, Message{
		Database: id.Database, Schema: id.Schema, Table: id.Name,
		Position: c.Position, Snapshot: o.snapshot, SourceTime: c.SourceTime,
		CommitLSN: c.CommitLSN, ChangeLSN: c.ChangeLSN, EventSerial: c.Serial,
	}, key, value)
}

// StructureDigest stands for what a schema change shows of a table: equal
// digests, equal messages.
func StructureDigest(t *schema.Table) string {
	sum := sha256.Sum256(appendTable(nil, t))
	return hex.EncodeToString(sum[:16])
}

// quotedID is a table's name as Debezium writes it in schema changes.
func quotedID(id schema.TableID) string {
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	return quote(id.Database) + "." + quote(id.Schema) + "." + quote(id.Name)
}

// appendTable appends a table with all its captured columns: what is left out
// of events is told of as in Debezium, which filters columns only when it makes
// events' schemas (TableSchemaBuilder).
func appendTable(dst []byte, t *schema.Table) []byte {
	dst = append(dst, `{"defaultCharsetName":null,"primaryKeyColumnNames":[`...)
	for i, name := range t.OwnKey() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(dst, name)
	}
	dst = append(dst, `],"columns":[`...)
	for i, c := range t.Captured() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendColumn(dst, c, i+1)
	}
	return append(dst, `],"comment":null}`...)
}

// appendColumn appends a column; positions count the columns listed.
func appendColumn(dst []byte, c schema.Column, position int) []byte {
	jdbc := c.Type.JDBC()
	typeName := c.Type.Name
	if c.Identity {
		typeName += " identity"
	}
	dst = schema.AppendString(append(dst, `{"name":`...), c.Name)
	dst = strconv.AppendInt(append(dst, `,"jdbcType":`...), int64(jdbc.Code), 10)
	dst = schema.AppendString(append(dst, `,"nativeType":null,"typeName":`...), typeName)
	dst = schema.AppendString(append(dst, `,"typeExpression":`...), typeName)
	dst = appendLength(append(dst, `,"charsetName":null,"length":`...), jdbc.Length)
	dst = appendLength(append(dst, `,"scale":`...), jdbc.Scale)
	dst = strconv.AppendInt(append(dst, `,"position":`...), int64(position), 10)
	dst = strconv.AppendBool(append(dst, `,"optional":`...), c.Nullable)
	dst = strconv.AppendBool(append(dst, `,"autoIncremented":`...), c.Identity)
	dst = strconv.AppendBool(append(dst, `,"generated":`...), c.Computed)
	dst = appendOptional(append(dst, `,"comment":null,"defaultValueExpression":`...), c.Default)
	return append(dst, `,"enumValues":null}`...)
}

// appendOptional appends a string, or null for none.
func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return schema.AppendString(dst, s)
}

func appendLength(dst []byte, n int) []byte {
	if n == schema.NoLength {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
