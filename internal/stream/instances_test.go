package stream

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// keeping returns options that store the instances and log into a buffer.
func keeping(stored *[]InstanceIdentity) (Options, *bytes.Buffer) {
	var log bytes.Buffer
	return Options{
		Encoder: encoder, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		OnInstances: func(_ context.Context, _ bool, known Known) error {
			*stored = known.Instances
			return nil
		},
	}, &log
}

// Without stored identities nothing tells where an instance began, so one that
// begins behind the position and is older than that was cleaned.
func TestReader_CleanedBeforeTheFirstPass(t *testing.T) {
	f := newFakeServer()
	table := f.table("t")
	f.add(table, 20, 1, 19, opInsert, 1, "lost")
	f.add(table, 30, 1, 29, opInsert, 2, "kept")
	f.cleanup(lsnOf(30))
	table.Instances[0].CreateDate = epoch.AddDate(0, 0, -10)
	sink := &fakeSink{}
	_, err := New(f, sink, Options{Encoder: encoder}, State{Position: lsn.EndOf(lsnOf(10))}).PollOnce(t.Context())
	var gap *GapError
	require.ErrorAs(t, err, &gap)
	assert.Empty(t, sink.messages)
	assert.True(t, sink.advanced.IsZero())
}

// An instance takes the place of another when that is read to its end, but not
// yet acknowledged: going back then finds its changes gone.
func TestReader_ReplacedAheadOfTheAcknowledgements(t *testing.T) {
	f := newFakeServer()
	table := f.table("t")
	v1 := table.Instances[0]
	f.add(table, 20, 1, 19, opInsert, 1, "in the old one only")
	f.add(table, 40, 1, 39, opInsert, 2, "in both")
	v2 := f.instance(table, 2001, lsnOf(30))
	table.Instances = []*sqlserver.CaptureInstance{v1, v2}
	f.rows[v2.ObjectID] = f.rows[v1.ObjectID][1:]
	var stored []InstanceIdentity
	opts, _ := keeping(&stored)
	sink := &fakeSink{}
	r := New(f, sink, opts, State{Position: lsn.EndOf(lsnOf(10))})
	drain(t, r)
	require.Len(t, sink.messages, 2)

	table.Instances = []*sqlserver.CaptureInstance{v2}
	delete(f.rows, v1.ObjectID)
	delete(f.lows, v1.ObjectID)
	f.edition++
	drain(t, r)
	require.Equal(t, v2.ObjectID, stored[0].ObjectID)

	_, err := New(f, sink, opts, State{Position: lsn.EndOf(lsnOf(10)), ByCommand: true, Instances: stored}).PollOnce(t.Context())
	var problem *InstanceError
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, v1.ObjectID, problem.Old.ObjectID)
	assert.Equal(t, ReasonInstanceReplaced, problem.Reason())

	t.Run("but not once it has begun", func(t *testing.T) {
		sink := &fakeSink{}
		drain(t, New(f, sink, opts, State{Position: lsn.EndOf(lsnOf(30)), ByCommand: true, Instances: stored}))
		assert.Len(t, sink.messages, 1)
	})
}

func TestReader_SaysWhatWasNotReadBefore(t *testing.T) {
	for name, start := range map[string]int{"older than the position": 1, "enabled since": 60} {
		t.Run(name, func(t *testing.T) {
			f := newFakeServer()
			f.add(f.table("a"), 50, 1, 49, opInsert, 1, "x")
			var stored []InstanceIdentity
			opts, log := keeping(&stored)
			r := New(f, &fakeSink{}, opts, State{})
			drain(t, r)
			require.NotContains(t, log.String(), "not read before")

			b := f.table("b")
			b.Instances[0].StartLSN, f.lows[1002] = lsnOf(start), lsnOf(start)
			f.commit(60)
			drain(t, New(f, &fakeSink{}, opts, r.State()))
			assert.Contains(t, log.String(), "not read before")
			assert.Contains(t, log.String(), "table=db.dbo.b")
			assert.NotContains(t, log.String(), "table=db.dbo.a")

			log.Reset()
			drain(t, New(f, &fakeSink{}, opts, State{Position: r.State().Position, ByCommand: true, Instances: stored}))
			assert.NotContains(t, log.String(), "not read before", "once")
		})
	}
}

