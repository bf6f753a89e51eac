package stream

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// transactionReader reads with transactions told of and unchanged updates
// skipped.
func transactionReader(t *testing.T, f *fakeServer, sink Sink, batch int, at lsn.Position) *Reader {
	t.Helper()
	opts := event.Options{
		Topics: event.Naming{Prefix: "p"}, Tombstones: true, SkipUnchanged: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return epoch },
	}
	transactions, err := event.NewTransactions(opts)
	require.NoError(t, err)
	return New(f, sink, Options{
		Encoder:      func(t *schema.Table) (*event.Encoder, error) { return event.NewEncoder(t, opts) },
		Transactions: transactions,
		MaxBatchSize: batch,
	}, State{Position: at, ByCommand: true})
}

// transactionsServer has transactions of every sort: over two tables, with a
// key change and a delete, with an update that is skipped first, in the middle
// and alone, and of one event.
func transactionsServer() *fakeServer {
	f := newFakeServer()
	a, b := f.table("a"), f.table("b")
	f.add(a, 10, 1, 1, opInsert, 1, "x")
	f.add(b, 10, 2, 2, opInsert, 1, "x")
	f.add(a, 10, 3, 3, opUpdateBefore, 1, "x") // changes the key
	f.add(a, 10, 3, 3, opUpdateAfter, 2, "x")
	f.add(a, 10, 4, 4, opUpdateBefore, 2, "x") // changes nothing
	f.add(a, 10, 4, 4, opUpdateAfter, 2, "x")
	f.add(a, 10, 5, 5, opDelete, 2, "x")
	f.add(b, 20, 1, 6, opUpdateBefore, 1, "x") // changes nothing
	f.add(b, 20, 1, 6, opUpdateAfter, 1, "x")
	f.add(a, 20, 2, 7, opInsert, 3, "x")
	f.add(b, 30, 1, 8, opUpdateBefore, 1, "x") // changes nothing
	f.add(b, 30, 1, 8, opUpdateAfter, 1, "x")
	f.add(b, 40, 1, 9, opDelete, 1, "x")
	return f
}

// describe returns a message in short: its status and counts, or its table,
// operation and place.
func describe(t *testing.T, m event.Message) string {
	t.Helper()
	if m.Kind == event.KindTombstone {
		return "tombstone"
	}
	var v struct {
		Status      string
		EventCount  *int64            `json:"event_count"`
		Collections []json.RawMessage `json:"data_collections"`
		Transaction struct {
			Total      int64 `json:"total_order"`
			Collection int64 `json:"data_collection_order"`
		}
	}
	require.NoError(t, json.Unmarshal(m.Value, &v))
	switch {
	case m.Kind == event.KindChange:
		return fmt.Sprintf("%s %s %d/%d", m.Op, m.Table, v.Transaction.Total, v.Transaction.Collection)
	case v.EventCount == nil:
		return v.Status
	default:
		return fmt.Sprintf("%s %d %s", v.Status, *v.EventCount, v.Collections)
	}
}

func TestTransactions_BeginEndAndPlaces(t *testing.T) {
	sink := &fakeSink{}
	drain(t, transactionReader(t, transactionsServer(), sink, 100, lsn.Position{}))
	var got []string
	for _, m := range sink.messages {
		got = append(got, describe(t, m))
	}
	assert.Equal(t, []string{
		"BEGIN", "c a 1/1", "c b 2/1", "d a 3/2", "tombstone", "c a 4/3", "d a 5/4", "tombstone",
		`END 5 [{"data_collection":"db.dbo.a","event_count":4} {"data_collection":"db.dbo.b","event_count":1}]`,
		"BEGIN", "c a 1/1", `END 1 [{"data_collection":"db.dbo.a","event_count":1}]`,
		"BEGIN", "d b 1/1", "tombstone", `END 1 [{"data_collection":"db.dbo.b","event_count":1}]`,
	}, got)
	for i := 1; i < len(sink.messages); i++ {
		require.True(t, sink.messages[i-1].Position.Before(sink.messages[i].Position), "%s at %s", got[i], sink.messages[i].Position)
	}
}

// Whichever message was the last acknowledged, what comes after a restart is
// exactly the rest: neither a beginning nor an end is lost or repeated, and the
// numbers go on.
func TestTransactions_ResumeBehindAnyMessage(t *testing.T) {
	whole := &fakeSink{}
	drain(t, transactionReader(t, transactionsServer(), whole, 100, lsn.Position{}))
	for i, last := range whole.messages {
		for _, batch := range []int{1, 3, 100} {
			rest := &fakeSink{}
			drain(t, transactionReader(t, transactionsServer(), rest, batch, last.Position))
			assert.Equal(t, summaries(whole.messages[i+1:]), summaries(rest.messages), "after message %d in batches of %d", i, batch)
		}
	}
}
