package stream

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"slices"
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

// second adds a newer instance to a table, with one column more, that begins at
// an LSN and holds what the first one has from there on.
func second(f *fakeServer, table *sqlserver.Table, start int) *sqlserver.CaptureInstance {
	v1 := table.Instances[0]
	v2 := f.instance(table, 2001, lsnOf(start))
	shape := *table.Source
	shape.Columns = append(slices.Clone(shape.Columns), schema.Column{
		Name: "w", Type: schema.Type{Kind: schema.Int, Name: "int"}, Nullable: true, ID: 3, Ordinal: 3,
	})
	v2.Name, v2.Shape, table.Source = "second", &shape, &shape
	table.Instances = []*sqlserver.CaptureInstance{v1, v2}
	for _, row := range f.rows[v1.ObjectID] {
		if !row.Commit.Before(v2.StartLSN) {
			row.Values = append(slices.Clone(row.Values), int64(7))
			f.rows[v2.ObjectID] = append(f.rows[v2.ObjectID], row)
		}
	}
	f.edition++
	return v2
}

// handoverServer has a table with rows before and after its second instance
// begins, and another table.
func handoverServer() (*fakeServer, *sqlserver.Table) {
	f := newFakeServer()
	table, other := f.table("a"), f.table("b")
	f.add(table, 20, 1, 19, opInsert, 1, "old")
	f.add(other, 25, 1, 24, opInsert, 1, "between")
	f.add(table, 40, 1, 39, opInsert, 2, "new")
	second(f, table, 30)
	return f, table
}

// The message of the new structure comes before the first row of the newer
// instance, or of whatever follows its beginning, and behind the end of the
// transaction before.
func TestHandover_Order(t *testing.T) {
	f, _ := handoverServer()
	f.add(f.tables[1], 35, 1, 34, opInsert, 2, "after the beginning")
	opts := event.Options{Topics: event.Naming{Prefix: "p"}, Modes: schema.DefaultModes(), Now: func() time.Time { return epoch }}
	transactions, err := event.NewTransactions(opts)
	require.NoError(t, err)
	changes, err := event.NewSchemaChanges(opts)
	require.NoError(t, err)
	sink := &fakeSink{}
	drain(t, New(f, sink, Options{Encoder: encoder, Transactions: transactions, SchemaChanges: changes, Database: "db"}, State{Position: lsn.EndOf(lsnOf(10))}))
	var order []string
	for i, m := range sink.messages {
		order = append(order, string(m.Kind)+" "+m.Table)
		if i > 0 {
			assert.True(t, sink.messages[i-1].Position.Before(m.Position), "%s comes before %s", sink.messages[i-1].Position, m.Position)
		}
	}
	assert.Equal(t, []string{
		"transaction ", "change a", "transaction ",
		"transaction ", "change b", "transaction ",
		"schema_change a",
		"transaction ", "change b", "transaction ",
		"transaction ", "change a", "transaction ",
	}, order)
}

// An older instance without command ids has the whole database read by change
// LSN up to the hand-over, and by command id from the next pass on.
func TestHandover_OrderOfCommands(t *testing.T) {
	f, table := handoverServer()
	table.Instances[0].HasCommand = false
	byCommand := []bool{}
	opts := Options{Encoder: encoder, OnInstances: func(_ context.Context, by bool, _ Known) error {
		byCommand = append(byCommand, by)
		return nil
	}}
	sink := &fakeSink{}
	r := New(f, sink, opts, State{Position: lsn.EndOf(lsnOf(10))})
	drain(t, r)
	drain(t, r)
	f.rows[2001] = append(f.rows[2001],
		sqlserver.ChangeRow{Commit: lsnOf(50), Command: 1, Change: lsnOf(49), Operation: opInsert, Values: []driver.Value{int64(3), "x", int64(7)}},
		sqlserver.ChangeRow{Commit: lsnOf(50), Command: 2, Change: lsnOf(48), Operation: opInsert, Values: []driver.Value{int64(4), "x", int64(7)}})
	f.commit(50)
	drain(t, r)
	assert.Equal(t, []bool{false, true}, byCommand)
	var keys []string
	for _, m := range sink.messages {
		keys = append(keys, m.Table+string(m.Key))
	}
	assert.Equal(t, []string{`a{"id":1}`, `b{"id":1}`, `a{"id":2}`, `a{"id":3}`, `a{"id":4}`}, keys)
}

// The newer instance is cleaned in the pass that goes over to it: the older one
// is read for longer.
func TestHandover_CleanedInThePass(t *testing.T) {
	for _, moment := range []string{"poll", "exists", "changed", "page of second"} {
		t.Run(moment, func(t *testing.T) {
			f, table := handoverServer()
			cleaned := false
			f.fail = func(statement string) error {
				if statement == moment && !cleaned && f.pages > 0 {
					cleaned = true
					table.Instances[1].StartLSN, f.lows[2001] = lsnOf(41), lsnOf(41)
					f.rows[2001] = nil
				}
				return nil
			}
			f.pages = 1
			sink := &fakeSink{}
			r := New(f, sink, Options{Encoder: encoder}, State{Position: lsn.EndOf(lsnOf(10))})
			drain(t, r)
			require.True(t, cleaned)
			var keys []string
			for _, m := range sink.messages {
				keys = append(keys, m.Table+string(m.Key))
			}
			assert.Equal(t, []string{`a{"id":1}`, `b{"id":1}`, `a{"id":2}`}, keys)
		})
	}
}

