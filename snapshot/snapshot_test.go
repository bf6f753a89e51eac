package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSnapshotter_Markers(t *testing.T) {
	for _, test := range []struct {
		name string
		rows []int // of each table
		want []string
	}{
		{"nothing", []int{0}, []string{}},
		{"one row", []int{1}, []string{"a 1 last"}},
		{"one table", []int{3}, []string{"a 1 first", "a 2 true", "a 3 last"}},
		{"tables of one row", []int{1, 1, 1}, []string{"a 1 first", "b 1 last_in_data_collection", "c 1 last"}},
		{"tables of two rows", []int{2, 2}, []string{"a 1 first", "a 2 last_in_data_collection", "b 1 first_in_data_collection", "b 2 last"}},
		{"first table empty", []int{0, 2}, []string{"b 1 first_in_data_collection", "b 2 last"}},
		{"last tables empty", []int{2, 0, 0}, []string{"a 1 first", "a 2 last"}},
		{"empty in between", []int{1, 0, 1}, []string{"a 1 first", "c 1 last"}},
	} {
		for _, size := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%s, pages of %d", test.name, size), func(t *testing.T) {
				f := newFakeServer()
				opts := Options{FetchSize: size, MaxBatchSize: size}
				for i, n := range test.rows {
					opts.Tables = append(opts.Tables, f.table(string(rune('a'+i)), n, i == 1))
				}
				sink := &fakeSink{}
				run(t, f, sink, opts, nil)
				assert.Equal(t, test.want, sink.lines())
			})
		}
	}
}

func TestSnapshotter_Messages(t *testing.T) {
	f := newFakeServer()
	sink := &fakeSink{}
	run(t, f, sink, Options{Tables: []Table{f.table("a", 3, false)}}, nil)
	require.Len(t, sink.messages, 3)
	for i, m := range sink.messages {
		assert.Equal(t, event.OpRead, m.Op)
		assert.Equal(t, lsn.Position{Commit: lsn.LSN{9: 7}, Ordinal: uint64(i)}, m.Position)
		assert.Equal(t, lsn.LSN{9: 7}, m.CommitLSN)
		assert.True(t, m.ChangeLSN.IsZero())
		assert.Zero(t, m.EventSerial)
		assert.Equal(t, epoch, m.SourceTime.UTC())
	}
	last := sink.emitted[len(sink.emitted)-1].progress
	assert.True(t, last.Done)
	assert.Equal(t, lsn.EndOf(lsn.LSN{9: 7}), last.Position())
	assert.Equal(t, []time.Duration{DefaultLockTimeout, sqlserver.NoLockTimeout}, f.lockTimeouts)
	assert.Equal(t, 1, f.begun)
	assert.False(t, f.open)

	require.NoError(t, New(f, Options{}, last).Run(t.Context(), sink), "a snapshot that is done reads nothing")
	assert.Equal(t, 1, f.begun)
}

// Stopped after any batch and begun again from its progress, all rows come,
// at most those of the unacknowledged batches twice, and no ordinal twice.
func TestSnapshotter_ResumesAfterEveryBatch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFakeServer()
		opts := Options{
			FetchSize:    rapid.IntRange(1, 5).Draw(rt, "fetch size"),
			MaxBatchSize: rapid.IntRange(1, 5).Draw(rt, "batch size"),
		}
		want := map[string]bool{}
		for i := range rapid.IntRange(1, 4).Draw(rt, "tables") {
			n := rapid.IntRange(0, 8).Draw(rt, "rows")
			table := f.table(string(rune('a'+i)), n, rapid.IntRange(0, 4).Draw(rt, "keyless") == 0)
			opts.Tables = append(opts.Tables, table)
			for id := range n {
				want[fmt.Sprintf("%s %d", table.Shape.Name, id+1)] = true
			}
		}
		first := &fakeSink{}
		run(t, f, first, opts, nil)
		require.Len(rt, first.messages, len(want))

		at := rapid.IntRange(0, len(first.emitted)).Draw(rt, "batches acknowledged")
		acked, messages := first.saved[0], first.messages[:0]
		if at > 0 {
			acked, messages = throughJSON(rt, first.emitted[at-1].progress), first.messages[:first.emitted[at-1].upTo]
		}
		rest := &fakeSink{}
		run(t, f, rest, opts, acked)

		got := map[string]bool{}
		for _, row := range rowsOf(messages) {
			got[row] = true
		}
		for _, m := range rest.messages {
			row := rowsOf([]event.Message{m})[0]
			if got[row] {
				require.False(rt, tableOf(opts, m.Table).Source.PageKey != nil, "%s was acknowledged", row)
			}
			got[row] = true
		}
		require.Equal(rt, want, got)

		ordinals := map[uint64]bool{}
		for _, m := range append(append([]event.Message{}, first.messages...), rest.messages...) {
			require.False(rt, ordinals[m.Position.Ordinal], "ordinal %d was used before", m.Position.Ordinal)
			ordinals[m.Position.Ordinal] = true
		}
	})
}

