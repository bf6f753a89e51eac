package input

import (
	"strings"

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
		stringField(fieldRetentionGapPolicy).
			Description("What happens when changes of a table were cleaned up before they were read. `fail`: nothing of the table is read until a person decides, and the error names it, what is missing and what is left. `snapshot`: the stream of the database goes on to the newest change without the table, pauses there until all its rows are read again, and goes on with its changes behind them; of rows that were deleted meanwhile nothing is told. `skip`: the table is read on from what is left, and rows that changed in the gap stay as consumers have them until they change again. With both, each gap is an error in the log and counted by `sqlserver_cdc_skipped_gaps`, and it is stored beside the position. None is about a table whose change data capture was disabled.").
			Default(gapsFail).Advanced(),
	}
}

// retentionGaps reads retention_gap_policy.
func (r *fieldReader) retentionGaps() string {
	value := r.string(fieldRetentionGapPolicy)
	switch value {
	case gapsFail, gapsSnapshot, gapsSkip:
	default:
		r.refuse(fieldRetentionGapPolicy, "unknown value %q; use %s, %s or %s", value, gapsFail, gapsSnapshot, gapsSkip)
	}
	return value
}

// gaps returns what becomes of a table whose changes were cleaned up before they
// were read.
func (c config) gaps() stream.GapPolicy {
	switch c.retentionGaps {
	case gapsSkip:
		return stream.GapsSkip
	case gapsSnapshot:
		return stream.GapsReread
	default:
		return stream.GapsFail
	}
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
	if c.retentionGaps == gapsFail || !tells {
		return nil
	}
	return to.skipped
}

// skipped implements [skipper].
func (r *reading) skipped(table, instance string, s stream.Skipped) {
	database := r.source.keeper.database
	r.source.in.metrics.SkippedGaps.Incr(1, database, strings.TrimPrefix(table, database+"."))
	key := identitiesDocument.under(r.source.cfg.checkpointKey(database))
	if s.Reread {
		r.source.log.Errorf("Changes were cleaned up before they were read: table %s, capture instance %q, from commit LSN %s on. Because of %s: %s its rows are read again, and its changes from %s on; rows that were deleted meanwhile are not told of. Key %q keeps a record of it",
			table, instance, s.From, fieldRetentionGapPolicy, gapsSnapshot, s.To, key)
		return
	}
	r.source.log.Errorf("Changes were cleaned up before they were read and are skipped, because of %s: %s: table %s, capture instance %q, from commit LSN %s up to, but without, %s; key %q keeps a record of it",
		fieldRetentionGapPolicy, gapsSkip, table, instance, s.From, s.To, key)
}
