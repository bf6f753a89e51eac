package input

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/startposition"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// cancelGrace is how long a cancelled statement may take to end: less than
// [closeTimeout], so that stopping never waits for a dead server.
const cancelGrace = 2 * time.Second

// config is the configuration of one input, parsed and validated.
type config struct {
	server        sqlserver.Config // of the connection; sources add the database
	databases     databaseNames
	selection     schema.SelectionOptions
	skipped       []int // values of __$operation
	skipUnchanged bool
	timeZone      *time.Location // nil: the server's
	sourceTime    stream.SourceTime

	topics                      event.Naming
	schemaNames                 schema.NameAdjustment
	keySchemas, valueSchemas    bool
	tombstones                  bool
	transactions                bool
	schemaChanges, capturedOnly bool
	metadata                    []string // of messages.Optional
	extendedHeaders             bool
	structured                  bool
	modes                       schema.Modes
	failures                    event.FailureMode
	processingFailures          string // of changes of which no event can be made
	snapshotMode                string
	snapshotIsolation           snapshot.Isolation
	snapshotFetchSize           int
	snapshotResume              bool
	startPosition               startposition.Position
	retentionGaps               string
	streamingFetchSize          int
	pollInterval                time.Duration
	adaptive                    pace.Bounds
	heartbeatInterval           time.Duration // zero: none
	heartbeatAction             string        // empty: none
	notifications               notificationConfig
	maxIterationTransactions    int
	queryMode                   string
	captureInstances            string
	maxBatchSize                int
	maxQueueSize, maxQueueBytes int
	maxReadBytes                int // of rows read and not emitted
	stopOnFatal                 bool
	retries                     pace.Retry
	streamingDelay              time.Duration // between snapshot and stream
	cache, cacheKey             string
	checkpointLimit             int
	replayNacks                 bool
	batching                    service.BatchPolicy
	watch                       watchConfig
}

// parseConfig reads and validates the configuration. Every message names the
// field, and where it is not a secret the value.
func parseConfig(parsed *service.ParsedConfig) (config, error) {
	r := reader{parsed: parsed}
	c := config{
		server:                   r.server(),
		selection:                r.selection(),
		skipped:                  r.skippedOperations(),
		skipUnchanged:            r.bool(fieldSkipMessagesWithoutChange),
		timeZone:                 r.timeZone(),
		sourceTime:               stream.SourceTime(r.choice(fieldSourceTimestampMode)),
		topics:                   r.topics(),
		schemaNames:              schema.NameAdjustment(r.choice(fieldSchemaNameAdjustmentMode)),
		tombstones:               r.bool(fieldTombstonesOnDelete),
		transactions:             r.bool(fieldProvideTransactionMetadata),
		schemaChanges:            r.bool(fieldIncludeSchemaChanges),
		capturedOnly:             r.bool(fieldSchemaChangesCapturedOnly),
		extendedHeaders:          r.bool(fieldExtendedHeadersEnabled),
		metadata:                 r.strings(fieldMetadataInclude),
		structured:               r.bool(fieldStructured),
		modes:                    r.modes(),
		failures:                 event.FailureMode(strings.ToLower(r.optionalString(fieldEventConvertingFailureHandlingMode))),
		processingFailures:       r.choice(fieldEventProcessingFailureHandlingMode),
		snapshotMode:             r.choice(fieldSnapshotMode),
		snapshotIsolation:        snapshot.Isolation(r.choice(fieldSnapshotIsolationMode)),
		snapshotFetchSize:        r.int(fieldSnapshotFetchSize),
		snapshotResume:           r.bool(fieldSnapshotResume),
		startPosition:            r.startPosition(),
		retentionGaps:            r.retentionGaps(),
		streamingFetchSize:       r.int(fieldStreamingFetchSize),
		pollInterval:             r.duration(fieldPollInterval),
		adaptive:                 r.adaptive(),
		heartbeatInterval:        r.duration(fieldHeartbeatInterval),
		heartbeatAction:          r.heartbeatAction(),
		notifications:            r.notifications(),
		maxIterationTransactions: r.int(fieldMaxIterationTransactions),
		queryMode:                r.choice(fieldDataQueryMode),
		captureInstances:         r.captureInstances(),
		maxBatchSize:             r.int(fieldMaxBatchSize),
		maxQueueSize:             r.int(fieldMaxQueueSize),
		maxQueueBytes:            r.int(fieldMaxQueueSizeInBytes),
		stopOnFatal:              r.choice(fieldOnFatal) == onFatalStop,
		retries:                  r.retries(),
		streamingDelay:           r.streamingDelay(),
		cache:                    r.string(fieldCheckpointCache),
		cacheKey:                 r.optionalString(fieldCheckpointCacheKey),
		checkpointLimit:          r.int(fieldCheckpointLimit),
		replayNacks:              r.bool(fieldAutoReplayNacks),
		batching:                 r.batching(),
		watch:                    r.watch(),
	}
	// A batch is handed over whole.
	c.maxBatchSize = min(c.maxBatchSize, max(c.checkpointLimit, 1))
	schemas := r.bool(fieldSchemasEnable)
	c.keySchemas = r.optionalBool(fieldKeySchemasEnable, schemas)
	c.valueSchemas = r.optionalBool(fieldValueSchemasEnable, schemas)
	c.maxReadBytes = cmp.Or(c.maxQueueBytes, stream.DefaultMaxBytes)
	c.databases = r.databases()
	if c.startPosition.IsLSN() && c.databases.several() {
		r.fail(fmt.Errorf("field %s: an LSN is of one database; give a time, or each database an input of its own", fieldStartPosition))
	}
	if len(c.databases) > 0 && !c.databases.several() {
		c.server.Database = c.databases[0].text
	}
	if r.err != nil {
		return config{}, r.err
	}
	return c, c.validate()
}