func tableOf(opts Options, name string) Table {
	for _, t := range opts.Tables {
		if t.Shape.Name == name {
			return t
		}
	}
	return Table{}
}

func throughJSON(t require.TestingT, p *Progress) *Progress {
	text, err := json.Marshal(p)
	require.NoError(t, err)
	read := &Progress{}
	require.NoError(t, json.Unmarshal(text, read))
	return read
}

func TestSnapshotter_DoneTablesAreNotReadAgain(t *testing.T) {
	f := newFakeServer()
	a, b := f.table("a", 3, false), f.table("b", 5, false)
	progress := &Progress{Start: lsn.LSN{9: 7}, Tables: map[string]TableProgress{
		a.key(): {Done: true, ObjectID: 1},
		b.key(): {ObjectID: 2, Key: "[id] int", After: []string{"3"}},
	}}
	sink := &fakeSink{}
	run(t, f, sink, Options{Tables: []Table{a, b}}, progress)
	assert.Equal(t, []string{"b 4 true", "b 5 last"}, sink.lines())
	assert.Equal(t, []string{"b after [3]"}, f.pages)
}

func TestTable_Resume(t *testing.T) {
	f := newFakeServer()
	a := f.table("a", 3, false)
	for name, test := range map[string]struct {
		stored TableProgress
		after  []string
		done   bool
		warns  bool
	}{
		"key":             {TableProgress{ObjectID: 1, Key: "[id] int", After: []string{"2"}}, []string{"2"}, false, false},
		"done":            {TableProgress{ObjectID: 1, Done: true}, nil, true, false},
		"key has changed": {TableProgress{ObjectID: 1, Key: "[id] bigint", After: []string{"2"}}, nil, false, true},
		"made anew":       {TableProgress{ObjectID: 9, Done: true}, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			from, reason := a.resume(&Progress{Tables: map[string]TableProgress{a.key(): test.stored}})
			assert.Equal(t, test.after, from.After)
			assert.Equal(t, test.done, from.Done)
			assert.Equal(t, test.warns, reason != "")
		})
	}
}

