package stream

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// rereadOrdinals begins where the ordinals of rows that are read again do.
const rereadOrdinals = 1 << 40

// sourceTables is what the tables of a fake server hold: values by id.
type sourceTables map[string]map[int64]string

// rereadPlay is a fake server with its tables' rows, and what a consumer got of
// it over the lives of a pipeline.
type rereadPlay struct {
	*fakeServer
	rows  sourceTables
	clock int

	sink    *fakeSink
	stored  Known
	skipped map[string][]Skipped
	// paused are the commit LSNs behind which all rows were read again, ordinal
	// is the next for a row.
	paused  map[lsn.LSN]bool
	ordinal uint64
	onRow   func() error
	moments []rereadMoment // of this life
}

// rereadMoment is what a crash leaves if everything so far is acknowledged.
type rereadMoment struct {
	messages int
	position lsn.Position
	paused   map[lsn.LSN]bool
}

// note notes a moment behind a position.
func (p *rereadPlay) note(at lsn.Position) {
	p.moments = append(p.moments, rereadMoment{len(p.sink.messages), at, maps.Clone(p.paused)})
}

// Emit implements [Sink].
func (p *rereadPlay) Emit(ctx context.Context, b *event.Batch, upTo Place) error {
	defer p.note(upTo.Position)
	if upTo.turn.held {
		p.sink.messages = append(p.sink.messages, b.Messages...)
		return nil
	}
	return p.sink.Emit(ctx, b, upTo)
}

// Advance implements [Sink].
func (p *rereadPlay) Advance(_ context.Context, to Place) error {
	p.note(to.Position)
	return nil
}

func newRereadPlay(tables ...string) *rereadPlay {
	p := &rereadPlay{
		fakeServer: newFakeServer(), rows: sourceTables{}, sink: &fakeSink{}, clock: 5,
		skipped: map[string][]Skipped{}, paused: map[lsn.LSN]bool{}, ordinal: rereadOrdinals,
	}
	for _, name := range tables {
		p.table(name)
		p.rows[name] = map[int64]string{}
	}
	return p
}

// put inserts or updates a row, in a transaction of its own.
func (p *rereadPlay) put(table int, id int64, v string) {
	t := p.tables[table]
	old, updates := p.rows[t.Source.Name][id]
	p.rows[t.Source.Name][id] = v
	p.clock += 5
	if updates {
		p.add(t, p.clock, 1, p.clock-1, opUpdateBefore, id, old)
		p.add(t, p.clock, 1, p.clock-1, opUpdateAfter, id, v)
		return
	}
	p.add(t, p.clock, 1, p.clock-1, opInsert, id, v)
}

// lose takes changes of a table, as the cleanup job does: all but those of the
// last transactions.
func (p *rereadPlay) lose(table int, but int) {
	p.clock += 5
	p.commit(p.clock)
	ci, mark := p.tables[table].Instances[0], lsnOf(max(p.clock-5*but, 5))
	if !mark.After(ci.StartLSN) {
		return
	}
	ci.StartLSN, p.lows[ci.ObjectID] = mark, mark
	p.fakeServer.rows[ci.ObjectID] = slices.DeleteFunc(p.fakeServer.rows[ci.ObjectID], func(row sqlserver.ChangeRow) bool { return row.Commit.Before(mark) })
}

// reader returns the reader of a new life.
func (p *rereadPlay) reader(from State) *Reader {
	p.moments = nil
	return New(p, p, Options{
		Encoder: encoder, Gaps: GapsReread, MaxBatchSize: 2, MaxIterationTransactions: 3,
		OnInstances: func(_ context.Context, _ bool, known Known) error { p.stored = known; return nil },
		Saved:       func() Place { return Place{Position: from.Position} },
		OnSkipped:   func(table, _ string, s Skipped) { p.skipped[table] = append(p.skipped[table], s) },
		Reread:      p.reread,
	}, from)
}