// validTopicPart is Debezium's rule: what Kafka allows in a topic's name.
var validTopicPart = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// validate checks values that the types of the fields do not rule out.
func (c config) validate() error {
	settings := c.server
	if len(c.databases) > 0 {
		settings.Database = c.databases[0].text
	}
	server, err := sqlserver.NewServer(settings)
	if err != nil {
		return err
	}
	if server.Database() == "" {
		return fmt.Errorf("field %s: required unless %s names a database", fieldDatabaseNames, fieldConnectionString)
	}
	if _, err := schema.NewSelection(c.selection); err != nil {
		return fmt.Errorf("field %w", err)
	}
	for _, part := range []struct{ field, value string }{
		{fieldTopicPrefix, c.topics.Prefix},
		{fieldTopicDelimiter, c.topics.Delimiter},
		{fieldTopicTransaction, c.topics.Transaction},
		{fieldTopicHeartbeatPrefix, c.topics.HeartbeatPrefix},
		{fieldTopicHeartbeatName, cmp.Or(c.topics.Heartbeat, c.topics.Prefix)},
	} {
		if !validTopicPart.MatchString(part.value) {
			return fmt.Errorf("field %s: %q: use letters, digits, dots, underscores and hyphens", part.field, part.value)
		}
	}
	if strings.TrimSpace(c.cache) == "" {
		return fmt.Errorf("field %s: must name a cache resource", fieldCheckpointCache)
	}
	for _, key := range c.metadata {
		if !slices.Contains(messages.Optional, key) {
			return fmt.Errorf("field %s: unknown metadata key %q; use %s", fieldMetadataInclude, key, strings.Join(messages.Optional, ", "))
		}
	}
	for _, choice := range []struct {
		field, value string
		options      []string
	}{
		{fieldApplicationIntent, c.server.ApplicationIntent, []string{sqlserver.IntentReadWrite, sqlserver.IntentReadOnly}},
		{fieldEventConvertingFailureHandlingMode, cmp.Or(string(c.failures), string(event.FailuresWarn)), []string{string(event.FailuresWarn), string(event.FailuresFail), string(event.FailuresSkip)}},
		{fieldEventProcessingFailureHandlingMode, c.processingFailures, []string{processingFail, processingWarn, processingSkip, processingIgnore}},
		{fieldSourceTimestampMode, string(c.sourceTime), []string{string(stream.TimeCommit), string(stream.TimeBegin), string(stream.TimeProcessing)}},
		{fieldTimePrecisionMode, string(c.modes.Time), modeNames(schema.TimeModes)},
		{fieldDecimalHandlingMode, string(c.modes.Decimal), modeNames(schema.DecimalModes)},
		{fieldBinaryHandlingMode, string(c.modes.Binary), modeNames(schema.BinaryModes)},
		{fieldSchemaNameAdjustmentMode, string(c.schemaNames), modeNames(schema.NameAdjustments)},
		{fieldFieldNameAdjustmentMode, string(c.modes.FieldNames), modeNames(schema.NameAdjustments)},
		{fieldDataQueryMode, c.queryMode, []string{queryDirect, queryFunction}},
		{fieldSnapshotMode, c.snapshotMode, []string{snapshotInitial, snapshotNoData}},
		{fieldSnapshotIsolationMode, string(c.snapshotIsolation), []string{string(snapshot.IsolationAuto), string(snapshot.IsolationSnapshot), string(snapshot.IsolationReadCommitted)}},
	} {
		if !slices.Contains(choice.options, choice.value) {
			return fmt.Errorf("field %s: unknown value %q; use %s", choice.field, choice.value, strings.Join(choice.options, ", "))
		}
	}
	for _, bound := range []struct {
		field        string
		value, least int
	}{
		{fieldSnapshotFetchSize, c.snapshotFetchSize, 1},
		{fieldStreamingFetchSize, c.streamingFetchSize, 1},
		{fieldMaxIterationTransactions, c.maxIterationTransactions, 0},
		{fieldMaxBatchSize, c.maxBatchSize, 1},
		{fieldMaxQueueSize, c.maxQueueSize, 1},
		{fieldMaxQueueSizeInBytes, c.maxQueueBytes, 0},
		{fieldCheckpointLimit, c.checkpointLimit, 1},
	} {
		if bound.value < bound.least {
			return fmt.Errorf("field %s: got %d, must be at least %d", bound.field, bound.value, bound.least)
		}
	}
	if c.heartbeatInterval < 0 {
		return fmt.Errorf("field %s: got %v, must not be negative", fieldHeartbeatInterval, c.heartbeatInterval)
	}
	if c.pollInterval <= 0 {
		return fmt.Errorf("field %s: got %v, must be more than zero", fieldPollInterval, c.pollInterval)
	}
	return validateAdaptive(c.adaptive)
}

