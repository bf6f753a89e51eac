package stream

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// statesSink keeps, with each message, what would be stored once it
// and all before it are acknowledged.
type statesSink struct {
	fakeSink
	reader *Reader
	states []State
	known  Known
	last   State
	tells  []string
}

func (k *statesSink) Emit(ctx context.Context, b *event.Batch, upTo Place) error {
	if k.fail != nil {
		if err := k.fail(); err != nil {
			return err
		}
	}
	for i, m := range b.Messages {
		place := upTo
		if i < len(b.Messages)-1 {
			place = upTo.Behind(m.Position)
		}
		k.states = append(k.states, k.at(place))
		k.messages = append(k.messages, m)
	}
	k.last = k.at(upTo)
	return nil
}

func (k *statesSink) Advance(_ context.Context, to Place) error {
	k.last = k.at(to)
	return nil
}

func (k *statesSink) at(p Place) State {
	return State{ByCommand: k.reader.byCommand, Instances: k.known.Instances, Structures: k.known.Structures}.At(p)
}

// open starts a reader that holds tables.
func (k *statesSink) open(t testing.TB, src Source, opts Options, start State) *Reader {
	t.Helper()
	k.known, k.last = Known{Instances: start.Instances, Structures: start.Structures}, start
	if opts.Encoder == nil {
		opts.Encoder = encoder
	}
	opts.OnInstances = func(_ context.Context, _ bool, known Known) error {
		k.known = known
		return nil
	}
	opts.Saved = func() Place { return k.last.Place() }
	opts.OnHeld = func(table string, cause error) {
		var problem sqlserver.Problem
		switch {
		case cause == nil:
			k.tells = append(k.tells, table+" goes on")
		case errors.As(cause, &problem):
			k.tells = append(k.tells, table+" is held: "+problem.Reason())
		}
	}
	k.reader = New(src, k, opts, start)
	return k.reader
}

// of returns the messages of a table, in short.
func of(messages []event.Message, table string) []string {
	list := []string{}
	for _, m := range messages {
		if m.Table == table {
			list = append(list, short(m))
		}
	}
	return list
}

func short(m event.Message) string {
	return fmt.Sprintf("%s %s %s %s %s", m.Kind, m.Op, m.Table, m.Key, m.Position)
}

func shorts(messages []event.Message) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = short(m)
	}
	return list
}

// poll does passes until nothing is left, and then lets time pass.
func poll(t testing.TB, r *Reader, wait time.Duration) {
	t.Helper()
	drain(t, r)
	<-time.After(wait)
}

// threeTables has rows in three tables, over transactions of all of them.
func threeTables(commits ...int) *fakeServer {
	f := newFakeServer()
	f.table("a")
	f.table("b")
	f.table("c")
	changeAll(f, commits...)
	return f
}

// changeAll inserts two rows into each table in one transaction each, changes one
// and deletes it.
func changeAll(f *fakeServer, commits ...int) {
	for _, commit := range commits {
		command := 0
		next := func() int { command++; return command }
		for range 2 {
			for _, t := range f.tables {
				n := next()
				f.add(t, commit, n, n, opInsert, int64(commit*10+n), "x")
			}
		}
		for i, t := range f.tables {
			n := next()
			f.add(t, commit, n, n, opUpdateBefore, int64(commit*10+1+i), "x")
			f.add(t, commit, n, n, opUpdateAfter, int64(commit*10+1+i), "y")
			n = next()
			f.add(t, commit, n, n, opDelete, int64(commit*10+1+i), "y")
		}
	}
}

// undisturbed returns what is read of a server that nothing is wrong with.
func undisturbed(t testing.TB, f *fakeServer) []event.Message {
	t.Helper()
	denied := f.denied
	f.denied = nil
	defer func() { f.denied = denied }()
	sink := &fakeSink{}
	drain(t, New(f, sink, Options{Encoder: encoder}, State{}))
	return sink.messages
}

// A table that is denied is left behind and named; the others go on, at the cost
// of no statement more than before. Once it is granted, what it has missed comes
// at its own positions, before anything new of it.
func TestHeld_DeniedAndGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables(10, 20)
		k := &statesSink{}
		r := k.open(t, f, Options{MaxBatchSize: 3, FetchSize: 2}, State{})
		poll(t, r, time.Second)

		f.denied["dbo_b"] = true
		changeAll(f, 30, 40)
		poll(t, r, time.Second)
		want := undisturbed(t, f)
		require.Equal(t, of(want, "a"), of(k.messages, "a"))
		require.Equal(t, of(want, "c"), of(k.messages, "c"))
		require.Equal(t, []string{"dbo.b is held: permission"}, k.tells)
		require.Equal(t, lsn.EndOf(lsnOf(40)), k.last.Position)
		require.Equal(t, lsn.EndOf(lsnOf(20)), k.last.Held[0].Position)

		f.pages = 0
		poll(t, r, heldRetry)
		require.Zero(t, f.pages, "not tried before its time")
		poll(t, r, heldRetry)
		require.Equal(t, 1, f.pages)

		changeAll(f, 50)
		f.denied["dbo_b"] = false
		poll(t, r, time.Second)
		changeAll(f, 60)
		poll(t, r, time.Second)
		want = undisturbed(t, f)
		for _, table := range []string{"a", "b", "c"} {
			require.Equal(t, of(want, table), of(k.messages, table))
		}
		require.Equal(t, []string{"dbo.b is held: permission", "dbo.b is held: permission", "dbo.b goes on"}, k.tells)
		require.Equal(t, Place{Position: lsn.EndOf(lsnOf(60))}, k.last.Place())
	})
}

// Whichever message was the last acknowledged, of those that catch up too, after
// a restart exactly the rest comes: of each table what stands behind it.
func TestHeld_CrashBehindAnyMessage(t *testing.T) {
	for _, batch := range []int{1, 4, 100} {
		t.Run(fmt.Sprintf("batches of %d", batch), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := threeTables(10, 20)
				f.denied["dbo_b"] = true
				opts := Options{MaxBatchSize: batch, FetchSize: 2, MaxIterationTransactions: 1}
				k := &statesSink{}
				r := k.open(t, f, opts, State{})
				poll(t, r, heldRetry)
				changeAll(f, 30)
				poll(t, r, heldRetry)
				f.denied["dbo_b"] = false
				poll(t, r, heldRetry)
				changeAll(f, 40)
				poll(t, r, heldRetry)
				want := undisturbed(t, f)

				for i, state := range k.states {
					rest := &statesSink{}
					drain(t, rest.open(t, f, opts, state))
					all := append(append([]event.Message{}, k.messages[:i+1]...), rest.messages...)
					for _, table := range []string{"a", "b", "c"} {
						require.Equal(t, of(want, table), of(all, table), "table %s after %d messages", table, i+1)
					}
				}
			})
		})
	}
}