// What is decided again, because another table turns out to be held, is news
// once: an input passes remarks on only if they differ.
func TestReader_SaysOfATableOnceWhatWasNotReadBefore(t *testing.T) {
	f := newFakeServer()
	f.add(f.table("a"), 50, 1, 49, opInsert, 1, "x")
	gone := f.table("gone")
	said := map[string]int{}
	k := &statesSink{}
	opts := Options{Remark: func(table, text string) { said[table+": "+text]++ }}
	r := k.open(t, f, opts, State{})
	var log bytes.Buffer
	r.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	drain(t, r)

	gone.Instances = nil
	f.table("b")
	f.edition++
	f.add(f.tables[2], 60, 1, 59, opInsert, 1, "x")
	drain(t, r)
	require.Equal(t, []string{"dbo.gone is held: instance_gone"}, k.tells)
	require.Len(t, said, 1, "%v", said)
	for text := range said {
		assert.Contains(t, text, "db.dbo.b: reading a table that was not read before")
		assert.Contains(t, text, `capture instance "dbo_b"`)
		assert.Contains(t, text, "from 00000000:")
	}
	assert.NotContains(t, log.String(), "not read before")
}

// A table that the login may no longer see is not one that was dropped.
func TestReader_HiddenTable(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	b := f.table("b")
	f.max = lsnOf(20)
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: encoder}, State{})
	drain(t, r)
	f.tables = f.tables[:1]
	f.edition++
	f.max = lsnOf(30)
	_, err := r.PollOnce(t.Context())
	var problem sqlserver.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, sqlserver.ReasonPermission, problem.Reason())
	assert.Contains(t, err.Error(), "[dbo].[b]")
	assert.Equal(t, lsn.EndOf(lsnOf(20)), sink.advanced)

	delete(f.lows, b.Instances[0].ObjectID) // with its instance gone it was dropped
	drain(t, r)
	assert.Equal(t, lsn.EndOf(lsnOf(30)), sink.advanced)
}

// A table that was not listed for a moment, as while it is renamed, is read on.
func TestReader_TableMissingForAMoment(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	b := f.table("b")
	f.max = lsnOf(20)
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: encoder}, State{})
	drain(t, r)
	all := f.tables
	f.tables = all[:1]
	f.edition++
	f.fail = func(statement string) error {
		if statement == "catalogue" {
			f.tables = all // by the next look
		}
		return nil
	}
	f.add(b, 30, 1, 29, opInsert, 1, "x")
	drain(t, r)
	assert.Len(t, sink.messages, 1)
}

// The capture job alters change tables in place; the fingerprint tells.
func TestReader_AlteredColumnGetsANewEncoder(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	f.add(a, 11, 1, 10, opInsert, 1, "x")
	made := 0
	sink := &fakeSink{}
	r := New(f, sink, Options{Encoder: countingEncoder(&made)}, State{})
	drain(t, r)
	f.edition++ // something else
	drain(t, r)
	require.Equal(t, 1, made)

	alter(a, "v", schema.Type{Kind: schema.NVarChar, Name: "nvarchar", Length: schema.Max})
	f.edition++
	f.add(a, 21, 1, 20, opInsert, 2, "y")
	drain(t, r)
	assert.Equal(t, 2, made)
	assert.Len(t, sink.messages, 2)
}

// The default of a decimal column is bytes, which == does not compare.
func TestReader_DefaultsOfBytes(t *testing.T) {
	f := newFakeServer()
	f.table("a").Source.Columns[1].DefaultValue = []byte("0.5")
	f.max = lsnOf(5)
	made := 0
	r := New(f, &fakeSink{}, Options{Encoder: countingEncoder(&made)}, State{})
	drain(t, r)
	f.edition++
	drain(t, r)
	assert.Equal(t, 1, made)
}

// Altered while a pass reads it, the rest is read in the new shape.
func TestReader_AlteredWithinAPass(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	for i := range 4 {
		f.add(a, 11+10*i, 1, 10+10*i, opInsert, int64(i), "x")
	}
	f.columns = 1
	f.fail = func(statement string) error {
		if f.pages == 3 && statement == "page of dbo_a" {
			f.columns = 2
			alter(a, "v", schema.Type{Kind: schema.NVarChar, Name: "nvarchar", Length: schema.Max})
		}
		return nil
	}
	made := 0
	sink := &fakeSink{}
	drain(t, New(f, sink, Options{Encoder: countingEncoder(&made), FetchSize: 1}, State{}))
	assert.Equal(t, 2, made)
	assert.Equal(t, plainEvents(t, f, true), summaries(sink.messages))
}

