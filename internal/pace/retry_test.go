package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

func TestRetry_Pauses(t *testing.T) {
	p := Retry{Most: 10 * time.Second, Limit: -1}
	for attempt, want := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond, 8: 10 * time.Second, 1000: 10 * time.Second,
	} {
		for range 50 {
			got := p.Pause(attempt)
			assert.LessOrEqual(t, got, want)
			assert.Greater(t, got, want*3/4-time.Nanosecond)
		}
	}
	assert.LessOrEqual(t, Retry{Most: time.Nanosecond}.Pause(1), time.Nanosecond)
}

func TestRetry_Limit(t *testing.T) {
	cause := sqlserver.ErrConnectionLost
	reason, err := Retry{Limit: 2}.Judge(2, cause)
	assert.Empty(t, reason)
	assert.Equal(t, cause, err)
	reason, err = Retry{Limit: 2}.Judge(3, cause)
	assert.Equal(t, ReasonRetries, reason)
	require.ErrorIs(t, err, cause)
	assert.ErrorContains(t, err, "2 attempts in a row")
	reason, _ = Retry{Limit: 0}.Judge(1, cause)
	assert.Equal(t, ReasonRetries, reason)
	reason, _ = Retry{Limit: -1}.Judge(1e6, cause)
	assert.Empty(t, reason)
}
