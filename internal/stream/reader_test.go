package stream

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// history fills a fake server with a random sequence of transactions over
// several tables, in which command ids and change LSNs disagree as in deferred
// updates.
func history(t *rapid.T) *fakeServer {
	f := newFakeServer()
	for i := range rapid.IntRange(1, 4).Draw(t, "tables") {
		f.table(string(rune('a' + i)))
	}
	next := 10
	for range rapid.IntRange(0, 12).Draw(t, "transactions") {
		changes := rapid.IntRange(1, 9).Draw(t, "changes")
		first := next
		next += changes + 2
		commit := first + changes + 1
		seqs := rapid.Permutation(sequence(first, changes)).Draw(t, "seqvals")
		for i := range changes {
			table := rapid.SampledFrom(f.tables).Draw(t, "table")
			id := int64(rapid.IntRange(1, 5).Draw(t, "id"))
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				f.add(table, commit, 2*i+1, seqs[i], opInsert, id, "new")
			case 1:
				f.add(table, commit, 2*i+1, seqs[i], opDelete, id, "gone")
			case 2: // a key update: two rows with one change LSN
				f.add(table, commit, 2*i+1, seqs[i], opDelete, id, "old key")
				f.add(table, commit, 2*i+2, seqs[i], opInsert, id+1, "new key")
			default:
				f.add(table, commit, 2*i+1, seqs[i], opUpdateBefore, id, "before")
				f.add(table, commit, 2*i+1, seqs[i], opUpdateAfter, id+int64(rapid.IntRange(0, 1).Draw(t, "moved")), "after")
			}
		}
	}
	if rapid.Bool().Draw(t, "idle tail") {
		f.max = lsnOf(next + 5)
	}
	return f
}

func sequence(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

func options(t *rapid.T) Options {
	return Options{
		Encoder:                  encoder,
		FetchSize:                rapid.IntRange(1, 7).Draw(t, "fetch size"),
		MaxBatchSize:             rapid.IntRange(1, 7).Draw(t, "batch size"),
		MaxIterationTransactions: rapid.IntRange(1, 5).Draw(t, "transactions a pass"),
		MaxBytes:                 rapid.SampledFrom([]int{1, 500, 5000, 0}).Draw(t, "bytes"),
	}
}

func TestReader_EmitsAllTablesInOneOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := history(rt)
		if rapid.Bool().Draw(rt, "an instance lacks command ids") {
			f.tables[0].Instances[0].HasCommand = false
		}
		byCommand := f.tables[0].Instances[0].HasCommand
		sink := &fakeSink{}
		r := New(f, sink, options(rt), State{})
		drain(t, r)
		require.Equal(rt, plainEvents(t, f, byCommand), append([]summary{}, summaries(sink.messages)...))
		if !f.max.IsZero() {
			require.Equal(rt, byCommand, r.State().ByCommand)
			require.Equal(rt, lsn.EndOf(f.max), r.State().Position)
			require.Equal(rt, lsn.EndOf(f.max), sink.advanced)
		}
	})
}

// After a stop at any event, exactly the events after it come.
func TestReader_ResumesAfterEveryEvent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := history(rt)
		whole := &fakeSink{}
		first := New(f, whole, options(rt), State{})
		drain(t, first)
		if len(whole.messages) == 0 {
			return
		}
		at := rapid.IntRange(0, len(whole.messages)-1).Draw(rt, "stopped at")
		state := State{Position: whole.messages[at].Position, ByCommand: true, Instances: first.State().Instances}
		rest := &fakeSink{}
		drain(t, New(f, rest, options(rt), state))
		require.Equal(rt, append([]summary{}, summaries(whole.messages[at+1:])...), append([]summary{}, summaries(rest.messages)...))
	})
}

