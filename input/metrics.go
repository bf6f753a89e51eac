package input

import "github.com/redpanda-data/benthos/v4/public/service"

// metrics are those of one input; docs and alerts know them by name.
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
	}
}
