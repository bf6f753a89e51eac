package stream

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// statesSink keeps, with each message, what would be stored once it
// and all before it are acknowledged.
type statesSink struct {
	fakeSink
	reader *Reader
	states []State
	known  Known
	began  State
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
func (k *statesSink) open(t testing.TB, src Connection, opts Options, start State) *Reader {
	t.Helper()
	k.known = Known{Instances: start.Instances, Structures: start.Structures}
	k.began, k.last = start, start
	if opts.Encoder == nil {
		opts.Encoder = encoder
	}
	opts.OnInstances = func(_ context.Context, _ bool, known Known) error {
		k.known = known
		return nil
	}
	opts.Saved = func() Place { return k.last.Place() }
	opts.OnHeld = func(h Held, cause error) {
		var problem sqlserver.Problem
		switch {
		case cause == nil:
			k.tells = append(k.tells, h.Name()+" goes on")
		case errors.As(cause, &problem):
			k.tells = append(k.tells, h.Name()+" is held: "+problem.Reason())
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

// A table whose changes were cleaned up before they were read is held where it
// is, until something else than a cleanup cures it; the others lose nothing.
func TestHeld_Gap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables(10)
		k := &statesSink{}
		r := k.open(t, f, Options{}, State{})
		poll(t, r, time.Second)

		changeAll(f, 20)
		b := f.tables[1].Instances[0]
		b.StartLSN, f.lows[b.ObjectID] = lsnOf(25), lsnOf(25)
		lost := f.rows[b.ObjectID]
		f.rows[b.ObjectID] = nil
		changeAll(f, 30)
		poll(t, r, heldRetry)
		poll(t, r, heldRetry)
		require.Equal(t, []string{"dbo.b is held: retention_gap", "dbo.b is held: retention_gap"}, k.tells)
		require.Equal(t, lsn.EndOf(lsnOf(10)), k.last.Held[0].Position)
		want := undisturbed(t, f)
		require.Equal(t, of(want, "a"), of(k.messages, "a"))
		require.Len(t, of(k.messages, "b"), 5)

		b.StartLSN, f.lows[b.ObjectID] = lsnOf(1), lsnOf(1)
		f.rows[b.ObjectID] = append(lost, f.rows[b.ObjectID]...)
		poll(t, r, heldRetry)
		require.Equal(t, of(undisturbed(t, f), "b"), of(k.messages, "b"))
	})
}

// A table whose change data capture is disabled is held, and tried again as soon
// as there is another instance: one that begins later has a gap before it.
func TestHeld_DisabledAndEnabledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables(10)
		k := &statesSink{}
		r := k.open(t, f, Options{}, State{})
		poll(t, r, time.Second)

		table := f.tables[1]
		delete(f.lows, table.Instances[0].ObjectID)
		table.Instances = nil
		f.edition++
		f.add(f.tables[0], 20, 1, 1, opInsert, 1, "x")
		poll(t, r, time.Second)
		require.Equal(t, []string{"dbo.b is held: instance_gone"}, k.tells)
		require.Len(t, of(k.messages, "a"), 6)

		table.Instances = []*sqlserver.CaptureInstance{f.instance(table, 2000, lsnOf(25))}
		f.edition++
		f.add(table, 30, 1, 1, opInsert, 1, "x")
		poll(t, r, time.Second)
		require.Equal(t, "dbo.b is held: instance_replaced", k.tells[len(k.tells)-1])
		require.Equal(t, lsn.EndOf(lsnOf(10)), k.last.Held[0].Position)
	})
}

// When no table is left that can be read, that is an error with what is wrong
// with each, and it is over when one of them is cured.
func TestHeld_NothingLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables(10)
		k := &statesSink{}
		r := k.open(t, f, Options{}, State{})
		poll(t, r, time.Second)
		for _, table := range f.tables {
			f.denied[table.Instances[0].Name] = true
		}
		changeAll(f, 20)
		var nothing *NothingLeftError
		require.ErrorAs(t, drained(t, r), &nothing)
		require.Len(t, nothing.Tables, 3)
		require.Equal(t, sqlserver.ReasonPermission, nothing.Reason())
		for _, table := range []string{"a", "b", "c"} {
			require.ErrorContains(t, nothing, "GRANT SELECT ON [cdc].[dbo_"+table+"_CT]")
		}

		again := &statesSink{}
		require.ErrorAs(t, drained(t, again.open(t, f, Options{}, k.last)), &nothing)
		delete(f.denied, "dbo_c")
		rest := &statesSink{}
		require.NoError(t, drained(t, rest.open(t, f, Options{}, again.last)))
		require.Equal(t, of(undisturbed(t, f), "c"), append(of(k.messages, "c"), of(rest.messages, "c")...))
		require.Len(t, rest.last.Held, 2)
	})
}

