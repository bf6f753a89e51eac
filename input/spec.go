package input

import (
	"fmt"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/startposition"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// Spec returns the configuration specification of the input.
func Spec() *service.ConfigSpec {
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
		LintRule(specLint)
	for _, e := range specExamples {
		spec = spec.Example(e.title, e.summary, e.yaml)
	}
	return spec
}

const specDescription = `
Takes a snapshot of the captured tables, then follows their change tables. The messages are those of Debezium's SQL Server connector 3.6: the same topics, keys, envelopes, tombstones and order; its properties keep their names here, with dots written as underscores.

Change data capture must be enabled for the database and for each table (` + "`sys.sp_cdc_enable_db`, `sys.sp_cdc_enable_table`" + `), and the SQL Server Agent must run. The input itself never writes to the database.

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

// specLint holds the rules over several fields. A rule sees the values as
// written: an empty one, which an unset environment variable leaves, is no
// conflict, and it is not missing either.
const specLint = `
let given = this.filter(f -> f.value != null && f.value != "" && f.value != [])
let separate = ["host", "user", "password", "instance"].filter(f -> $given.exists(f))
root = [
  if $given.exists("connection_string") && $separate.length() > 0 {
    "connection_string: cannot be combined with %v, which it contains; set one or the other".format($separate.join(", "))
  },
  if !this.exists("connection_string") && !this.exists("host") {
    "host: required unless connection_string is set"
  },
  if !this.exists("connection_string") && this.exists("host") && !$given.exists("database_names") {
    "database_names: a list of names is required unless connection_string names a database"
  },
].filter(l -> l != null).concat(["schema", "table", "column"].
  filter(kind -> $given.exists(kind + "_include_list") && $given.exists(kind + "_exclude_list")).
  map_each(kind -> "%s_exclude_list: cannot be combined with %s_include_list; keep one of them".format(kind, kind)))
`

// Lint rules of single fields. On a list a rule runs for the list and again
// for each element.
var (
	lintHost     = `root = if this.re_match("^[^:]*:[^:]*$|[,\\\\/ ]") { [ "invalid host %q: a name or an address alone; its port goes into port, the name of an instance into instance".format(this) ] }`
	lintPositive = `root = if this.type() == "number" && this < 1 { [ "must be at least 1" ] }`
	lintNatural  = `root = if this.type() == "number" && this < 0 { [ "must not be negative; 0 means no limit" ] }`
	lintDuration = `root = if this.type() != "string" || !this.re_match("^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$") || !this.re_match("[1-9]") { [ "invalid duration %q: use a positive number with a unit, such as 500ms or 2s".format(this.string()) ] }`
	lintPause    = `root = if this.type() != "string" || !this.re_match("^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$") { [ "invalid duration %q: use a number with a unit, such as 10s; 0s is no pause".format(this.string()) ] }`
	lintNoLimit  = `root = if this.type() != "string" || !this.re_match("^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$") { [ "invalid duration %q: use a number with a unit, such as 10m; 0s means no limit".format(this.string()) ] }`
	lintInterval = `root = if this.type() != "string" || !this.re_match("^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$") { [ "invalid duration %q: use a number with a unit, such as 10s; 0s is never".format(this.string()) ] }`
	// Java's syntax is wider than the linter's, so only what is an error in
	// both is found here; the rest is checked at start-up.
	lintRegexes = `
let problem = if this.type() == "string" { "".re_match(this).catch(err -> err.string()) } else { "" }
root = if ["missing closing", "missing argument to repetition operator", "unexpected )", "trailing backslash"].any(text -> $problem.string().contains(text)) {
  [ "invalid regular expression %q".format(this) ]
}`
	lintNames = lintRegexes + ` else if this == "" { [ "a database name must not be empty" ] }`
	// Debezium's rule for topic.prefix.
	lintTopicPrefix = `root = if !this.re_match("^[A-Za-z0-9_.-]+$") { [ "invalid topic_prefix %q: use letters, digits, dots, underscores and hyphens".format(this) ] }`
	lintTopicPart   = `root = if !this.re_match("^[A-Za-z0-9_.-]*$") { [ "invalid value %q: use letters, digits, dots, underscores and hyphens".format(this) ] }`
	lintMeta        = fmt.Sprintf(`root = if this.type() == "string" && !%s.contains(this) { [ "unknown metadata key %%q: use %s".format(this) ] }`,
		`["`+strings.Join(messages.Optional, `", "`)+`"]`, strings.Join(messages.Optional, ", "))
)

func snapshotFields() []*service.ConfigField {
	return []*service.ConfigField{
		service.NewStringAnnotatedEnumField(fieldSnapshotMode, map[string]string{
			snapshotInitial: "All rows of the captured tables first, then their changes. A restart continues where it was.",
			snapshotNoData:  "Changes only, from the first start on. That start is saved at once: a crash does not move it.",
		}).
			Description("What is read before the changes.").
			Default(snapshotInitial),
		service.NewStringAnnotatedEnumField(fieldSnapshotIsolationMode, map[string]string{
			string(snapshot.IsolationAuto):          "`snapshot` where the database allows it, else `read_committed`.",
			string(snapshot.IsolationSnapshot):      "One point in time, without locks; needs `ALLOW_SNAPSHOT_ISOLATION`.",
			string(snapshot.IsolationReadCommitted): "Each row as committed when it is read; rows that change meanwhile also come as changes.",
		}).
			Description("The transaction isolation level of the snapshot. None of them takes locks that block writers.").
			Default(string(snapshot.IsolationAuto)),
		service.NewIntField(fieldSnapshotFetchSize).
			Description("Rows read from a table at a time in the snapshot.").
			Default(2000).Advanced().LintRule(lintPositive),
		service.NewBoolField(fieldSnapshotResume).
			Description("Whether a snapshot that was interrupted continues behind its last acknowledged row. A snapshot continued is not one point in time; its stream of changes corrects it. With `false` it starts again from the first table.").
			Default(true).Advanced(),
		service.NewStringField(fieldStartPosition).
			Description("Where the changes begin at the first start with `snapshot_mode: no_data`, of each database: `now`; `earliest`, with all that the change tables hold; an LSN, with the transaction that committed at it or the next; or a time with its zone (RFC 3339), with the first transaction that ended at it or later. It is saved at once, so that a crash does not move it, and has no effect once there is a position. Where changes from there on have been cleaned up, or it lies after the newest, the input says what is held and does not start.").
			Default(startposition.Now).Advanced().
			Example("2026-01-31T12:00:00Z").Example("00000027:00000758:0005").
			LintRule(`root = if !["now", "earliest"].contains(this) && !this.re_match("^([0-9a-fA-F]{8}:[0-9a-fA-F]{8}:[0-9a-fA-F]{4}|0[xX][0-9a-fA-F]{20}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))$") { [ "invalid start %q: use now, earliest, an LSN such as 00000027:00000758:0005, or a time such as 2006-01-02T15:04:05Z".format(this) ] }`),
		service.NewIntField(fieldStreamingFetchSize).
			Description("Rows read from a change table at a time.").
			Default(10000).Advanced().LintRule(lintPositive),
	}
}

func runningFields() []*service.ConfigField {
	return []*service.ConfigField{
		service.NewDurationField(fieldPollInterval).
			Description("The pause between two looks for changes once there are none. While there are, there is no pause.").
			Default("500ms").LintRule(lintDuration),
		adaptiveField(),
		service.NewDurationField(fieldHeartbeatInterval).
			Description("How often a heartbeat is sent, 0s for never: a small message of its own topic that repeats the last position. It comes after changes, while there are none, and at the end of the snapshot. Acknowledged, it shows that everything before it has arrived, and that the pipeline works though nothing changes.").
			Default("0s").LintRule(lintInterval),
		heartbeatActionField(),
		service.NewIntField(fieldMaxIterationTransactions).
			Description("The most transactions read in one pass, 0 for no limit.").
			Default(500).Advanced().LintRule(lintNatural),
		service.NewStringAnnotatedEnumField(fieldDataQueryMode, map[string]string{
			queryDirect:   "The change tables are read. It needs SELECT on them, which passes gating roles by.",
			queryFunction: "`cdc.fn_cdc_get_all_changes_<capture instance>` is asked. It needs SELECT on the captured columns of the tables, and membership in the gating role where an instance has one. Changes come without command ids, so those of a transaction are in the order of their change LSN: where one statement gives a row the key of another (`SET id = id + 1`), its insert may come before the other's delete, so read such tables with `direct`. Large transactions cost the server more.",
		}).
			Description("How changes are read. Changing it repeats the transaction at the saved position.").
			Default(queryDirect).Advanced(),
		service.NewIntField(fieldMaxBatchSize).
			Description("The most messages of a batch; `checkpoint_limit` if that is less. A batch never waits to be full.").
			Default(2048).Advanced().LintRule(lintPositive),
		service.NewIntField(fieldMaxQueueSize).
			Description("The most messages that are read ahead and not yet handed to the pipeline. With several databases each has its equal share, but always one batch.").
			Default(8192).Advanced().LintRule(lintPositive),
		service.NewIntField(fieldMaxQueueSizeInBytes).
			Description("The most bytes of keys and values that are read ahead, 0 for no limit. With several databases each has its equal share, but always one batch.").
			Default(0).Advanced().LintRule(lintNatural),
		service.NewStringAnnotatedEnumField(fieldOnFatal, map[string]string{
			onFatalWait: "Keep trying once a minute, not ready meanwhile, and go on as soon as the cause is gone.",
			onFatalStop: "End the stream. The program `sqlserver-cdc` then exits with code 2.",
		}).
			Description("What to do when the input cannot go on without a person: changes were lost to retention, a right is missing, no table matches. Either way it is logged with its remedy, the gauge `sqlserver_cdc_fatal` is 1, and no position is passed over. With several databases this is about the last of them: the others go on.").
			Default(onFatalWait).Advanced(),
		service.NewStringField(fieldCheckpointCache).
			Description("The label of the cache resource that keeps the position. It must persist and must not expire its entries.").
			Example("offsets"),
		service.NewStringField(fieldCheckpointCacheKey).
			Description("The key under which the position is kept, instead of `<topic_prefix>.<database>` percent-encoded. With several names or a regular expression in `database_names` a dot and the name of the database follow it. Two inputs must never share one.").
			Optional().Advanced(),
		service.NewIntField(fieldCheckpointLimit).
			Description("The most messages of a database that are handed to the pipeline and not yet acknowledged. Let it exceed what the output collects before it sends.").
			Default(8192).Advanced().LintRule(lintPositive),
		service.NewBoolField(fieldAutoReplayNacks).
			Description("What a message that the output rejects does. With `true` reading restarts behind the last acknowledged message, so that messages are repeated but never out of order. With `false` the message is counted and dropped, and the position moves past it.").
			Default(true),
		service.NewBatchPolicyField(fieldBatching).
			Description("Collects messages into larger batches, in order. Without it each batch is as large as what was read, up to `max_batch_size`. Set a `period`: without one the last messages before a pause wait until more come.").
			Optional().Advanced(),
	}
}
