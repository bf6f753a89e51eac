package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/startposition"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// Spec returns the configuration specification of the input.
func Spec() *service.ConfigSpec {
	registerLint()
	spec := service.NewConfigSpec().
		Beta().
		Categories("Services").
		Version("0.1.0").
		Summary("Streams the changes of SQL Server tables, read from change data capture, as Debezium change events.").
		Description(specDescription).
		Footnotes(specFootnotes).
		Fields(connectionFields()...).
		Fields(captureFields()...).
		Fields(eventFields()...).
		Fields(snapshotFields()...).
		Fields(runningFields()...).
		Fields(retentionFields()...).
		Fields(pauseFields()...).
		Fields(watchFields()...).
		Fields(notificationFields()...).
		LintRule(lintTogether)
	for _, e := range specExamples {
		spec = spec.Example(e.title, e.summary, e.yaml)
	}
	lintedSpec.Store(spec)
	return spec
}

const specDescription = `
Takes a snapshot of the captured tables, then follows their change tables. The messages are those of Debezium's SQL Server connector 3.6: the same topics, keys, envelopes, tombstones and order; its properties keep their names here, with dots written as underscores.

Change data capture must be enabled for the database and for each table (` + "`sys.sp_cdc_enable_db`, `sys.sp_cdc_enable_table`" + `), and the SQL Server Agent must run. The input itself writes nothing to the database unless it is told to, by ` + "`capture_instances: manage`" + ` or ` + "`heartbeat_action_query`" + `.

Every message carries the metadata below. Keys that do not apply are absent.

| Key | Content | Kinds |
|---|---|---|
| ` + "`topic`" + ` | the Debezium topic name | all |
| ` + "`key`" + ` | the Debezium key as JSON | those with a key |
| ` + "`kind`" + ` | ` + "`change`, `tombstone`, `schema_change`, `transaction`, `heartbeat` or `notification`" + ` | all |
| ` + "`op`" + ` | ` + "`r`, `c`, `u` or `d`" + ` | change |
| ` + "`database`" + ` | where the row is | all |
| ` + "`database_schema`, `table`" + ` | where the row is | change, tombstone, schema_change |
| ` + "`position`" + ` | place in the stream, in a form that sorts as text | all |
| ` + "`kafka_tombstone_message`" + ` | true | tombstone |
| ` + "`__debezium.newkey`, `__debezium.oldkey`" + ` | the other key when a key changes inside one update | change, tombstone |

The position is kept in a cache resource and moves only when every message up to it is acknowledged; after a restart reading resumes right behind it. Use a cache that persists and does not expire its entries. For strict order set ` + "`pipeline.threads: 1`" + ` and ` + "`max_in_flight: 1`" + ` at the output: the engine's defaults reorder.
`

const specFootnotes = `
## Metrics

All are named ` + "`sqlserver_cdc_…`" + ` and listed in [metrics](metrics.md), with the lag, the headroom before retention, and what becomes of Debezium's.
`

// Fields of the first level. Each is linted as it is checked at a start.

func stringField(name string) *service.ConfigField {
	return service.NewStringField(name).LintRule(lintAlone(name))
}

func enumField(name string, options ...string) *service.ConfigField {
	return service.NewStringEnumField(name, options...).LintRule(lintAlone(name))
}

func annotatedField(name string, options map[string]string) *service.ConfigField {
	return service.NewStringAnnotatedEnumField(name, options).LintRule(lintAlone(name))
}

func intField(name string) *service.ConfigField {
	return service.NewIntField(name).LintRule(lintAlone(name))
}

func boolField(name string) *service.ConfigField {
	return service.NewBoolField(name).LintRule(lintAlone(name))
}

func durationField(name string) *service.ConfigField {
	return service.NewDurationField(name).LintRule(lintAlone(name))
}

func mapField(name string) *service.ConfigField {
	return service.NewStringMapField(name).LintRule(lintAlone(name))
}

func listField(name string) *service.ConfigField {
	return service.NewStringListField(name).LintRule(lintList(name))
}

func objectField(name string, fields ...*service.ConfigField) *service.ConfigField {
	return service.NewObjectField(name, fields...).LintRule(lintAlone(name))
}