// reread is the option: a row at a time.
func (p *rereadPlay) reread(ctx context.Context, pause Rereading) (lsn.Position, error) {
	at := lsn.EndOf(pause.At)
	if p.paused[pause.At] {
		return lsn.Position{}, nil
	}
	for _, t := range pause.Tables {
		rows := p.rows[t.Shape.Name]
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			at.Ordinal = p.ordinal
			p.ordinal++
			b := &event.Batch{}
			enc, err := encoder(t.Shape)
			if err != nil {
				return at, err
			}
			if err := enc.Row(b, event.Change{Op: event.OpRead, After: []driver.Value{id, rows[id]}, Position: at, SourceTime: epoch}); err != nil {
				return at, err
			}
			if p.onRow != nil {
				if err := p.onRow(); err != nil {
					return at, err
				}
			}
			if err := p.Emit(ctx, b, Place{Position: at}); err != nil {
				return at, err
			}
		}
	}
	p.paused[pause.At] = true
	p.note(at)
	return at, nil
}

// check makes sure that a consumer of all messages has what the tables hold, also
// one that drops repeats by position, and that no position goes back within a
// life, which begins at each of lives.
func (p *rereadPlay) check(t require.TestingT, lives ...int) {
	all, once := sourceTables{}, sourceTables{}
	for name := range p.rows {
		all[name], once[name] = map[int64]string{}, map[int64]string{}
	}
	var before, greatest lsn.Position
	for i, m := range p.sink.messages {
		if slices.Contains(lives, i) {
			before = lsn.Position{}
		}
		require.True(t, before.Before(m.Position), "%s after %s", m.Position, before)
		before = m.Position
		var envelope struct {
			After struct {
				ID int64
				V  string
			}
		}
		require.NoError(t, json.Unmarshal(m.Value, &envelope))
		all[m.Table][envelope.After.ID] = envelope.After.V
		if greatest.Before(m.Position) {
			greatest = m.Position
			once[m.Table][envelope.After.ID] = envelope.After.V
		}
	}
	require.Equal(t, p.rows, all)
	require.Equal(t, p.rows, once)
}

func TestReader_RereadsGapsAtAnyMoment(t *testing.T) {
	for _, tables := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}} {
		for _, moment := range []string{"maximum", "mapping", "poll", "exists", "changed", "lows", "page of dbo_a", "catalogue"} {
			t.Run(fmt.Sprintf("%s of %d", moment, len(tables)), func(t *testing.T) {
				p := newRereadPlay(tables...)
				p.put(0, 1, "first")
				r := p.reader(State{})
				drain(t, r)
				for i := range tables {
					p.put(i, 2, "second")
					p.put(i, 3, "third")
				}
				lost := false
				p.fail = func(statement string) error {
					if statement == moment && !lost {
						lost = true
						p.lose(0, 0)
					}
					return nil
				}
				drain(t, r)
				p.fail = nil
				for i := range tables {
					p.put(i, 2, "changed")
				}
				drain(t, r)
				p.check(t)
				if s := p.skipped["db.dbo.a"]; len(s) > 0 {
					assert.True(t, s[0].Reread)
					assert.Equal(t, s, p.stored.Instances[0].Skipped)
				}
			})
		}
	}
}

// Several tables lose changes, again and again, while others are read; the
// pipeline dies behind any message, with what is known of the tables stored then
// or later. Its next life brings a consumer to what the tables hold.
func TestReader_RereadSurvivesAnyCrash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newRereadPlay("a", "b", "c")
		p.commit(p.clock)
		first := p.reader(State{})
		_, err := first.PollOnce(context.Background())
		require.NoError(t, err)
		var lives []int
		state := first.State()
		for range rapid.IntRange(1, 4).Draw(t, "lives") {
			r := p.reader(state)
			lives = append(lives, len(p.sink.messages))
			p.note(state.Position)
			p.onRow = func() error {
				if rapid.IntRange(0, 9).Draw(t, "lose in the pause") == 0 {
					p.lose(rapid.IntRange(0, 2).Draw(t, "which"), rapid.IntRange(0, 2).Draw(t, "but"))
				}
				return nil
			}
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				switch rapid.IntRange(0, 5).Draw(t, "step") {
				case 0, 1, 2:
					p.put(rapid.IntRange(0, 2).Draw(t, "table"), int64(rapid.IntRange(1, 3).Draw(t, "id")), fmt.Sprint(p.clock))
				case 3:
					p.lose(rapid.IntRange(0, 2).Draw(t, "loses"), rapid.IntRange(0, 4).Draw(t, "but"))
				default:
					_, err := r.PollOnce(context.Background())
					require.NoError(t, err)
				}
			}
			left := p.moments[rapid.IntRange(0, len(p.moments)-1).Draw(t, "crash")]
			// The tables' identities are stored before what is read with them, and
			// so ahead of what is acknowledged.
			state = State{Position: left.position, ByCommand: true, Instances: p.stored.Instances, Structures: p.stored.Structures}
			p.paused = left.paused
			if rapid.Bool().Draw(t, "delivered") {
				continue // though not acknowledged
			}
			p.sink.messages = p.sink.messages[:left.messages]
		}
		r := p.reader(state)
		lives = append(lives, len(p.sink.messages))
		p.onRow = nil
		for more := true; more; {
			var err error
			more, err = r.PollOnce(context.Background())
			require.NoError(t, err)
		}
		p.check(t, lives...)
	})
}

