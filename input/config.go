package input

import (
	"cmp"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/startposition"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
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

// parseConfig reads and validates the configuration. Its error is of type
// [refusals].
func parseConfig(parsed *service.ParsedConfig) (config, error) {
	r := &fieldReader{parsed: parsed}
	c := r.config()
	r.together = true
	c.validate(r)
	if len(r.refused) > 0 {
		return config{}, r.refused
	}
	return c, nil
}

// config reads the fields, each by itself.
func (r *fieldReader) config() config {
	c := config{
		server:                   r.server(),
		databases:                r.databases(),
		selection:                r.selection(),
		skipped:                  r.skippedOperations(),
		skipUnchanged:            r.bool(fieldSkipMessagesWithoutChange),
		timeZone:                 r.timeZone(),
		sourceTime:               choice(r, fieldSourceTimestampMode, stream.TimeCommit, stream.TimeBegin, stream.TimeProcessing),
		topics:                   r.topics(),
		schemaNames:              choice(r, fieldSchemaNameAdjustmentMode, schema.NameAdjustments...),
		tombstones:               r.bool(fieldTombstonesOnDelete),
		transactions:             r.bool(fieldProvideTransactionMetadata),
		schemaChanges:            r.bool(fieldIncludeSchemaChanges),
		capturedOnly:             r.bool(fieldSchemaChangesCapturedOnly),
		extendedHeaders:          r.bool(fieldExtendedHeadersEnabled),
		metadata:                 r.metadata(),
		structured:               r.bool(fieldStructured),
		modes:                    r.modes(),
		failures:                 r.convertingFailures(),
		processingFailures:       choice(r, fieldEventProcessingFailureHandlingMode, processingFail, processingWarn, processingSkip, processingIgnore),
		snapshotMode:             choice(r, fieldSnapshotMode, snapshotInitial, snapshotNoData),
		snapshotIsolation:        choice(r, fieldSnapshotIsolationMode, snapshot.IsolationAuto, snapshot.IsolationSnapshot, snapshot.IsolationReadCommitted),
		snapshotFetchSize:        r.atLeast(1, fieldSnapshotFetchSize),
		snapshotResume:           r.bool(fieldSnapshotResume),
		startPosition:            r.startPosition(),
		retentionGaps:            r.retentionGaps(),
		streamingFetchSize:       r.atLeast(1, fieldStreamingFetchSize),
		pollInterval:             r.pause(fieldPollInterval),
		adaptive:                 r.adaptive(),
		heartbeatInterval:        r.pauseOrNone(fieldHeartbeatInterval, "never"),
		heartbeatAction:          r.optionalString(fieldHeartbeatActionQuery),
		notifications:            r.notifications(),
		maxIterationTransactions: r.atLeast(0, fieldMaxIterationTransactions),
		queryMode:                choice(r, fieldDataQueryMode, queryDirect, queryFunction),
		captureInstances:         choice(r, fieldCaptureInstances, instancesObserve, instancesFollow, instancesManage),
		maxBatchSize:             r.atLeast(1, fieldMaxBatchSize),
		maxQueueSize:             r.atLeast(1, fieldMaxQueueSize),
		maxQueueBytes:            r.atLeast(0, fieldMaxQueueSizeInBytes),
		stopOnFatal:              choice(r, fieldOnFatal, onFatalWait, onFatalStop) == onFatalStop,
		retries:                  r.retries(),
		streamingDelay:           r.pauseOrNone(fieldStreamingDelay, "no pause"),
		cache:                    r.cacheLabel(),
		cacheKey:                 r.optionalString(fieldCheckpointCacheKey),
		checkpointLimit:          r.atLeast(1, fieldCheckpointLimit),
		replayNacks:              r.bool(fieldAutoReplayNacks),
		batching:                 r.batching(),
		watch:                    r.watch(),
	}
	schemas := r.bool(fieldSchemasEnable)
	c.keySchemas = r.optionalBool(fieldKeySchemasEnable, schemas)
	c.valueSchemas = r.optionalBool(fieldValueSchemasEnable, schemas)
	c.maxReadBytes = cmp.Or(c.maxQueueBytes, stream.DefaultMaxBytes)
	return c
}

// validate checks what fields are together, and fits them to each other.
func (c *config) validate(r *fieldReader) {
	if len(c.databases) > 0 {
		c.server.Database = c.databases[0].text
	}
	c.validateServer(r)
	if c.databases.several() {
		c.server.Database = "" // each source has its own
	}
	r.selects(c.selection)
	if !c.startPosition.IsNow() && c.snapshotMode != snapshotNoData {
		r.refuse(fieldStartPosition, "%q needs %s: %s: where rows are snapshotted, the stream begins where the snapshot did", c.startPosition.String(), fieldSnapshotMode, snapshotNoData)
	}
	if c.startPosition.IsLSN() && c.databases.several() {
		r.refuse(fieldStartPosition, "an LSN is of one database; give a time, or each database an input of its own")
	}
	if c.notifications.sink && c.notifications.topic == "" {
		r.refuse(fieldNotificationSinkTopicName, "required with %s in %s", channelSink, fieldNotificationEnabledChannels)
	}
	if c.captureInstances == instancesManage && c.server.ApplicationIntent == sqlserver.IntentReadOnly {
		r.refuse(fieldCaptureInstances, "%s makes and drops capture instances, which %s: %s forbids; use %s, and %s where the primary is read",
			instancesManage, fieldApplicationIntent, sqlserver.IntentReadOnly, instancesFollow, instancesManage)
	}
	c.validateHeartbeatAction(r)
	// As Debezium demands (CommonConnectorConfig.validateMaxQueueSize).
	if c.maxQueueSize <= c.maxBatchSize {
		r.refuse(fieldMaxQueueSize, "got %d, must be more than %s, which is %d; raise it, or lower that", c.maxQueueSize, fieldMaxBatchSize, c.maxBatchSize)
	}
	// A batch is handed over whole.
	c.maxBatchSize = min(c.maxBatchSize, max(c.checkpointLimit, 1))
}

// validateServer checks how the server is reached, and that a database is named.
func (c *config) validateServer(r *fieldReader) {
	server, err := sqlserver.NewServer(c.server)
	if err != nil {
		r.refuseFor(err)
		return
	}
	if c.server.ConnectionString == "" && c.server.User == "" && (c.server.Auth.Mode == "" || c.server.Auth.Mode == sqlserver.AuthSQL) {
		r.refuse(fieldUser, "needed by %s.%s %s", fieldAuth, fieldAuthMode, sqlserver.AuthSQL)
	}
	if server.Database() == "" {
		r.refuse(fieldDatabaseNames, "a list of names is required unless %s names a database", fieldConnectionString)
	}
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