// The only table of a database is not held: there is nothing to go on with.
func TestHeld_OnlyTable(t *testing.T) {
	f := newFakeServer()
	f.add(f.table("a"), 10, 1, 1, opInsert, 1, "x")
	f.denied["dbo_a"] = true
	k := &statesSink{}
	r := k.open(t, f, Options{}, State{})
	require.ErrorContains(t, drained(t, r), "GRANT SELECT ON [cdc].[dbo_a_CT]")
	require.Empty(t, r.State().Held)
}

// drained polls until nothing is left or an error.
func drained(t testing.TB, r *Reader) error {
	t.Helper()
	for {
		more, err := r.PollOnce(t.Context())
		if err != nil || !more {
			return err
		}
	}
}

// A table that is dropped while it is held, or not wanted any more, is not held.
func TestHeld_Dropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables(10)
		f.denied["dbo_b"] = true
		k := &statesSink{}
		r := k.open(t, f, Options{}, State{})
		poll(t, r, time.Second)
		delete(f.lows, f.tables[1].Instances[0].ObjectID)
		f.tables = append(f.tables[:1], f.tables[2])
		f.edition++
		poll(t, r, time.Second)
		require.Equal(t, []string{"dbo.b is held: permission", "dbo.b goes on"}, k.tells)
		changeAll(f, 20)
		poll(t, r, time.Second)
		require.Empty(t, k.last.Held)
		require.Len(t, r.State().Instances, 2)
	})
}

// Transactions in which a held table takes part are told of without it, and
// again with it alone. One in which it began to be held is delivered again.
func TestHeld_Transactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		a, b := f.table("a"), f.table("b")
		for i := 1; i <= 4; i++ {
			f.add(a, 10, 2*i-1, 2*i-1, opInsert, int64(i), "x")
			f.add(b, 10, 2*i, 2*i, opInsert, int64(i), "x")
		}
		denyAt := 3
		f.fail = func(string) error {
			f.denied["dbo_b"] = f.pages >= denyAt
			return nil
		}
		k := &statesSink{}
		opts := event.Options{Topics: event.Naming{Prefix: "p"}, Modes: schema.DefaultModes(), Now: func() time.Time { return epoch }}
		transactions, err := event.NewTransactions(opts)
		require.NoError(t, err)
		r := k.open(t, f, Options{Transactions: transactions, FetchSize: 1, MaxBatchSize: 1}, State{})
		poll(t, r, heldRetry)
		denyAt = 1 << 30
		poll(t, r, heldRetry)
		var got []string
		for _, m := range k.messages {
			got = append(got, describe(t, m))
		}
		assert.Equal(t, []string{
			"BEGIN", "c a 1/1", "c b 2/1",
			"BEGIN", "c a 1/1", "c a 2/2", "c a 3/3", "c a 4/4", `END 4 [{"data_collection":"db.dbo.a","event_count":4}]`,
			"BEGIN", "c b 1/1", "c b 2/2", "c b 3/3", "c b 4/4", `END 4 [{"data_collection":"db.dbo.b","event_count":4}]`,
		}, got)
	})
}