// An instance that is met for the first time, and has lost changes already, is a
// gap of its table: with skip it is recorded, with reread its rows are read.
func TestReader_FirstSeenCleaned(t *testing.T) {
	for _, policy := range []GapPolicy{GapsFail, GapsSkip, GapsReread} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			p := newRereadPlay("a")
			p.put(0, 1, "first")
			state := func() State { r := p.reader(State{}); drain(t, r); return r.State() }()
			p.table("b")
			p.rows["b"] = map[int64]string{}
			p.put(1, 1, "lost")
			p.clock += 100
			p.lose(1, 0)
			p.put(1, 2, "kept")
			r := p.reader(state)
			r.opts.Gaps = policy
			if policy == GapsFail {
				_, err := r.PollOnce(t.Context())
				var gap *GapError
				require.ErrorAs(t, err, &gap)
				assert.Equal(t, "db.dbo.b", gap.Table)
				return
			}
			drain(t, r)
			require.Len(t, p.skipped["db.dbo.b"], 1)
			assert.Equal(t, p.skipped["db.dbo.b"], p.stored.Instances[1].Skipped)
			if policy == GapsSkip {
				assert.Len(t, p.sink.messages, 2, "the rest of its changes")
				return
			}
			p.check(t)
			drain(t, p.reader(r.State()))
			assert.Len(t, p.skipped["db.dbo.b"], 1, "told once")
		})
	}
}

// Rows are read in the shape of the instance that is read afterwards, and a newer
// instance is never read from before them.
func TestReader_RereadWithANewerInstance(t *testing.T) {
	p := newRereadPlay("a", "b")
	p.put(0, 1, "first")
	r := p.reader(State{})
	drain(t, r)
	p.put(0, 2, "second")
	p.lose(0, 0)
	newer := p.instance(p.tables[0], 2001, lsnOf(p.clock))
	newer.Name = "dbo_a_2"
	p.tables[0].Instances = append(p.tables[0].Instances, newer)
	p.edition++
	p.fakeServer.rows[2001] = nil
	p.put(0, 3, "third") // in both
	p.fakeServer.rows[2001] = slices.Clone(p.fakeServer.rows[1001])
	drain(t, r)
	p.check(t)
	require.Len(t, p.stored.Instances, 2)
	assert.Equal(t, "dbo_a_2", p.stored.Instances[0].Name)
	var ops []string
	for _, m := range p.sink.messages {
		ops = append(ops, m.Op+string(m.Key))
	}
	assert.Equal(t, []string{`c{"id":1}`, `r{"id":1}`, `r{"id":2}`, `r{"id":3}`}, ops, "what the rows hold is not told again")
}

// The pause is forgotten once no restart can go back before it.
func TestReader_ForgetsThePause(t *testing.T) {
	p := newRereadPlay("a")
	p.put(0, 1, "first")
	r := p.reader(State{})
	drain(t, r)
	p.put(0, 2, "second")
	p.lose(0, 0)
	saved := r.State().Position
	r.opts.Saved = func() Place { return Place{Position: saved} }
	drain(t, r)
	require.NotNil(t, p.stored.Instances[0].Reread)
	at := p.stored.Instances[0].Reread.At
	saved = r.State().Position
	require.Equal(t, at, saved.Commit)
	drain(t, r)
	require.NotNil(t, p.stored.Instances[0].Reread, "a restart asks whether it is over")
	p.put(0, 3, "third")
	drain(t, r)
	saved = r.State().Position
	drain(t, r)
	assert.Nil(t, p.stored.Instances[0].Reread)
	p.check(t)
}

