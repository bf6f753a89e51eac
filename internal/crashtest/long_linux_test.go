package crashtest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/crashtest"
)

// The long soak is played in full by hand; this keeps it playable.
func TestLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		summary, err := crashtest.Long{Events: 6000, Faults: 12, Seed: 1}.Run(crashtest.Virtual())
		require.NoError(t, err)
		assert.Contains(t, summary, "6000 changes in ")
		assert.Contains(t, summary, " lost 0,")
	})
}