// Whatever fails, and whenever, nothing is lost, repeated or reordered as long
// as the same reader goes on.
func TestReader_GoesOnAfterFailures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := history(rt)
		budget := rapid.IntRange(0, 10).Draw(rt, "failures")
		maybe := func() error {
			if budget > 0 && rapid.IntRange(0, 3).Draw(rt, "fails") == 0 {
				budget--
				return sqlserver.ErrConnectionLost
			}
			return nil
		}
		// The draws must come in one order, so pages are not read ahead of
		// them: each failure is decided when the pass begins.
		failPage := -1
		f.fail = func(statement string) error {
			if statement == "maximum" {
				failPage = -1
				if err := maybe(); err != nil {
					failPage = f.pages + 1 + rapid.IntRange(0, 4).Draw(rt, "page")
				}
				return nil
			}
			if f.pages == failPage {
				return sqlserver.ErrConnectionLost
			}
			return nil
		}
		sink := &fakeSink{}
		r := New(f, sink, options(rt), State{})
		for {
			before := len(sink.messages)
			more, err := r.PollOnce(t.Context())
			if err != nil {
				require.ErrorIs(rt, err, sqlserver.ErrConnectionLost)
				if n := len(sink.messages); n > before {
					require.Equal(rt, sink.messages[n-1].Position, r.State().Position)
				}
				continue
			}
			if !more {
				break
			}
		}
		require.Equal(rt, plainEvents(t, f, true), append([]summary{}, summaries(sink.messages)...))
	})
}

// A read error is not the end of a table: what lies behind it in another table
// must wait.
func TestReader_ReadErrorIsNotTheEnd(t *testing.T) {
	f := newFakeServer()
	a, b := f.table("a"), f.table("b")
	f.add(a, 11, 1, 10, opInsert, 1, "L1")
	f.add(b, 21, 1, 20, opInsert, 2, "L2")
	f.add(b, 31, 1, 30, opInsert, 3, "L3")
	f.add(a, 51, 1, 50, opInsert, 5, "L5")
	broken := true
	f.fail = func(statement string) error {
		if broken && statement == "page of dbo_b" && f.pages > 3 {
			return sqlserver.ErrConnectionLost
		}
		return nil
	}
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: encoder, FetchSize: 1}, State{})
	_, err := r.PollOnce(t.Context())
	require.ErrorIs(t, err, sqlserver.ErrConnectionLost)
	require.Len(t, sink.messages, 2)
	assert.Equal(t, lsnOf(21), r.State().Position.Commit)

	broken = false
	drain(t, New(f, sink, Options{Encoder: encoder}, r.State()))
	require.Len(t, sink.messages, 4)
	assert.Equal(t, lsnOf(31), sink.messages[2].CommitLSN)
	assert.Equal(t, lsnOf(51), sink.messages[3].CommitLSN)
}

func TestReader_SinkErrorKeepsThePosition(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	f.add(a, 11, 1, 10, opInsert, 1, "x")
	full := errors.New("full")
	sink := &fakeSink{fail: func() error { return full }}
	r := New(f, sink, Options{Encoder: encoder}, State{})
	_, err := r.PollOnce(t.Context())
	require.ErrorIs(t, err, full)
	assert.True(t, r.State().Position.IsZero())
	assert.True(t, sink.advanced.IsZero(), "nothing may be passed over")

	sink.fail = nil
	drain(t, r)
	require.Len(t, sink.messages, 1)
}

func TestReader_IdleAdvance(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	f.max = lsnOf(90)
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: encoder}, State{Position: lsn.EndOf(lsnOf(10))})
	drain(t, r)
	assert.Equal(t, lsn.EndOf(lsnOf(90)), sink.advanced)
	// Cleanup up to what was passed over is no gap.
	f.lows[1001] = lsnOf(80)
	drain(t, New(f, sink, Options{Encoder: encoder}, r.State()))
}

func TestReader_WaitsForTheFirstLSN(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	r := New(f, &fakeSink{}, Options{Encoder: encoder}, State{})
	more, err := r.PollOnce(t.Context())
	require.NoError(t, err)
	assert.False(t, more)
	assert.True(t, r.State().Position.IsZero())
}