func TestSnapshotter_Isolation(t *testing.T) {
	for _, test := range []struct {
		mode    Isolation
		allowed bool
		begun   int
		says    string
		fails   bool
	}{
		{"", true, 1, "", false},
		{IsolationAuto, false, 0, "not one point in time", false},
		{IsolationSnapshot, true, 1, "", false},
		{IsolationSnapshot, false, 0, "", true},
		{IsolationReadCommitted, true, 0, "", false},
	} {
		t.Run(fmt.Sprintf("%s, allowed %t", test.mode, test.allowed), func(t *testing.T) {
			f := newFakeServer()
			f.facts.SnapshotAllowed = test.allowed
			var logged bytes.Buffer
			opts := Options{
				Tables: []Table{f.table("a", 5, false)}, FetchSize: 1, Isolation: test.mode, Encoder: encoder,
				Logger: slog.New(slog.NewTextHandler(&logged, nil)),
			}
			err := New(f, opts, nil).Run(t.Context(), &fakeSink{})
			if test.fails {
				require.ErrorContains(t, err, "ALTER DATABASE [db] SET ALLOW_SNAPSHOT_ISOLATION ON")
				assert.Equal(t, sqlserver.ClassFatal, sqlserver.Classify(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.begun, f.begun)
			if test.says == "" {
				assert.Empty(t, logged.String())
			} else {
				assert.Equal(t, 1, strings.Count(logged.String(), test.says))
			}
		})
	}
}

// Where no rows are read, nothing is said of how.
func TestSnapshotter_IsolationOfNoRows(t *testing.T) {
	f := newFakeServer()
	f.facts.SnapshotAllowed = false
	var logged bytes.Buffer
	require.NoError(t, New(f, Options{Encoder: encoder, Logger: slog.New(slog.NewTextHandler(&logged, nil))}, nil).Run(t.Context(), &fakeSink{}))
	assert.Empty(t, logged.String())
}

func TestSnapshotter_WaitsForTheFirstLSN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		f.max = []lsn.LSN{{}, {}, {}, {9: 7}}
		sink := &fakeSink{}
		begin := time.Now()
		run(t, f, sink, Options{Tables: []Table{f.table("a", 1, false)}}, nil)
		assert.Equal(t, 3*DefaultPollInterval, time.Since(begin))
		assert.Len(t, sink.messages, 1)
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		f.max = []lsn.LSN{{}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := New(f, Options{Encoder: encoder}, nil).Run(ctx, &fakeSink{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A blocked output does not keep row versions alive on the server.
func TestSnapshotter_ClosesTheTransactionWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		var logged bytes.Buffer
		waited := 0
		sink := &fakeSink{block: func() {
			if waited++; waited > 2 {
				return
			}
			<-time.After(patience - time.Second)
			synctest.Wait()
			assert.True(t, f.isOpen())
			<-time.After(2 * time.Second)
			synctest.Wait()
			assert.False(t, f.isOpen())
		}}
		run(t, f, sink, Options{
			Tables: []Table{f.table("a", 20, false)}, FetchSize: 2, MaxBatchSize: 2,
			Logger: slog.New(slog.NewTextHandler(&logged, nil)),
		}, nil)
		assert.Len(t, sink.messages, 20)
		assert.Equal(t, 3, f.begun)
		assert.Equal(t, 3, f.ended)
		assert.Equal(t, 1, strings.Count(logged.String(), "no longer one point in time"), "said once")
	})
}

func TestSnapshotter_RetriesPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		failures := 2
		f.fail = func(statement string) error {
			if statement == "page of a" && len(f.pages) > 2 && failures > 0 {
				failures--
				return fmt.Errorf("reading page: %w", mssql.Error{Number: 3961, Class: 16})
			}
			return nil
		}
		sink := &fakeSink{}
		run(t, f, sink, Options{Tables: []Table{f.table("a", 4, false)}, FetchSize: 1}, nil)
		assert.Equal(t, []string{"a 1 first", "a 2 true", "a 3 true", "a 4 last"}, sink.lines())
		assert.Equal(t, 3, f.begun, "each attempt in a new transaction")
	})
}

// A scan waits for locks as long as it takes: ended by a lock timeout it would
// have to begin again with its first row.
func TestSnapshotter_ScansWithoutLockTimeout(t *testing.T) {
	f := newFakeServer()
	run(t, f, &fakeSink{}, Options{Tables: []Table{
		f.table("a", 1, false), f.table("heap", 1, true), f.table("b", 1, false),
	}}, nil)
	assert.Equal(t, []time.Duration{
		DefaultLockTimeout, // a
		sqlserver.NoLockTimeout,
		DefaultLockTimeout, // b
		sqlserver.NoLockTimeout,
	}, f.lockTimeouts)
}

