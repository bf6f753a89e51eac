package input

import (
	"fmt"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// The values of retention_gap_policy.
const (
	gapsFail     = "fail"
	gapsSkip     = "skip"
	gapsSnapshot = "snapshot"
)

func retentionFields() []*service.ConfigField {
	return []*service.ConfigField{
		service.NewStringField(fieldRetentionGapPolicy).
			Description("What happens when changes of a table were cleaned up before they were read. `fail`: nothing is read until a person decides, and the error names the table, what is missing and what is left. `skip`: the table is read on from what is left. Each gap is an error in the log and counted by `sqlserver_cdc_skipped_gaps`, and it is stored beside the position. Rows that changed in it stay as consumers have them until they change again. Neither is about a table whose change data capture was disabled, which always fails, nor about a snapshot under way. `snapshot`, which is to read such a table again, does not exist yet.").
			Default(gapsFail).Advanced().
			LintRule(`root = if this == "snapshot" { [ "snapshot does not exist yet: use fail, and start afresh, or skip" ] } else if !["fail", "skip"].contains(this) { [ "unknown value %q: use fail or skip".format(this) ] }`),
	}
}

// retentionGaps reads retention_gap_policy.
func (r *reader) retentionGaps() string {
	value := r.string(fieldRetentionGapPolicy)
	switch value {
	case gapsFail, gapsSkip:
	case gapsSnapshot:
		r.fail(fmt.Errorf("field %s: %s does not exist yet: use %s, and start afresh, or %s", fieldRetentionGapPolicy, gapsSnapshot, gapsFail, gapsSkip))
	default:
		r.fail(fmt.Errorf("field %s: unknown value %q; use %s or %s", fieldRetentionGapPolicy, value, gapsFail, gapsSkip))
	}
	return value
}

// skipper is a sink that is told of changes that are passed over.
type skipper interface {
	skipped(table, instance string, s stream.Skipped)
}

var _ skipper = (*reading)(nil)

// onSkipped returns who is told of changes that were cleaned up and are passed
// over; nil if none are.
func (c config) onSkipped(sink stream.Sink) stream.OnSkipped {
	to, tells := sink.(skipper)
	if c.retentionGaps != gapsSkip || !tells {
		return nil
	}
	return to.skipped
}

// skipped implements [skipper].
func (r *reading) skipped(table, instance string, s stream.Skipped) {
	database := r.source.keeper.database
	r.source.in.metrics.SkippedGaps.Incr(1, database, table)
	r.source.log.Errorf("Changes were cleaned up before they were read and are skipped, because of %s: %s: table %s, capture instance %q, from commit LSN %s up to, but without, %s; key %q keeps a record of it",
		fieldRetentionGapPolicy, gapsSkip, table, instance, s.From, s.To, r.source.cfg.checkpointKey(database)+identitiesDocument.suffix)
}