func TestReader_TornPairIsAnError(t *testing.T) {
	for name, build := range map[string]func(f *fakeServer, t *sqlserver.Table){
		"3 alone": func(f *fakeServer, t *sqlserver.Table) { f.add(t, 11, 1, 10, opUpdateBefore, 1, "x") },
		"4 alone": func(f *fakeServer, t *sqlserver.Table) { f.add(t, 11, 1, 10, opUpdateAfter, 1, "x") },
		"3 and another 4": func(f *fakeServer, t *sqlserver.Table) {
			f.add(t, 11, 1, 9, opUpdateBefore, 1, "x")
			f.add(t, 11, 2, 10, opUpdateAfter, 1, "x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeServer()
			table := f.table("a")
			f.add(table, 5, 1, 4, opInsert, 1, "first")
			build(f, table)
			sink := &fakeSink{}
			r := New(f, sink, Options{Encoder: encoder}, State{})
			_, err := r.PollOnce(t.Context())
			require.Error(t, err)
			require.Len(t, sink.messages, 1, "what comes before is good")
			assert.Equal(t, lsnOf(5), r.State().Position.Commit)
		})
	}
}

func TestReader_Problems(t *testing.T) {
	start := func(f *fakeServer) State {
		a := f.table("a")
		return State{
			Position: lsn.EndOf(lsnOf(20)), ByCommand: true,
			Instances: []InstanceIdentity{identify(a, a.Instances[0])},
		}
	}
	for name, test := range map[string]struct {
		reason string
		harm   func(f *fakeServer)
	}{
		"cleanup passed the position": {ReasonRetentionGap, func(f *fakeServer) { f.lows[1001] = lsnOf(40) }},
		"re-enabled since": {ReasonInstanceReplaced, func(f *fakeServer) {
			f.tables[0].Instances = []*sqlserver.CaptureInstance{f.instance(f.tables[0], 2001, lsnOf(40))}
			delete(f.lows, 1001)
		}},
		"disabled since": {ReasonInstanceGone, func(f *fakeServer) {
			f.tables[0].Instances = nil
			delete(f.lows, 1001)
		}},
		"enabled and cleaned while nobody read": {ReasonRetentionGap, func(f *fakeServer) {
			b := f.table("b")
			b.Instances[0].StartLSN, f.lows[1002] = lsnOf(70), lsnOf(70)
			f.commit(70)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeServer()
			state := start(f)
			f.max = lsnOf(100)
			test.harm(f)
			sink := &fakeSink{}
			_, err := New(f, sink, Options{Encoder: encoder}, state).PollOnce(t.Context())
			var problem sqlserver.Problem
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, test.reason, problem.Reason())
			assert.NotEmpty(t, problem.Remedy())
			assert.Equal(t, sqlserver.ClassFatal, sqlserver.Classify(err))
			assert.True(t, sink.advanced.IsZero())
		})
	}
}

// Cleanup may run between the check and the read.
func TestReader_CleanupDuringTheRead(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	for i := range 4 {
		f.add(a, 11+10*i, 1, 10+10*i, opInsert, int64(i), "x")
	}
	f.fail = func(statement string) error {
		if statement == "page of dbo_a" && f.pages == 3 {
			f.lows[1001] = lsnOf(41)
			f.rows[1001] = f.rows[1001][3:]
		}
		return nil
	}
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: encoder, FetchSize: 1}, State{})
	_, err := r.PollOnce(t.Context())
	var gap *GapError
	require.ErrorAs(t, err, &gap)
	assert.Len(t, sink.messages, 2, "the row after the gap must not be emitted")
}

func TestReader_ReenabledWhileRunning(t *testing.T) {
	f := newFakeServer()
	a, b := f.table("a"), f.table("b")
	f.add(a, 11, 1, 10, opInsert, 1, "x")
	r := New(f, &fakeSink{}, Options{Encoder: encoder}, State{})
	drain(t, r)
	a.Instances = []*sqlserver.CaptureInstance{f.instance(a, 2001, lsnOf(40))}
	f.edition++
	f.add(b, 51, 1, 50, opInsert, 1, "y")
	_, err := r.PollOnce(t.Context())
	var problem *InstanceError
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, ReasonInstanceReplaced, problem.Reason())
}