// checkpointKey returns the key under which the position of a database is
// kept.
func (c config) checkpointKey(database string) string {
	switch {
	case c.cacheKey == "":
		return checkpoint.Key(c.topics.Prefix, database)
	case c.databases.several():
		return checkpoint.KeyUnder(c.cacheKey, database)
	default:
		return c.cacheKey
	}
}

// reader reads fields and keeps the first error, so that the list of fields
// above stays a list.
type reader struct {
	parsed *service.ParsedConfig
	err    error
}

func (r *reader) fail(err error) {
	r.err = errors.Join(r.err, err)
}

// read calls a typed accessor and adds the field's name to its error.
func read[T any](r *reader, field string, get func(...string) (T, error)) T {
	v, err := get(field)
	if err != nil {
		r.fail(fmt.Errorf("field %s: %w", field, err))
	}
	return v
}

func (r *reader) string(field string) string      { return read(r, field, r.parsed.FieldString) }
func (r *reader) strings(field string) []string   { return read(r, field, r.parsed.FieldStringList) }
func (r *reader) int(field string) int            { return read(r, field, r.parsed.FieldInt) }
func (r *reader) bool(field string) bool          { return read(r, field, r.parsed.FieldBool) }
func (r *reader) duration(f string) time.Duration { return read(r, f, r.parsed.FieldDuration) }

// choice reads a field that has one of a few values, all in lower case. The case
// of what is written does not count, as for Debezium and the linter of Benthos.
func (r *reader) choice(field string) string { return strings.ToLower(r.string(field)) }

func (r *reader) optionalString(field string) string {
	if !r.parsed.Contains(field) {
		return ""
	}
	return r.string(field)
}

func (r *reader) optionalBool(field string, otherwise bool) bool {
	if !r.parsed.Contains(field) {
		return otherwise
	}
	return r.bool(field)
}

func (r *reader) databases() databaseNames {
	names, err := parseDatabaseNames(r.strings(fieldDatabaseNames))
	if err != nil {
		r.fail(err)
	}
	return names
}

func (r *reader) timeZone() *time.Location {
	name := r.optionalString(fieldDatabaseServerTimezone)
	if name == "" {
		return nil
	}
	zone, err := timezone.Load(name)
	if err != nil {
		r.fail(fmt.Errorf("field %s: %w", fieldDatabaseServerTimezone, err))
	}
	return zone
}

func (r *reader) modes() schema.Modes {
	m := schema.DefaultModes()
	m.Time = schema.TimeMode(r.choice(fieldTimePrecisionMode))
	m.Decimal = schema.DecimalMode(r.choice(fieldDecimalHandlingMode))
	m.Binary = schema.BinaryMode(r.choice(fieldBinaryHandlingMode))
	m.FieldNames = schema.NameAdjustment(r.choice(fieldFieldNameAdjustmentMode))
	m.Placeholder = r.string(fieldUnavailableValuePlaceholder)
	return m
}

// modeNames returns modes as text.
func modeNames[M ~string](modes []M) []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return names
}

func (r *reader) batching() service.BatchPolicy {
	if !r.parsed.Contains(fieldBatching) {
		return service.BatchPolicy{}
	}
	return read(r, fieldBatching, r.parsed.FieldBatchPolicy)
}
