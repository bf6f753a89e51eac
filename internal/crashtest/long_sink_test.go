package crashtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// versionOf is the message of a version of row 1.
func versionOf(version int) service.MessageBatch {
	m := service.NewMessage(fmt.Appendf(nil, `{"after":{"id":1,"v":%d}}`, version))
	for key, value := range map[string]string{"kind": kindChange, "op": opUpdate, "table": "t", "position": fmt.Sprintf("%08d/1", version)} {
		m.MetaSetMut(key, value)
	}
	return service.MessageBatch{m}
}

func TestLongSink(t *testing.T) {
	sink := newLongSink()
	cache := streamtest.NewCache()
	take := sink.live(cache)
	some := sink.when(5)
	for _, version := range []int{1, 2, 3, 2, 3, 4} {
		require.NoError(t, take(t.Context(), versionOf(version)))
	}
	<-some
	repeats, lost := sink.count()
	assert.Equal(t, []int{2, 0}, []int{repeats, lost})

	sink.rejectNext()
	require.ErrorIs(t, take(t.Context(), versionOf(5)), errRejected)
	require.NoError(t, take(t.Context(), versionOf(7)), "what was rejected is not delivered: two are missing")
	_, lost = sink.count()
	assert.Equal(t, 2, lost)
	_, err := sink.has(7)
	require.ErrorContains(t, err, "comes after version 4: something is lost")

	sink.kill()
	assert.True(t, errors.Is(take(t.Context(), versionOf(8)), errDead))
}
