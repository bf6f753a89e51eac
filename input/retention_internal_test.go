package input

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// The label of the table is that of all other metrics, so that they can be
// joined: the database is a label of its own.
func TestReading_SkippedGapsAreCountedByTable(t *testing.T) {
	in, rec := recordedInput(t, &fakeServer{}, newMemoryCache(), "", options{})
	r := &reading{source: &source{in: in, cfg: in.cfg, log: in.log, keeper: &keeper{database: "db"}}}
	r.skipped("db.dbo.t", "dbo_t", stream.Skipped{})
	assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_skipped_gaps{db,dbo.t}"))
}
