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

// heldGaps plays tables that may not be read for a while, neither their changes
// nor their rows, and that lose changes, one as well as another.
type heldGaps struct {
	*rereadPlay
	opts   Options
	reader *Reader
	hidden map[string]bool // tables whose rows may not be read
	puts   []commitOf
	before []event.Message // of earlier lives
	// places are those of this life to which a crash may lead, the first of them
	// the one that is saved.
	places []crashPlace
}

// commitOf is a change of a table.
type commitOf struct {
	table  string
	commit lsn.LSN
}

// crashPlace is what a crash leaves: how many messages were accepted, where
// reading goes on, and which pauses for rows are over.
type crashPlace struct {
	messages int
	place    Place
	paused   map[lsn.LSN]bool
}

func newHeldGaps(opts Options) *heldGaps {
	p := &heldGaps{rereadPlay: newRereadPlay("a", "b", "c"), opts: opts, hidden: map[string]bool{}}
	p.commit(p.clock)
	p.open(State{})
	return p
}

// open begins a life.
func (p *heldGaps) open(from State) {
	opts := p.opts
	opts.Encoder = encoder
	opts.OnInstances = func(_ context.Context, _ bool, known Known) error { p.stored = known; return nil }
	opts.Saved = func() Place { return p.places[0].place }
	opts.OnSkipped = func(table, _ string, s Skipped) { p.skipped[table] = append(p.skipped[table], s) }
	opts.OnHeld = func(Held, error) {}
	opts.Rereadable = func(_ context.Context, t *sqlserver.Table) error {
		if p.hidden[t.Source.Name] {
			return sqlserver.NewProblem(sqlserver.ReasonPermission, "the rows are hidden", "GRANT", nil)
		}
		return nil
	}
	if opts.Gaps == GapsReread {
		opts.Reread = p.rereadAll
	}
	if p.reader != nil {
		p.before = append(p.before, p.sink.messages...)
	}
	p.sink, p.places = &fakeSink{}, nil
	p.pass(from.Place())
	p.reader = New(p.fakeServer, p, opts, from)
}

// pass notes a place to which a crash may lead.
func (p *heldGaps) pass(place Place) {
	p.places = append(p.places, crashPlace{len(p.sink.messages), place, maps.Clone(p.paused)})
}

// Emit implements [Sink].
func (p *heldGaps) Emit(_ context.Context, b *event.Batch, upTo Place) error {
	for i, m := range b.Messages {
		p.sink.messages = append(p.sink.messages, m)
		if i < len(b.Messages)-1 {
			p.pass(upTo.Behind(m.Position))
		} else {
			p.pass(upTo)
		}
	}
	return nil
}

// Advance implements [Sink].
func (p *heldGaps) Advance(_ context.Context, to Place) error {
	p.pass(to)
	return nil
}

// rereadAll is [Options.Reread].
func (p *heldGaps) rereadAll(ctx context.Context, pause Rereading) (lsn.Position, error) {
	place := Place{Position: lsn.EndOf(pause.At), Held: p.reader.held}
	if p.paused[pause.At] {
		return lsn.Position{}, nil
	}
	for _, t := range pause.Tables {
		rows := p.rows[t.Shape.Name]
		enc, err := encoder(t.Shape)
		if err != nil {
			return place.Position, err
		}
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			place.Position.Ordinal = p.ordinal
			p.ordinal++
			b := &event.Batch{}
			row := event.Change{Op: event.OpRead, After: []driver.Value{id, rows[id]}, Position: place.Position, SourceTime: epoch}
			if err := enc.Row(b, row); err != nil {
				return place.Position, err
			}
			if err := p.Emit(ctx, b, place); err != nil {
				return place.Position, err
			}
		}
	}
	p.paused[pause.At] = true
	p.pass(place)
	return place.Position, nil
}

// crash ends a life at one of its places. What was emitted behind that may have
// been delivered.
func (p *heldGaps) crash(n int, delivered bool) {
	left := p.places[n%len(p.places)]
	if !delivered {
		p.sink.messages = p.sink.messages[:left.messages]
	}
	p.paused = left.paused
	p.open(State{ByCommand: p.reader.byCommand, Instances: p.stored.Instances, Structures: p.stored.Structures}.At(left.place))
}

// poll does some passes, and reports whether the last one had done all. A table
// that is the last to be held ends a life.
func (p *heldGaps) poll(passes int) (rests bool) {
	for range passes {
		more, err := p.reader.PollOnce(context.Background())
		if err != nil {
			p.crash(len(p.places)-1, true)
		}
		if err != nil || !more {
			return true
		}
	}
	return false
}

// change puts a row into a table.
func (p *heldGaps) change(table, n int) {
	p.put(table, int64(n%3), fmt.Sprint(p.clock))
	p.puts = append(p.puts, commitOf{p.tables[table].Source.Name, lsnOf(p.clock)})
}

// idle moves the newest LSN, as the capture job does where nothing changes.
func (p *heldGaps) idle() {
	p.clock += 5
	p.commit(p.clock)
}

