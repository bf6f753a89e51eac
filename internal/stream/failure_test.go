package stream

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// flawedServer has rows that no event can be made of: first, last and in the
// middle of a transaction, alone in one, and last of all.
func flawedServer() *fakeServer {
	f := newFakeServer()
	a, b := f.table("a"), f.table("b")
	flawed := func(t *sqlserver.Table, commit, command int, op uint8, id int64) {
		f.add(t, commit, command, 10*commit+command, op, id, "")
		rows := f.rows[t.Instances[0].ObjectID]
		rows[len(rows)-1].Values[1] = driver.Value(int64(5)) // no text
	}
	flawed(a, 10, 1, opInsert, 1)
	f.add(a, 10, 2, 102, opInsert, 2, "x")
	flawed(b, 10, 3, opInsert, 1)
	f.add(b, 10, 4, 104, opDelete, 2, "x")
	flawed(b, 10, 5, opInsert, 3)
	flawed(a, 20, 1, opInsert, 4)
	f.add(a, 30, 1, 301, opUpdateBefore, 2, "x")
	f.add(a, 30, 1, 301, opUpdateAfter, 2, "y")
	f.add(b, 40, 1, 401, opUpdateBefore, 4, "x") // changes the key
	flawed(b, 40, 1, opUpdateAfter, 5)
	return f
}

// flawedReader leaves such rows out, into left.
func flawedReader(t *testing.T, sink Sink, batch int, at lsn.Position, left *[]lsn.Position) *Reader {
	t.Helper()
	opts := event.Options{
		Topics: event.Naming{Prefix: "p"}, Tombstones: true, Modes: schema.DefaultModes(),
		Now:       func() time.Time { return epoch },
		OnFailure: func(n event.FailureNotice) { *left = append(*left, n.Position) },
	}
	transactions, err := event.NewTransactions(opts)
	require.NoError(t, err)
	return New(flawedServer(), sink, Options{
		Encoder:      func(t *schema.Table) (*event.Encoder, error) { return event.NewEncoder(t, opts) },
		Transactions: transactions,
		MaxBatchSize: batch,
	}, State{Position: at, ByCommand: true})
}

// What is left out counts in no transaction, makes none, and is passed over by
// the position.
func TestReader_LeavesOut(t *testing.T) {
	sink := &fakeSink{}
	var left []lsn.Position
	drain(t, flawedReader(t, sink, 100, lsn.Position{}, &left))
	var got []string
	for _, m := range sink.messages {
		got = append(got, describe(t, m))
	}
	assert.Equal(t, []string{
		"BEGIN", "c a 1/1", "d b 2/1", "tombstone",
		`END 2 [{"data_collection":"db.dbo.a","event_count":1} {"data_collection":"db.dbo.b","event_count":1}]`,
		"BEGIN", "u a 1/1", `END 1 [{"data_collection":"db.dbo.a","event_count":1}]`,
	}, got)
	var commits []lsn.LSN
	for _, at := range left {
		commits = append(commits, at.Commit)
	}
	assert.Equal(t, []lsn.LSN{lsnOf(10), lsnOf(10), lsnOf(10), lsnOf(20), lsnOf(40)}, commits)
	assert.Equal(t, lsn.EndOf(lsnOf(40)), sink.advanced)

	for i, last := range sink.messages {
		for _, batch := range []int{1, 100} {
			rest := &fakeSink{}
			drain(t, flawedReader(t, rest, batch, last.Position, new([]lsn.Position)))
			assert.Equal(t, summaries(sink.messages[i+1:]), summaries(rest.messages), "after message %d in batches of %d", i, batch)
		}
	}
}

// Otherwise it stops the reading, with all before it delivered.
func TestReader_StopsBeforeWhatNoEventCanBeMadeOf(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	f.add(a, 10, 1, 1, opInsert, 1, "x")
	f.add(a, 10, 2, 2, opInsert, 2, "")
	f.rows[a.Instances[0].ObjectID][1].Values[1] = int64(5)
	sink := &fakeSink{}
	r := transactionReader(t, f, sink, 100, lsn.Position{})
	_, err := r.PollOnce(t.Context())
	var problem *EventError
	require.ErrorAs(t, err, &problem)
	for _, part := range []string{`column "v" of db.dbo.a`, problem.Position.String(), "got a int64", "event_processing_failure_handling_mode"} {
		require.ErrorContains(t, err, part)
	}
	require.Len(t, sink.messages, 2, "the beginning of the transaction and its first event")
	assert.Equal(t, sink.messages[1].Position, r.State().Position)
}