// A table enabled later is read from its beginning on, and the old instances
// go on as they were.
func TestReader_TableEnabledLater(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	f.add(a, 11, 1, 10, opInsert, 1, "x")
	var stored []InstanceIdentity
	sink := &fakeSink{}
	r := New(f, sink, Options{
		Encoder: encoder,
		OnInstances: func(_ context.Context, byCommand bool, known Known) error {
			assert.True(t, byCommand)
			stored = known.Instances
			return nil
		},
	}, State{})
	drain(t, r)
	require.Len(t, stored, 1)

	b := f.table("b")
	b.Instances[0].StartLSN, f.lows[1002] = lsnOf(20), lsnOf(20)
	f.add(b, 31, 1, 30, opInsert, 1, "y")
	drain(t, r)
	require.Len(t, sink.messages, 2)
	require.Len(t, stored, 2)
	assert.Equal(t, lsnOf(20), stored[1].FirstStart)

	// Cleanup moves the catalogue's start up; the stored one stays.
	b.Instances[0].StartLSN, f.lows[1002] = lsnOf(31), lsnOf(31)
	f.edition++
	drain(t, r)
	assert.Equal(t, lsnOf(20), r.State().Instances[1].FirstStart)
}

func TestReader_NothingIsReadWhenInstancesCannotBeStored(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	f.add(a, 11, 1, 10, opInsert, 1, "x")
	full := errors.New("cache is full")
	sink := &fakeSink{}
	r := New(f, sink, Options{
		Encoder:     encoder,
		OnInstances: func(context.Context, bool, Known) error { return full },
	}, State{})
	_, err := r.PollOnce(t.Context())
	require.ErrorIs(t, err, full)
	assert.Empty(t, sink.messages)
}

// Rows from before the column was added have no command id.
func TestReader_FallsBackWithoutCommandIDs(t *testing.T) {
	f := newFakeServer()
	a, b := f.table("a"), f.table("b")
	f.add(a, 15, 1, 11, opInsert, 1, "x")
	f.add(b, 15, 2, 10, opInsert, 2, "y")
	f.add(a, 25, 0, 21, opInsert, 3, "no command")
	f.add(b, 25, 0, 20, opInsert, 4, "no command")
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: encoder, MaxIterationTransactions: 1}, State{})
	drain(t, r)
	assert.False(t, r.State().ByCommand)
	var order []int64
	for _, m := range sink.messages {
		order = append(order, int64(m.ChangeLSN[9]))
	}
	assert.Equal(t, []int64{11, 10, 20, 21}, order, "by command id as long as there are any, then by change LSN")
}

// A position inside a transaction means nothing in another order; taken for
// what it says, it could pass over events.
func TestReader_ReplaysTheTransactionInAnotherOrder(t *testing.T) {
	for name, test := range map[string]struct {
		hasCommand bool
		state      State
	}{
		"command ids have come": {true, State{Position: lsn.Position{Commit: lsnOf(15), Change: lsnOf(11), Operation: opInsert}}},
		"command ids are gone": {false, State{
			Position: lsn.Position{Commit: lsnOf(15), Command: 1, Change: lsnOf(12), Operation: opInsert}, ByCommand: true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeServer()
			a := f.table("a")
			a.Instances[0].HasCommand = test.hasCommand
			f.add(a, 15, 1, 12, opInsert, 1, "x")
			f.add(a, 15, 2, 11, opInsert, 2, "y")
			sink := &fakeSink{}
			drain(t, New(f, sink, Options{Encoder: encoder}, test.state))
			assert.Len(t, sink.messages, 2)
		})
	}
}

func TestState_JSON(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	state := State{
		Position:  lsn.Position{Commit: lsnOf(15), Command: 3, Change: lsnOf(11), Operation: opDelete, Ordinal: 1},
		ByCommand: true, Instances: []InstanceIdentity{identify(a, a.Instances[0])},
	}
	text, err := json.Marshal(state)
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"position": "00000000:00000000:000f/00000003/00000000:00000000:000b/01/0000000000000001",
		"by_command": true,
		"instances": [{"schema":"dbo","table":"a","source_object_id":1,"name":"dbo_a","object_id":1001,
			"create_date":"2024-03-01T12:00:00Z","first_start":"00000000:00000000:0001"}]}`, string(text))
	var read State
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, state, read)
}