// alter gives a column of a table's instance another type.
func alter(t *sqlserver.Table, column string, to schema.Type) {
	ci := *t.Instances[0]
	shape := *ci.Shape
	shape.Columns = append([]schema.Column{}, shape.Columns...)
	for i := range shape.Columns {
		if shape.Columns[i].Name == column {
			shape.Columns[i].Type = to
		}
	}
	ci.Shape = &shape
	t.Instances[0] = &ci
}

// A server that lies behind the position may be a replica that catches up.
func TestReader_PositionAhead(t *testing.T) {
	at := State{Position: lsn.EndOf(lsnOf(50))}
	begin := func() (*fakeServer, *fakeSink, *Reader) {
		f := newFakeServer()
		f.table("a")
		f.max = lsnOf(40)
		sink := &fakeSink{}
		return f, sink, New(f, sink, Options{Encoder: encoder}, at)
	}
	t.Run("for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, sink, r := begin()
			for range 5 {
				_, err := r.PollOnce(t.Context())
				require.ErrorIs(t, err, ErrBehind)
				require.True(t, sink.advanced.IsZero())
				<-time.After(behindGrace / 6)
			}
			f.add(f.tables[0], 60, 1, 59, opInsert, 1, "x")
			drain(t, r)
			require.Len(t, sink.messages, 1)

			f.max = lsnOf(40)
			_, err := r.PollOnce(t.Context())
			require.ErrorIs(t, err, ErrBehind, "the time begins anew")
		})
	})
	t.Run("for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, sink, r := begin()
			_, err := r.PollOnce(t.Context())
			require.ErrorIs(t, err, ErrBehind)
			<-time.After(behindGrace)
			_, err = r.PollOnce(t.Context())
			var problem *PositionError
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, lsnOf(50), problem.Saved)
			assert.True(t, sink.advanced.IsZero())
		})
	})
}

// A database whose change data capture was enabled anew has no LSN at first.
func TestReader_NoLSNAlthoughThereIsAPosition(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	var log bytes.Buffer
	r := New(f, &fakeSink{}, Options{Encoder: encoder, Logger: slog.New(slog.NewTextHandler(&log, nil))}, State{Position: lsn.EndOf(lsnOf(50))})
	drain(t, r)
	assert.Contains(t, log.String(), lsnOf(50).String())
}

// Where only some change tables have command ids, reading is slow, and said to
// be.
func TestReader_SaysWhichInstanceLacksCommandIDs(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	f.table("b").Instances[0].HasCommand = false
	f.max = lsnOf(5)
	var stored []InstanceIdentity
	opts, log := keeping(&stored)
	r := New(f, &fakeSink{}, opts, State{})
	drain(t, r)
	assert.Contains(t, log.String(), "instance=dbo_b")
	log.Reset()
	f.edition++
	drain(t, r)
	assert.Empty(t, log.String(), "once")
}

// A table that is dropped between the look for changes and the reading of them
// is none of what stops: the catalogue is read again, and the others go on.
func TestReader_DroppedInThePass(t *testing.T) {
	for _, moment := range []string{"exists", "page of dbo_b"} {
		t.Run(moment, func(t *testing.T) {
			f := newFakeServer()
			a, b := f.table("a"), f.table("b")
			f.add(a, 11, 1, 10, opInsert, 1, "x")
			f.add(b, 13, 1, 12, opInsert, 1, "y")
			dropped := false
			f.fail = func(statement string) error {
				if statement != moment || dropped {
					return nil
				}
				dropped = true
				f.tables = f.tables[:1]
				delete(f.lows, b.Instances[0].ObjectID)
				f.edition++
				return mssql.Error{Number: 208, Message: "Invalid object name 'cdc.dbo_b_CT'."}
			}
			sink := &fakeSink{}
			drain(t, New(f, sink, Options{Encoder: encoder}, State{}))
			require.True(t, dropped)
			require.Len(t, sink.messages, 1)
			assert.Equal(t, "a", sink.messages[0].Table)
		})
	}
	t.Run("what is still listed", func(t *testing.T) {
		f := newFakeServer()
		f.add(f.table("a"), 11, 1, 10, opInsert, 1, "x")
		f.fail = func(statement string) error {
			if statement == "page of dbo_a" {
				return mssql.Error{Number: 208}
			}
			return nil
		}
		r := New(f, &fakeSink{}, Options{Encoder: encoder}, State{})
		more, err := r.PollOnce(t.Context())
		require.NoError(t, err)
		assert.True(t, more)
		_, err = r.PollOnce(t.Context())
		require.Error(t, err)
		assert.Equal(t, sqlserver.ClassMissing, sqlserver.Classify(err))
	})
}