func snapshotFields() []*service.ConfigField {
	return []*service.ConfigField{
		annotatedField(fieldSnapshotMode, map[string]string{
			snapshotInitial: "All rows of the captured tables first, then their changes. A restart continues where it was.",
			snapshotNoData:  "Changes only, from the first start on. That start is saved at once: a crash does not move it.",
		}).
			Description("What is read before the changes.").
			Default(snapshotInitial),
		annotatedField(fieldSnapshotIsolationMode, map[string]string{
			string(snapshot.IsolationAuto):          "`snapshot` where the database allows it, else `read_committed`.",
			string(snapshot.IsolationSnapshot):      "One point in time, without locks; needs `ALLOW_SNAPSHOT_ISOLATION`.",
			string(snapshot.IsolationReadCommitted): "Each row as committed when it is read; rows that change meanwhile also come as changes.",
		}).
			Description("The transaction isolation level of the snapshot. None of them takes locks that block writers.").
			Default(string(snapshot.IsolationAuto)),
		intField(fieldSnapshotFetchSize).
			Description("Rows read from a table at a time in the snapshot.").
			Default(2000).Advanced(),
		boolField(fieldSnapshotResume).
			Description("Whether a snapshot that was interrupted continues behind its last acknowledged row. A snapshot continued is not one point in time; its stream of changes corrects it. With `false` it starts again from the first table.").
			Default(true).Advanced(),
		stringField(fieldStartPosition).
			Description("Where the changes begin at the first start with `snapshot_mode: no_data`, of each database: `now`; `earliest`, with all that the change tables hold; an LSN, with the transaction that committed at it or the next; or a time with its zone (RFC 3339), with the first transaction that ended at it or later. It is saved at once, so that a crash does not move it, and has no effect once there is a position. Where changes from there on have been cleaned up, or it lies after the newest, the input says what is held and does not start.").
			Default(startposition.Now).Advanced().
			Example("2026-01-31T12:00:00Z").Example("00000027:00000758:0005"),
		intField(fieldStreamingFetchSize).
			Description("Rows read from a change table at a time.").
			Default(10000).Advanced(),
	}
}

func runningFields() []*service.ConfigField {
	return []*service.ConfigField{
		durationField(fieldPollInterval).
			Description("The pause between two looks for changes once there are none. While there are, there is no pause. The first one of a connection is a part of it, each pipeline's own, so that pipelines that are started together do not ask the server together.").
			Default("500ms"),
		adaptiveField(),
		durationField(fieldHeartbeatInterval).
			Description("How often a heartbeat is sent, 0s for never: a small message of its own topic that repeats the last position. It comes after changes, while there are none, and at the end of the snapshot. Acknowledged, it shows that everything before it has arrived, and that the pipeline works though nothing changes.").
			Default("0s"),
		heartbeatActionField(),
		intField(fieldMaxIterationTransactions).
			Description("The most transactions read in one pass, 0 for no limit.").
			Default(500).Advanced(),
		annotatedField(fieldDataQueryMode, map[string]string{
			queryDirect:   "The change tables are read. It needs SELECT on them, which passes gating roles by.",
			queryFunction: "`cdc.fn_cdc_get_all_changes_<capture instance>` is asked. It needs SELECT on the captured columns of the tables, and membership in the gating role where an instance has one. Changes come without command ids, so those of a transaction are in the order of their change LSN: where one statement gives a row the key of another (`SET id = id + 1`), its insert may come before the other's delete, so read such tables with `direct`. Large transactions cost the server more.",
		}).
			Description("How changes are read. Changing it repeats the transaction at the saved position.").
			Default(queryDirect).Advanced(),
		intField(fieldMaxBatchSize).
			Description("The most messages of a batch; `checkpoint_limit` if that is less. A batch never waits to be full.").
			Default(2048).Advanced(),
		intField(fieldMaxQueueSize).
			Description("The most messages that are read ahead and not yet handed to the pipeline: more than `max_batch_size`, as Debezium demands. With several databases each has its equal share, but always one batch.").
			Default(8192).Advanced(),
		intField(fieldMaxQueueSizeInBytes).
			Description("The most bytes of keys and values that are read ahead, 0 for no limit. With several databases each has its equal share, but always one batch.").
			Default(0).Advanced(),
		annotatedField(fieldOnFatal, map[string]string{
			onFatalWait: "Keep trying once a minute, not ready meanwhile, and go on as soon as the cause is gone.",
			onFatalStop: "End the stream. The program `sqlserver-cdc` then exits with code 2.",
		}).
			Description("What to do when the input cannot go on without a person: changes were lost to retention, a right is missing, no table matches. Either way it is logged with its remedy, the gauge `sqlserver_cdc_fatal` is 1, and no position is passed over. With several databases this is about the last of them: the others go on.").
			Default(onFatalWait).Advanced(),
		stringField(fieldCheckpointCache).
			Description("The label of the cache resource that keeps the position. It must persist, and neither expire nor evict its entries: `memory` forgets all at a restart, and each start is then a first one.").
			Example("offsets"),
		stringField(fieldCheckpointCacheKey).
			Description("The key under which the position is kept, instead of `<topic_prefix>.<database>` percent-encoded. With several names or a regular expression in `database_names` a dot and the name of the database follow it. Two inputs must never share one.").
			Optional().Advanced(),
		intField(fieldCheckpointLimit).
			Description("The most messages of a database that are handed to the pipeline and not yet acknowledged. Let it exceed what the output collects before it sends.").
			Default(8192).Advanced(),
		boolField(fieldAutoReplayNacks).
			Description("What a message that the output rejects does. With `true` reading restarts behind the last acknowledged message, so that messages are repeated but never out of order. With `false` the message is counted and dropped, and the position moves past it.").
			Default(true),
		service.NewBatchPolicyField(fieldBatching).
			Description("Collects messages into larger batches, in order. Without it each batch is as large as what was read, up to `max_batch_size`. Set a `period`: without one the last messages before a pause wait until more come.").
			Optional().Advanced(),
	}
}

// modeNames returns modes as text.
func modeNames[M ~string](modes []M) []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return names
}
