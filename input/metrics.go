package input

import "github.com/redpanda-data/benthos/v4/public/service"

// metrics are those of one input; docs/metrics.md and alerts know them by name.
// Every one carries the database. Of the others, the label table is bounded by
// maxTables, and the rest are small vocabularies.
type metrics struct {
	fatal              *service.MetricGauge   // reason, database
	connected          *service.MetricGauge   // database
	captureStalled     *service.MetricGauge   // database
	nacks              *service.MetricCounter // database
	repeatedNacks      *service.MetricCounter // database
	checkpointFailures *service.MetricCounter // database
	checkpointStalls   *service.MetricCounter // database
	unexpectedNulls    *service.MetricCounter // database
	unconvertedValues  *service.MetricCounter // database
	skippedGaps        *service.MetricCounter // database, table
	reconnects         *service.MetricCounter // database
	actionFailures     *service.MetricCounter // database

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
	drift         *service.MetricGauge // database, table

	queueMessages, queueBytes               *service.MetricGauge // database
	queueMessageCapacity, queueByteCapacity *service.MetricGauge // database
	unacknowledged, capturedTables          *service.MetricGauge // database
	snapshotRunning, snapshotCompleted      *service.MetricGauge // database
	snapshotTables, snapshotRemaining       *service.MetricGauge // database
	snapshotSeconds                         *service.MetricGauge // database
}

func newMetrics(m *service.Metrics) metrics {
	const database = "database"
	return metrics{
		fatal:              m.NewGauge("sqlserver_cdc_fatal", "reason", database),
		connected:          m.NewGauge("sqlserver_cdc_connected", database),
		captureStalled:     m.NewGauge("sqlserver_cdc_capture_stalled", database),
		nacks:              m.NewCounter("sqlserver_cdc_nacks", database),
		repeatedNacks:      m.NewCounter("sqlserver_cdc_repeated_nacks", database),
		checkpointFailures: m.NewCounter("sqlserver_cdc_checkpoint_failures", database),
		checkpointStalls:   m.NewCounter("sqlserver_cdc_checkpoint_stalls", database),
		unconvertedValues:  m.NewCounter("sqlserver_cdc_unconverted_values", database),
		skippedGaps:        m.NewCounter("sqlserver_cdc_skipped_gaps", database, "table"),
		unexpectedNulls:    m.NewCounter("sqlserver_cdc_unexpected_nulls", database),
		reconnects:         m.NewCounter("sqlserver_cdc_reconnects", database),
		actionFailures:     m.NewCounter("sqlserver_cdc_heartbeat_action_failures", database),

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
