package input

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
)

// The headers are there when they are asked for, the same in all messages of a
// run.
func TestInput_ExtendedHeaders(t *testing.T) {
	for _, fields := range []string{"", "extended_headers_enabled: true"} {
		inBubble(t, fields, func(t *testing.T) {
			in := testInput(t, &fakeServer{rows: 2, batch: 1}, newMemoryCache(), fields)
			var ids []any
			for range 2 {
				d := mustNext(t, in)
				id, _ := d.batch[0].MetaGetMut(messages.MetaRunID)
				ids = append(ids, id)
				d.accept(t)
			}
			assert.Equal(t, fields != "", ids[0] != nil)
			assert.Equal(t, ids[0], ids[1])
			require.NoError(t, in.Close(t.Context()))
		})
	}
}