// A held table's structure is told of where its changes are: before the first
// row that has it, though that comes late, and once.
func TestHeld_Structures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables()
		f.add(f.tables[0], 10, 1, 1, opInsert, 1, "x")
		f.add(f.tables[1], 10, 2, 2, opInsert, 1, "x")
		changes, err := event.NewSchemaChanges(event.Options{Topics: event.Naming{Prefix: "p"}})
		require.NoError(t, err)
		opts := Options{SchemaChanges: changes, Database: "db"}
		k := &statesSink{}
		r := k.open(t, f, opts, State{})
		poll(t, r, time.Second)

		f.denied["dbo_b"] = true
		f.add(f.tables[1], 20, 1, 3, opInsert, 2, "x")
		poll(t, r, time.Second)
		newer := f.instance(f.tables[1], 2000, lsnOf(25))
		newer.Name = "dbo_b_2"
		shape := *f.tables[1].Source
		shape.Columns = shape.Columns[:1]
		newer.Shape, f.tables[1].Source = &shape, &shape
		f.tables[1].Instances = append(f.tables[1].Instances, newer)
		f.rows[2000] = append(f.rows[2000], sqlserver.ChangeRow{Commit: lsnOf(30), Command: 1, Change: lsnOf(4), Operation: opInsert, Mask: []byte{1}, Values: f.rows[1001][0].Values[:1]})
		f.commit(30)
		f.edition++
		f.add(f.tables[0], 40, 1, 5, opInsert, 2, "x")
		poll(t, r, heldRetry)
		delete(f.denied, "dbo_b")
		poll(t, r, heldRetry)
		f.add(f.tables[0], 50, 1, 6, opInsert, 3, "x")
		poll(t, r, heldRetry)
		assert.Equal(t, []string{
			`a{"id":1}`, `b{"id":1}`, `a{"id":2}`, `b{"id":2}`, "ALTER b", `b{"id":1}`, `a{"id":3}`,
		}, told(t, k.messages))

		for i, state := range k.states {
			rest := &statesSink{}
			drain(t, rest.open(t, f, opts, state))
			all := append(append([]event.Message{}, k.messages[:i+1]...), rest.messages...)
			require.ElementsMatch(t, shorts(k.messages), shorts(all), "after %d messages", i+1)
		}
	})
}

// A table of which no events can be made is held like one that cannot be read,
// and a table that gets another name while it is held is the same table.
func TestHeld_SchemaAndName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables()
		f.add(f.tables[0], 10, 1, 1, opInsert, 1, "x")
		changes, err := event.NewSchemaChanges(event.Options{Topics: event.Naming{Prefix: "p"}})
		require.NoError(t, err)
		broken := true
		opts := Options{SchemaChanges: changes, Database: "db", Encoder: func(table *schema.Table) (*event.Encoder, error) {
			if broken && len(table.Columns) == 1 {
				return nil, &event.SchemaError{Table: table.ID(), Err: errors.New("two columns get one name")}
			}
			return encoder(table)
		}}
		k := &statesSink{}
		r := k.open(t, f, opts, State{})
		poll(t, r, time.Second)

		b := f.tables[1]
		renamed := *b.Source
		renamed.Columns = renamed.Columns[:1]
		newer := f.instance(b, 2000, lsnOf(15))
		newer.Name, newer.Shape = "dbo_b_2", &renamed
		b.Instances, b.Source = append(b.Instances, newer), &renamed
		f.edition++
		f.add(f.tables[0], 20, 1, 2, opInsert, 2, "x")
		poll(t, r, time.Second)
		require.Equal(t, []string{"dbo.b is held: event_schema"}, k.tells)

		older := *b.Instances[0].Shape
		older.Name, renamed.Name = "d", "d"
		b.Instances[0].Shape = &older
		f.rows[2000] = append(f.rows[2000], sqlserver.ChangeRow{Commit: lsnOf(30), Command: 1, Change: lsnOf(4), Operation: opInsert, Mask: []byte{1}, Values: []driver.Value{int64(1)}})
		f.commit(30)
		poll(t, r, heldRetry)
		broken = false
		poll(t, r, heldRetry)
		poll(t, r, heldRetry)
		assert.Equal(t, []string{`a{"id":1}`, `a{"id":2}`, "DROP b", "CREATE d", "ALTER d", `d{"id":1}`}, told(t, k.messages))
		assert.Empty(t, k.last.Held)
	})
}

// A table that has lost changes in both of its instances is held once.
func TestHeld_GapInBothInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeTables(10)
		k := &statesSink{}
		r := k.open(t, f, Options{}, State{})
		poll(t, r, time.Second)
		b := f.tables[1]
		newer := f.instance(b, 2000, lsnOf(15))
		newer.Name = "dbo_b_2"
		b.Instances = append(b.Instances, newer)
		f.edition++
		f.rows[2000] = []sqlserver.ChangeRow{{Commit: lsnOf(30), Command: 1, Change: lsnOf(4), Operation: opInsert, Mask: []byte{3}, Values: []driver.Value{int64(1), "x"}}}
		f.commit(30)
		f.fail = func(statement string) error {
			for _, ci := range b.Instances {
				if statement == "exists" { // once the instances are chosen
					ci.StartLSN, f.lows[ci.ObjectID] = lsnOf(25), lsnOf(25)
				}
			}
			return nil
		}
		poll(t, r, time.Second)
		require.Equal(t, []string{"dbo.b is held: retention_gap"}, k.tells)
		require.Len(t, r.State().Held, 1)
	})
}
