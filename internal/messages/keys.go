package messages

// The metadata keys. The first eight are always there where they apply: a ninth
// key would halve the throughput of the whole engine, because a Go map grows
// from one group of eight to a table.
const (
	MetaTopic          = "topic"
	MetaKey            = "key"
	MetaKind           = "kind"
	MetaOp             = "op"
	MetaDatabase       = "database"
	MetaDatabaseSchema = "database_schema"
	MetaTable          = "table"
	MetaPosition       = "position"

	MetaTombstone = "kafka_tombstone_message"
	MetaNewKey    = "__debezium.newkey"
	MetaOldKey    = "__debezium.oldkey"

	MetaCommitLSN   = "commit_lsn"
	MetaChangeLSN   = "change_lsn"
	MetaEventSerial = "event_serial_no"
	MetaSnapshot    = "snapshot"
	MetaSourceTime  = "source_ts_ms"
	MetaSchema      = "schema"
)

// Optional are the keys that metadata_include may ask for.
var Optional = []string{
	MetaCommitLSN, MetaChangeLSN, MetaEventSerial, MetaSnapshot, MetaSourceTime, MetaSchema,
}
