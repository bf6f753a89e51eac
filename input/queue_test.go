package input

import (
	"context"
	"database/sql/driver"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// batchOf encodes a batch of n events of some bytes each.
func batchOf(t *testing.T, n int) *event.Batch {
	t.Helper()
	kind := schema.TypeOf(schema.CatalogueType{System: "int", MaxLength: 4})
	table := &schema.Table{Database: "db", Schema: "dbo", Name: "t", Columns: []schema.Column{{Name: "id", Type: kind, ID: 1, Ordinal: 1}}, Key: []int{0}}
	enc, err := event.NewEncoder(table, event.Options{Topics: event.Naming{Prefix: "p"}, Modes: schema.DefaultModes()})
	require.NoError(t, err)
	b := &event.Batch{}
	for i := range n {
		require.NoError(t, enc.Row(b, event.Change{Op: event.OpCreate, After: []driver.Value{int64(i)}, SourceTime: time.UnixMilli(1)}))
	}
	return b
}

func TestQueue_Bounds(t *testing.T) {
	one := batchOf(t, 1)
	require.Positive(t, one.Bytes())
	tests := []struct {
		name            string
		messages, bytes int
		batch           *event.Batch
		fit             int
	}{
		{"messages", 6, 0, batchOf(t, 2), 3},
		{"bytes", 1000, 3 * one.Bytes(), one, 3},
		{"one larger than the queue", 1, 0, batchOf(t, 5), 1},
		{"one of more bytes than the queue", 1000, 1, batchOf(t, 5), 1},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			q := newQueue(tt.messages, tt.bytes)
			push := func() error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				return q.push(ctx, item{batch: tt.batch})
			}
			for range tt.fit {
				require.NoError(t, push())
			}
			require.ErrorIs(t, push(), context.DeadlineExceeded)

			// Taking one makes room for one.
			i, err := pop(t.Context(), q, nil)
			require.NoError(t, err)
			assert.Same(t, tt.batch, i.batch)
			require.NoError(t, push())
			require.ErrorIs(t, push(), context.DeadlineExceeded)
		})
	}
}

func TestQueue_Drains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(10, 0)
		require.NoError(t, q.push(t.Context(), item{mark: mark{}.at(stream.Place{Position: message(1, mark{}.position()).Position})}))
		q.close()
		_, err := pop(t.Context(), q, nil)
		require.NoError(t, err)
		_, err = pop(t.Context(), q, nil)
		require.ErrorIs(t, err, errDrained)
	})
}