// Rows that cannot be read end the pass with their error, and are asked for again.
func TestReader_RereadFails(t *testing.T) {
	p := newRereadPlay("a")
	p.put(0, 1, "first")
	r := p.reader(State{})
	drain(t, r)
	p.lose(0, 0)
	p.put(0, 2, "second")
	p.lose(0, 0)
	p.onRow = func() error { return sqlserver.ErrConnectionLost }
	var err error
	for more := true; more && err == nil; {
		more, err = r.PollOnce(t.Context())
	}
	require.ErrorIs(t, err, sqlserver.ErrConnectionLost)
	p.onRow = nil
	drain(t, r)
	p.check(t)
}

// A table whose rows may not be read is held while the others go on, with its
// changes as far as they are there; once they may be, they stand where the others
// are by then, also if the pipeline was started again meanwhile.
func TestReader_RereadOfAHeldTable(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newRereadPlay("a", "b")
				p.put(0, 1, "first")
				denied := sqlserver.NewProblem(sqlserver.ReasonPermission, "the rows of a are not for you", "GRANT", nil)
				var causes []error
				reader := func(from State) *Reader {
					r := p.reader(from)
					r.opts.OnHeld = func(_ Held, cause error) { causes = append(causes, cause) }
					r.opts.Rereadable = func(_ context.Context, table *sqlserver.Table) error {
						if table.Source.Name == "a" && denied != nil {
							return denied
						}
						return nil
					}
					return r
				}
				r := reader(State{})
				drain(t, r)
				p.put(0, 2, "second")
				p.put(1, 1, "other")
				p.lose(0, 0)
				drain(t, r)
				require.NotEmpty(t, causes)
				require.ErrorIs(t, causes[0], denied)
				for range 3 {
					p.put(0, 3, fmt.Sprint("third at ", p.clock))
					p.put(1, 2, fmt.Sprint("another at ", p.clock))
					<-time.After(2 * time.Minute)
					drain(t, r)
				}
				var last event.Message // of the table that is read on
				for _, m := range p.sink.messages {
					if m.Table == "b" {
						last = m
					}
				}
				if restart {
					r = reader(r.State())
				}
				denied = nil
				<-time.After(2 * time.Minute)
				drain(t, r)
				require.NoError(t, causes[len(causes)-1], "it is no longer held")
				got, rows := map[string]string{}, 0
				for _, m := range p.sink.messages {
					got[m.Table+string(m.Key)] = string(m.Value)
					if m.Op == event.OpRead {
						rows++
						require.True(t, last.Position.Before(m.Position))
					}
				}
				assert.Equal(t, 3, rows)
				assert.Contains(t, got[`a{"id":2}`], `"v":"second"`)
				assert.Contains(t, got[`a{"id":3}`], `"v":"`+p.rows["a"][3])
				assert.Contains(t, got[`b{"id":2}`], `"v":"`+p.rows["b"][2])
			})
		})
	}
}

// Once tables are not to be held any more, one of which the rows may not be read
// ends the reading, though it is caught up.
func TestReader_RereadDeniedEndsStrictReading(t *testing.T) {
	p := newRereadPlay("a", "b")
	p.put(0, 1, "first")
	denied := sqlserver.NewProblem(sqlserver.ReasonPermission, "the rows of a are not for you", "GRANT", nil)
	r := p.reader(State{})
	drain(t, r)
	p.put(0, 2, "second")
	p.put(1, 1, "other")
	p.lose(0, 0)
	deny := func(_ context.Context, table *sqlserver.Table) error {
		if table.Source.Name == "a" {
			return denied
		}
		return nil
	}
	r.opts.OnHeld, r.opts.Rereadable = func(Held, error) {}, deny
	drain(t, r)
	require.Len(t, r.State().Held, 1)

	strict := p.reader(r.State())
	strict.opts.Rereadable = deny
	var err error
	for more := true; more && err == nil; {
		more, err = strict.PollOnce(t.Context())
	}
	require.ErrorIs(t, err, denied)
}