// step plays one step.
func (p *heldGaps) step(n int) {
	kind, table, n := n%13, n/13%3, n/39
	instance := p.tables[table].Instances[0].Name
	switch kind {
	case 0:
		for i := range p.tables {
			p.change(i, n)
		}
	case 1, 2:
		p.change(table, n)
	case 3:
		p.denied[instance] = true
	case 4:
		for _, t := range p.tables {
			p.denied[t.Instances[0].Name] = n%2 == 0
		}
	case 5, 6:
		delete(p.denied, instance)
	case 7:
		p.crash(n, n%2 == 0)
	case 8:
		p.lose(table, n%4)
	case 9:
		in := n % 9 // statements from now
		p.fail = func(string) error {
			if in--; in == 0 {
				p.lose(table, n%3)
			}
			return nil
		}
	case 10:
		p.hidden[p.tables[table].Source.Name] = n%2 == 0
	default:
		<-time.After(heldRetry)
	}
	p.poll(n % 6)
	if n%4 == 0 {
		p.places = p.places[len(p.places)-1:] // it is saved
		p.places[0].messages = len(p.sink.messages)
	}
}

// end allows everything, and returns what is wrong when all is read.
func (p *heldGaps) end() string {
	p.fail = nil
	clear(p.denied)
	clear(p.hidden)
	for range 6 {
		if !p.poll(1000) {
			return "it does not come to rest"
		}
		p.idle()
		<-time.After(heldRetry)
	}
	if len(p.reader.held) > 0 {
		return fmt.Sprint("still held: ", p.reader.held)
	}
	all := append(p.before, p.sink.messages...)
	if p.opts.Gaps == GapsReread {
		return p.missingRows(all)
	}
	return p.missingChanges(all)
}

// missingRows compares what a consumer has at the end, one that takes everything
// and one that drops repeats table by table.
func (p *heldGaps) missingRows(messages []event.Message) string {
	once := perTable{map[string]lsn.Position{}, map[string][]string{}}
	every, fresh := sourceTables{"a": {}, "b": {}, "c": {}}, sourceTables{"a": {}, "b": {}, "c": {}}
	for _, m := range messages {
		var row struct {
			After struct {
				ID int64
				V  string
			}
		}
		if err := json.Unmarshal(m.Value, &row); err != nil {
			return err.Error()
		}
		kept := len(once.kept[m.Table])
		once.take(m)
		every[m.Table][row.After.ID] = row.After.V
		if len(once.kept[m.Table]) > kept {
			fresh[m.Table][row.After.ID] = row.After.V
		}
	}
	if got, want := fmt.Sprint(every, fresh), fmt.Sprint(p.rows, p.rows); got != want {
		return fmt.Sprintf("got  %s\nwant %s", got, want)
	}
	return ""
}

// missingChanges looks for changes that neither came nor were told to be passed
// over.
func (p *heldGaps) missingChanges(messages []event.Message) string {
	for _, put := range p.puts {
		came := slices.ContainsFunc(messages, func(m event.Message) bool { return m.Table == put.table && m.Position.Commit == put.commit })
		told := slices.ContainsFunc(p.skipped["db.dbo."+put.table], func(s Skipped) bool {
			return !put.commit.Before(s.From) && put.commit.Before(s.To)
		})
		if !came && !told {
			return fmt.Sprintf("the change of %s at %s is missing, passed over were %v", put.table, put.commit, p.skipped)
		}
	}
	return ""
}

// Whatever of three tables may not be read for a while, and loses changes
// meanwhile, whenever the pipeline dies: with skip each change comes or is told
// to be passed over, with reread each row is what the table has, to a consumer
// that drops repeats too. Once everything is allowed, nothing is held, and
// reading comes to rest.
func TestHeld_GapsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var steps []int
		for range rapid.IntRange(3, 40).Draw(rt, "steps") {
			steps = append(steps, rapid.IntRange(0, 1<<20).Draw(rt, "step"))
		}
		opts := Options{
			MaxBatchSize:             rapid.IntRange(1, 4).Draw(rt, "batch"),
			FetchSize:                rapid.IntRange(1, 4).Draw(rt, "fetch"),
			MaxIterationTransactions: rapid.IntRange(1, 4).Draw(rt, "transactions"),
			Function:                 rapid.Bool().Draw(rt, "function"),
			Gaps:                     rapid.SampledFrom([]GapPolicy{GapsSkip, GapsReread}).Draw(rt, "policy"),
		}
		var problem string
		synctest.Test(t, func(*testing.T) {
			p := newHeldGaps(opts)
			p.poll(1000)
			for _, n := range steps {
				p.step(n)
			}
			problem = p.end()
		})
		require.Empty(rt, problem)
	})
}

// A table that is granted where others stand behind rows that were read again is
// read with them at once, though nothing was captured since. Rows of its own, of
// which there are no two pauses in one place, wait for the next LSN, and nothing
// is asked for in a loop meanwhile.
func TestHeld_GrantedBehindRows(t *testing.T) {
	for name, loses := range map[string]bool{"with its changes": false, "with its rows": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newHeldGaps(Options{Gaps: GapsReread})
				p.poll(1000)
				p.denied["dbo_a"] = true
				for table := range p.tables {
					p.change(table, 1)
				}
				p.lose(1, 0)
				if loses {
					p.lose(0, 0)
				}
				require.True(t, p.poll(1000))
				require.Len(t, of(p.sink.messages, "b"), 1)
				require.Empty(t, of(p.sink.messages, "a"))
				delete(p.denied, "dbo_a")
				<-time.After(heldRetry)
				require.True(t, p.poll(1000), "it rests")
				assert.Empty(t, p.reader.held)
				if loses {
					assert.Empty(t, of(p.sink.messages, "a"))
					p.idle()
					p.poll(1000)
				}
				assert.Len(t, of(p.sink.messages, "a"), 1)
				assert.Empty(t, p.missingRows(p.sink.messages))
			})
		})
	}
}