// An instance is completed, once, when what was read of the one after it is
// stored: not when it is only delivered.
func TestHandover_Completed(t *testing.T) {
	f, table := handoverServer()
	v1 := table.Instances[0]
	saved := lsn.EndOf(lsnOf(10))
	var completed []Completed
	var stored Known
	opts := Options{
		Encoder: encoder, Saved: func() Place { return Place{Position: saved} },
		OnCompleted: func(c Completed) { completed = append(completed, c) },
		OnInstances: func(_ context.Context, _ bool, known Known) error { stored = known; return nil },
	}
	r := New(f, &fakeSink{}, opts, State{Position: saved, ByCommand: true})
	drain(t, r)
	drain(t, r)
	assert.Empty(t, completed)
	require.NotNil(t, stored.Instances[0].Replaced)

	saved = lsn.EndOf(lsnOf(29))
	drain(t, r)
	drain(t, r)
	require.Len(t, completed, 1)
	assert.Equal(t, v1.ObjectID, completed[0].Instance.ObjectID)
	assert.Equal(t, lsnOf(30), completed[0].Stop)
	assert.True(t, completed[0].Exists)
	assert.Nil(t, stored.Instances[0].Replaced)
}

// A refused instance is looked at again after a while.
func TestHandover_RefusedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := handoverServer()
		denied := sqlserver.NewProblem(sqlserver.ReasonPermission, "denied", "grant it", nil)
		f.fail = func(statement string) error {
			if statement == "page of second" {
				return denied
			}
			return nil
		}
		var remarks []string
		opts := Options{Encoder: encoder, Remark: func(_, text string) { remarks = append(remarks, text) }}
		sink := &fakeSink{}
		r := New(f, sink, opts, State{Position: lsn.EndOf(lsnOf(10))})
		drain(t, r)
		drain(t, r)
		require.Len(t, sink.messages, 3)
		assert.NotContains(t, string(sink.messages[2].Value), `"w"`)
		require.Len(t, remarks, 1)
		assert.Contains(t, remarks[0], "denied")

		f.fail = nil
		<-time.After(refusedFor)
		f.rows[2001] = append(f.rows[2001], sqlserver.ChangeRow{Commit: lsnOf(50), Command: 1, Change: lsnOf(49), Operation: opInsert, Values: []driver.Value{int64(3), "x", int64(7)}})
		f.commit(50)
		drain(t, r)
		require.Len(t, sink.messages, 4)
		assert.Contains(t, string(sink.messages[3].Value), `"w"`)
	})
}

// An error that is no refusal ends the pass.
func TestHandover_LookingFails(t *testing.T) {
	f, _ := handoverServer()
	f.fail = func(statement string) error {
		if statement == "page of second" {
			return assert.AnError
		}
		return nil
	}
	_, err := New(f, &fakeSink{}, Options{Encoder: encoder}, State{Position: lsn.EndOf(lsnOf(10))}).PollOnce(t.Context())
	assert.ErrorIs(t, err, assert.AnError)
}

// What is stored of a hand-over is loaded as it was, and so is what was stored
// before there were any.
func TestKnown_JSON(t *testing.T) {
	old := InstanceIdentity{Schema: "dbo", Table: "a", Name: "one", ObjectID: 1, CreateDate: epoch, FirstStart: lsnOf(1)}
	now := old
	now.Name, now.ObjectID, now.FirstStart, now.Replaced = "two", 2, lsnOf(30), &old
	told := Structure{Schema: "dbo", Table: "a", Digest: "x", Change: event.TableCreated}
	known := Known{
		Instances:  []InstanceIdentity{now},
		Structures: []Structure{{Schema: "dbo", Table: "a", Digest: "y", Change: event.TableAltered, At: lsn.EndOf(lsnOf(29)), Previous: &told}},
	}
	text, err := json.Marshal(known)
	require.NoError(t, err)
	var read Known
	require.NoError(t, json.Unmarshal(text, &read))
	assert.True(t, known.same(read), "%s", text)
	assert.Equal(t, known, read)

	var before Known
	require.NoError(t, json.Unmarshal([]byte(`{"instances":[],"structures":[{"schema":"dbo","table":"a","digest":"y","change":"ALTER",
		"at":"00000000:00000000:001d/7fffffff/00000000:00000000:0000/00/0000000000000008"}]}`), &before))
	s := &before.Structures[0]
	assert.Same(t, s, s.toldAt(lsn.EndOf(lsnOf(40))))
	unknown := s.toldAt(lsn.EndOf(lsnOf(10)))
	require.NotNil(t, unknown, "the table is known, if not how it looked")
	assert.Empty(t, unknown.Digest)
}
