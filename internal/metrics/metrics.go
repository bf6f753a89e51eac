package metrics

import "github.com/redpanda-data/benthos/v4/public/service"

// Set is the metrics of one input; docs/metrics.md and alerts know them by name.
// Every one carries the database. Of the others, the label table is bounded by
// maxTables, and the rest are small vocabularies. The exported ones are set by
// the input; a [Meter] sets the rest.
type Set struct {
	// Fatal is 1 while a person must cure what keeps a database from being
	// read: reason, database.
	Fatal *service.MetricGauge
	// Connected is 1 while a database is read and its server answers: database.
	Connected *service.MetricGauge
	// CaptureStalled is 1 while the capture job is known to stand still: database.
	CaptureStalled *service.MetricGauge
	// Nacks counts messages that were rejected: database.
	Nacks *service.MetricCounter
	// RepeatedNacks counts rejections in a row at one position that are too
	// many: database.
	RepeatedNacks *service.MetricCounter
	// CheckpointFailures counts positions that could not be saved: database.
	CheckpointFailures *service.MetricCounter
	// CheckpointStalls counts hand-overs that stood still because nothing was
	// acknowledged: database.
	CheckpointStalls *service.MetricCounter
	// UnexpectedNulls counts nulls of columns that have none: database.
	UnexpectedNulls *service.MetricCounter
	// UnconvertedValues counts values that do not fit their type: database.
	UnconvertedValues *service.MetricCounter
	// LeftOut counts changes of which no event could be made and that were left
	// out: database, table.
	LeftOut *service.MetricCounter
	// SkippedGaps counts what cleanup took before it was read: database, table.
	SkippedGaps *service.MetricCounter
	// ActionFailures counts heartbeat actions that failed: database.
	ActionFailures *service.MetricCounter

	reconnects   *service.MetricCounter // database
	events       *service.MetricCounter // database, table, op
	messages     *service.MetricCounter // database, kind
	transactions *service.MetricCounter // database
	polls        *service.MetricCounter // database
	statements   *service.MetricCounter // database

	lag           *service.MetricGauge // database
	deliveryLag   *service.MetricGauge // database, stat
	deliveryTimes *service.MetricTimer // database
	lsnAge        *service.MetricGauge // database
	lastEvent     *service.MetricGauge // database
	lastCommit    *service.MetricGauge // database
	position      *service.MetricGauge // database
	headroom      *service.MetricGauge // database, table
	held          *service.MetricGauge // database, table, reason
	drift         *service.MetricGauge // database, table

	queueMessages, queueBytes               *service.MetricGauge // database
	queueMessageCapacity, queueByteCapacity *service.MetricGauge // database
	unacknowledged, capturedTables          *service.MetricGauge // database
	snapshotRunning, snapshotCompleted      *service.MetricGauge // database
	snapshotTables, snapshotRemaining       *service.MetricGauge // database
	snapshotSeconds                         *service.MetricGauge // database
}

// NewSet declares the metrics of an input.
func NewSet(m *service.Metrics) *Set {
	const database = "database"
	return &Set{
		Fatal:              m.NewGauge("sqlserver_cdc_fatal", "reason", database),
		Connected:          m.NewGauge("sqlserver_cdc_connected", database),
		CaptureStalled:     m.NewGauge("sqlserver_cdc_capture_stalled", database),
		Nacks:              m.NewCounter("sqlserver_cdc_nacks", database),
		RepeatedNacks:      m.NewCounter("sqlserver_cdc_repeated_nacks", database),
		CheckpointFailures: m.NewCounter("sqlserver_cdc_checkpoint_failures", database),
		CheckpointStalls:   m.NewCounter("sqlserver_cdc_checkpoint_stalls", database),
		UnconvertedValues:  m.NewCounter("sqlserver_cdc_unconverted_values", database),
		LeftOut:            m.NewCounter("sqlserver_cdc_left_out_events", database, "table"),
		SkippedGaps:        m.NewCounter("sqlserver_cdc_skipped_gaps", database, "table"),
		UnexpectedNulls:    m.NewCounter("sqlserver_cdc_unexpected_nulls", database),
		reconnects:         m.NewCounter("sqlserver_cdc_reconnects", database),
		ActionFailures:     m.NewCounter("sqlserver_cdc_heartbeat_action_failures", database),

		events:       m.NewCounter("sqlserver_cdc_events", database, "table", "op"),
		messages:     m.NewCounter("sqlserver_cdc_messages", database, "kind"),
		transactions: m.NewCounter("sqlserver_cdc_transactions", database),
		polls:        m.NewCounter("sqlserver_cdc_polls", database),
		statements:   m.NewCounter("sqlserver_cdc_statements", database),

		lag:           m.NewGauge("sqlserver_cdc_lag_ms", database),
		deliveryLag:   m.NewGauge("sqlserver_cdc_delivery_lag_ms", database, "stat"),
		deliveryTimes: m.NewTimer("sqlserver_cdc_delivery_ns", database),
		lsnAge:        m.NewGauge("sqlserver_cdc_lsn_age_seconds", database),
		lastEvent:     m.NewGauge("sqlserver_cdc_last_event_timestamp_seconds", database),
		lastCommit:    m.NewGauge("sqlserver_cdc_last_commit_timestamp_seconds", database),
		position:      m.NewGauge("sqlserver_cdc_position_timestamp_seconds", database),
		held:          m.NewGauge("sqlserver_cdc_table_held", database, "table", "reason"),
		headroom:      m.NewGauge("sqlserver_cdc_retention_headroom_seconds", database, "table"),
		drift:         m.NewGauge("sqlserver_cdc_drift_columns", database, "table"),

		queueMessages:        m.NewGauge("sqlserver_cdc_queue_messages", database),
		queueBytes:           m.NewGauge("sqlserver_cdc_queue_bytes", database),
		queueMessageCapacity: m.NewGauge("sqlserver_cdc_queue_capacity_messages", database),
		queueByteCapacity:    m.NewGauge("sqlserver_cdc_queue_capacity_bytes", database),
		unacknowledged:       m.NewGauge("sqlserver_cdc_unacknowledged_messages", database),
		capturedTables:       m.NewGauge("sqlserver_cdc_captured_tables", database),
		snapshotRunning:      m.NewGauge("sqlserver_cdc_snapshot_running", database),
		snapshotCompleted:    m.NewGauge("sqlserver_cdc_snapshot_completed", database),
		snapshotTables:       m.NewGauge("sqlserver_cdc_snapshot_tables", database),
		snapshotRemaining:    m.NewGauge("sqlserver_cdc_snapshot_tables_remaining", database),
		snapshotSeconds:      m.NewGauge("sqlserver_cdc_snapshot_duration_seconds", database),
	}
}

// begin shows what counts the trouble of a database as 0, because a counter that
// is first seen at 1 has no increase that an alert could see.
func (s *Set) begin(database string) {
	for _, counter := range []*service.MetricCounter{
		s.Nacks, s.RepeatedNacks, s.CheckpointFailures, s.CheckpointStalls,
		s.UnconvertedValues, s.UnexpectedNulls, s.ActionFailures, s.reconnects,
	} {
		counter.Incr(0, database)
	}
}
