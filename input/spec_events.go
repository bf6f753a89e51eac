package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

func eventFields() []*service.ConfigField {
	return []*service.ConfigField{
		stringField(fieldTopicPrefix).
			Description("The logical name of the server: the first part of every topic name, and a part of the key under which the position is kept. Changing it starts afresh.").
			Example("server1"),
		stringField(fieldTopicDelimiter).
			Description("What stands between the parts of a topic's name.").
			Default(".").Advanced(),
		annotatedField(fieldTopicNaming, map[string]string{
			namingWithDatabase:    "`topic_prefix.database.schema.table`, as Debezium since 2.0.",
			namingWithoutDatabase: "`topic_prefix.schema.table`, as Debezium 1.x. Tables of one name in several databases then share a topic.",
		}).
			Description("The names of the topics of tables. The names of schemas follow them. Other names are a matter of the pipeline.").
			Default(namingWithDatabase).Advanced(),
		boolField(fieldIncludeSchemaChanges).
			Description("Whether messages of a topic of their own, named `topic_prefix` alone, tell of the structure of tables: all before the snapshot, then those that are new, altered or dropped. Their `kind` is `schema_change`.").
			Default(true),
		boolField(fieldSchemaChangesCapturedOnly).
			Description("Whether these messages before the snapshot are about the captured tables only, instead of all tables of the database. A table that is captured later has a message then, whether it had one before or not.").
			Default(true).Advanced(),
		boolField(fieldProvideTransactionMetadata).
			Description("Whether events of changes carry their transaction and their place in it, and messages of a topic of their own mark the beginning and the end of each transaction.").
			Default(false).Advanced(),
		stringField(fieldTopicTransaction).
			Description("The last part of the topic of transactions, after `topic_prefix`.").
			Default(event.DefaultTransaction).Advanced(),
		stringField(fieldTopicHeartbeatPrefix).
			Description("The first part of the topic of heartbeats, before `topic_prefix`.").
			Default(event.DefaultHeartbeatPrefix).Advanced(),
		stringField(fieldTopicHeartbeatName).
			Description("The topic of heartbeats, instead of `topic_heartbeat_prefix` and `topic_prefix`.").
			Optional().Advanced(),
		boolField(fieldSchemasEnable).
			Description("Whether keys and values are wrapped in `schema` and `payload`, as Kafka Connect's JSON converter does by default. Schemas multiply the size of messages.").
			Default(false),
		boolField(fieldKeySchemasEnable).
			Description("`schemas_enable` for keys alone.").
			Optional().Advanced(),
		boolField(fieldValueSchemasEnable).
			Description("`schemas_enable` for values alone.").
			Optional().Advanced(),
		boolField(fieldTombstonesOnDelete).
			Description("Whether a delete is followed by a message without a value, so that compacted Kafka topics drop the key. Its payload is null, which is not the same as empty: a mapping cannot produce it, only pass it on.").
			Default(true),
		listField(fieldMetadataInclude).
			Description("Further metadata keys: `commit_lsn`, `change_lsn`, `event_serial_no`, `snapshot`, `source_ts_ms` (as in the `source` block), and `schema`, the Benthos schema of the row. Each makes messages more expensive; the payload's `source` block has most of them already.").
			Default([]any{}).Advanced().
			Example([]string{messages.MetaCommitLSN, messages.MetaSchema}),
		annotatedField(fieldSourceTimestampMode, map[string]string{
			string(stream.TimeCommit):     "When the transaction ended.",
			string(stream.TimeBegin):      "When the transaction began, as Debezium says in its direct mode.",
			string(stream.TimeProcessing): "When the change was read.",
		}).
			Description("What `source.ts_ms`, `ts_us` and `ts_ns` of a change mean. The server records the times of transactions to about three milliseconds.").
			Default(string(stream.TimeCommit)).Advanced(),
		boolField(fieldExtendedHeadersEnabled).
			Description("Whether messages of tables carry Debezium's context headers as metadata: `__debezium.context.connectorLogicalName` (`topic_prefix`), `.taskId` (always 0), `.connectorName` (sqlserver) and `.runId` (random for each start). On by default in Debezium; four more metadata keys cost throughput.").
			Default(false).Advanced(),
		annotatedField(fieldTimePrecisionMode, map[string]string{
			string(schema.TimeAdaptive):                 "As the column: milliseconds, microseconds or nanoseconds. A `datetime2(7)` outside 1677 to 2262 does not fit and is an error.",
			string(schema.TimeAdaptiveTimeMicroseconds): "The same, but `time` columns in microseconds.",
			string(schema.TimeConnect):                  "Kafka Connect's types, in milliseconds: digits beyond are cut off.",
			string(schema.TimeISOString):                "ISO 8601 text with all digits; holds every date.",
			string(schema.TimeMicroseconds):             "Microseconds: the seventh digit is cut off; holds every date.",
			string(schema.TimeNanoseconds):              "Nanoseconds; dates outside 1677 to 2262 do not fit and are an error.",
		}).
			Description("How dates and times are written. `datetimeoffset` is ISO 8601 text in every mode.").
			Default(string(schema.TimeAdaptive)).Advanced(),
		annotatedField(fieldDecimalHandlingMode, map[string]string{
			string(schema.DecimalPrecise): "Exact, as Kafka Connect's Decimal: base64 of the unscaled number.",
			string(schema.DecimalString):  "Exact, as text.",
			string(schema.DecimalDouble):  "A JSON number. It loses digits beyond the fifteenth or so.",
		}).
			Description("How `decimal`, `numeric`, `money` and `smallmoney` are written.").
			Default(string(schema.DecimalPrecise)).Advanced(),
		annotatedField(fieldBinaryHandlingMode, map[string]string{
			string(schema.BinaryBytes):         "Bytes, which JSON shows in base64.",
			string(schema.BinaryBase64):        "Text in base64: the same JSON, another schema.",
			string(schema.BinaryBase64URLSafe): "Text in the URL-safe alphabet of base64.",
			string(schema.BinaryHex):           "Text in lower-case hexadecimal digits.",
		}).
			Description("How `binary`, `varbinary`, `image`, `rowversion` and the CLR types are written.").
			Default(string(schema.BinaryBytes)).Advanced(),
		enumField(fieldSchemaNameAdjustmentMode, modeNames(schema.NameAdjustments)...).
			Description("How the names of schemas are made to fit Avro: not at all; `avro`: an underscore for each character that Avro does not allow; `avro_unicode`: the character's number, so that different names stay different.").
			Default(string(schema.NamesUnchanged)).Advanced(),
		enumField(fieldFieldNameAdjustmentMode, modeNames(schema.NameAdjustments)...).
			Description("The same for the names of columns.").
			Default(string(schema.NamesUnchanged)).Advanced(),
		annotatedField(fieldEventConvertingFailureHandlingMode, map[string]string{
			string(event.FailuresWarn): "It is null in the event and optional in the schema, counted, and logged once for each column.",
			string(event.FailuresFail): "The input stops with an error that names table, column and position.",
			string(event.FailuresSkip): "As `warn`, but not logged.",
		}).
			Description("What becomes of a value that has no form in events: a NULL that change data capture recorded in a NOT NULL column, or a value outside the range of its type, such as a nanosecond timestamp of the year 9999. Unset, the first is treated as by `warn` and the second as by `fail`. In a key a value out of range is always an error.").
			Optional().Advanced(),
		annotatedField(fieldEventProcessingFailureHandlingMode, map[string]string{
			processingFail:   "The input stops before it, with an error that names table, column and position; see `on_fatal`.",
			processingWarn:   "It is left out and counted, and a warning names table, column and position of each.",
			processingSkip:   "It is left out and counted, and only the debug log names it.",
			processingIgnore: "Debezium's old name of `skip`.",
		}).
			Description("What becomes of a change, or of a row of the snapshot, of which no event can be made: a value in it has no form in events, and `event_converting_failure_handling_mode` does not put null in its place, as it never does in a key. What is left out is lost to consumers; the position moves past it. A table of which no events can be made at all is always an error.").
			Default(processingFail).Advanced(),
		stringField(fieldUnavailableValuePlaceholder).
			Description("What stands for a value that change data capture did not record: `text`, `ntext` and `image` in deletes and before updates, and large values that an update did not touch.").
			Default(schema.DefaultModes().Placeholder).Advanced(),
		boolField(fieldStructured).
			Description("Whether values are handed over parsed instead of as JSON text. Pipelines that begin with a mapping save the parsing; pipelines that only route are faster without.").
			Default(false).Advanced(),
	}
}