func TestSnapshotter_RetriesScans(t *testing.T) {
	victim := fmt.Errorf("scanning table: %w", mssql.Error{Number: 1205, Class: 13})
	// failing fails a statement a number of times.
	failing := func(statement string, times int) func(string) error {
		return func(now string) error {
			if now == statement && times > 0 {
				times--
				return victim
			}
			return nil
		}
	}
	t.Run("before the first row", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeServer()
			f.fail = failing("begin of scan of heap", 2)
			sink := &fakeSink{}
			run(t, f, sink, Options{Tables: []Table{f.table("heap", 3, true)}, FetchSize: 2}, nil)
			assert.Equal(t, []string{"heap 1 first", "heap 2 true", "heap 3 last"}, sink.lines())
			assert.Equal(t, 3, f.begun, "each attempt in a new transaction")
		})
	})
	t.Run("not after it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeServer()
			f.fail = failing("scan of heap", 1)
			opts := Options{Tables: []Table{f.table("heap", 3, true)}, FetchSize: 2, Encoder: encoder}
			require.ErrorIs(t, New(f, opts, nil).Run(t.Context(), &fakeSink{}), victim)
			assert.Equal(t, []string{"scan of heap"}, f.pages, "whoever runs the snapshot paces repeats of rows")
		})
	})
}

func TestSnapshotter_Failures(t *testing.T) {
	broken := errors.New("broken")
	t.Run("read", func(t *testing.T) {
		f := newFakeServer()
		f.fail = func(statement string) error {
			if statement == "page of b" {
				return broken
			}
			return nil
		}
		sink := &fakeSink{}
		opts := Options{Tables: []Table{f.table("a", 2, false), f.table("b", 2, false)}, MaxBatchSize: 1, Encoder: encoder}
		err := New(f, opts, nil).Run(t.Context(), sink)
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "db.dbo.b")
		for _, e := range sink.emitted {
			assert.False(t, e.progress.Done)
		}
		assert.False(t, f.open, "no transaction is left behind")
	})
	t.Run("begin, which was cancelled after it had begun", func(t *testing.T) {
		f := newFakeServer()
		f.fail = func(statement string) error {
			if statement == "begin" {
				return broken
			}
			return nil
		}
		opts := Options{Tables: []Table{f.table("a", 2, false)}, Encoder: encoder}
		require.ErrorIs(t, New(f, opts, nil).Run(t.Context(), &fakeSink{}), broken)
		assert.False(t, f.open, "no transaction is left behind")
	})
	t.Run("scan, after its rows", func(t *testing.T) {
		f := newFakeServer()
		f.fail = func(statement string) error {
			if statement == "scan of a" {
				return broken
			}
			return nil
		}
		sink := &fakeSink{}
		opts := Options{Tables: []Table{f.table("a", 3, true)}, FetchSize: 1, MaxBatchSize: 1, Encoder: encoder}
		require.ErrorIs(t, New(f, opts, nil).Run(t.Context(), sink), broken)
		for _, e := range sink.emitted {
			assert.False(t, e.progress.Tables["[dbo].[a]"].Done)
		}
	})
	t.Run("sink", func(t *testing.T) {
		f := newFakeServer()
		sink := &fakeSink{fail: func() error { return broken }}
		opts := Options{Tables: []Table{f.table("a", 9, false)}, FetchSize: 1, MaxBatchSize: 1, Encoder: encoder}
		require.ErrorIs(t, New(f, opts, nil).Run(t.Context(), sink), broken)
		assert.False(t, f.open)
	})
	t.Run("cancelled", func(t *testing.T) {
		f := newFakeServer()
		ctx, cancel := context.WithCancel(t.Context())
		sink := &fakeSink{block: cancel}
		opts := Options{Tables: []Table{f.table("a", 9, false)}, FetchSize: 1, MaxBatchSize: 1, Encoder: encoder}
		require.ErrorIs(t, New(f, opts, nil).Run(ctx, sink), context.Canceled)
		assert.False(t, f.open)
	})
}

// The ordinals of a run are stored before the first of them is used.
func TestSnapshotter_ReservesOrdinals(t *testing.T) {
	f := newFakeServer()
	sink := &fakeSink{}
	run(t, f, sink, Options{Tables: []Table{f.table("a", 1, false)}}, &Progress{Start: lsn.LSN{9: 7}, NextOrdinal: 5})
	require.Len(t, sink.saved, 1)
	assert.EqualValues(t, 5+ordinalBlock, sink.saved[0].NextOrdinal)
	assert.EqualValues(t, 5, sink.messages[0].Position.Ordinal)
}
