package stream

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// evolving is a server whose tables are captured in instances that come and go.
// Every instance has a column of its own, so that rows show where they come
// from.
type evolving struct {
	*fakeServer
	// pick returns a number below n. Within a pass it does not come from rapid,
	// which cannot be asked by the goroutine that fetches pages.
	pick     func(n int) int
	next     int // LSN to use next
	made     int // instances
	log      []logged
	harmed   bool                                            // an instance was dropped or cleaned
	hidden   map[*sqlserver.Table]*sqlserver.CaptureInstance // made in a transaction that is still open
	begins   map[lsn.LSN]bool                                // starts of instances
	parity   map[*sqlserver.Table]int
	numbers  map[int32]int     // how an instance's command ids differ from those of another
	starts   map[int32]lsn.LSN // of instances, before any cleanup
	captured []logged
}

// logged is one insert, or in a transaction with others of its commit.
type logged struct {
	table          *sqlserver.Table
	commit, change int
	id             int64
	place          int // in its transaction
}

func newEvolving(t *rapid.T) *evolving {
	e := &evolving{
		fakeServer: newFakeServer(), next: 2,
		pick:   func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") },
		hidden: map[*sqlserver.Table]*sqlserver.CaptureInstance{}, starts: map[int32]lsn.LSN{},
		begins: map[lsn.LSN]bool{}, parity: map[*sqlserver.Table]int{}, numbers: map[int32]int{},
	}
	for _, name := range []string{"a", "b"} {
		table := e.table(name)
		table.Instances = nil
		delete(e.lows, 1000+table.ObjectID)
		e.make(table)
		e.show(table)
	}
	e.commit(e.next)
	e.next++
	return e
}

// make makes an instance in a transaction that is not committed yet.
func (e *evolving) make(table *sqlserver.Table) {
	if len(table.Instances) == 2 || e.hidden[table] != nil {
		return
	}
	e.made++
	start := lsnOf(e.next)
	e.next++
	if len(e.log) > 0 && e.pick(2) == 0 {
		start = lsnOf(e.log[len(e.log)-1].commit) // which it has, then
	}
	ci := e.instance(table, int32(2000+e.made), start)
	delete(e.lows, ci.ObjectID)
	e.starts[ci.ObjectID], e.begins[start] = start, true
	e.parity[table]++
	e.numbers[ci.ObjectID] = e.parity[table] % 2
	ci.Name, ci.CreateDate = fmt.Sprintf("i%d", e.made), epoch.Add(time.Duration(e.made)*time.Second)
	own := schema.Column{Name: fmt.Sprintf("w%d", e.made), Type: schema.Type{Kind: schema.Int, Name: "int"}, Nullable: true, ID: 10 + e.made, Ordinal: 3}
	shape := *table.Source
	shape.Columns = append(slices.Clone(shape.Columns[:2]), own)
	ci.Shape = &shape
	e.hidden[table] = ci
}

// show commits the transaction that made an instance.
func (e *evolving) show(table *sqlserver.Table) {
	ci := e.hidden[table]
	if ci == nil {
		return
	}
	delete(e.hidden, table)
	table.Source = ci.Shape
	table.Instances = append(table.Instances, ci)
	e.lows[ci.ObjectID] = ci.StartLSN
	e.edition++
}

// drop disables an instance.
func (e *evolving) drop(table *sqlserver.Table) {
	if len(table.Instances) == 0 {
		return
	}
	e.harmed = true
	i := e.pick(len(table.Instances))
	ci := table.Instances[i]
	table.Instances = slices.Delete(slices.Clone(table.Instances), i, i+1)
	delete(e.lows, ci.ObjectID)
	delete(e.rows, ci.ObjectID)
	e.edition++
}

// clean moves the low end of one instance up, or of all.
func (e *evolving) clean(table *sqlserver.Table) {
	if e.max.IsZero() || len(table.Instances) == 0 {
		return
	}
	mark := lsnOf(1 + e.pick(e.next))
	if mark.After(e.max) {
		return
	}
	e.harmed = true
	instances := []*sqlserver.CaptureInstance{table.Instances[e.pick(len(table.Instances))]}
	if e.pick(2) == 0 {
		instances = slices.Concat(e.tables[0].Instances, e.tables[1].Instances)
	}
	for _, ci := range instances {
		if !ci.StartLSN.Before(mark) {
			continue
		}
		ci.StartLSN, e.lows[ci.ObjectID] = mark, mark
		e.rows[ci.ObjectID] = slices.DeleteFunc(slices.Clone(e.rows[ci.ObjectID]), func(row sqlserver.ChangeRow) bool { return row.Commit.Before(mark) })
	}
}

// write commits a transaction.
func (e *evolving) write() {
	changes := 1 + e.pick(4)
	first := e.next
	e.next += changes + 1
	for i := range changes {
		e.log = append(e.log, logged{
			table: e.tables[e.pick(2)], commit: first + changes, change: first + i,
			id: int64(first + i), place: i,
		})
	}
}

// capture reads the log up to a commit: all instances that began before it get
// its rows, each with command ids of its own.
func (e *evolving) capture() {
	if len(e.log) == 0 {
		return
	}
	upTo := e.log[e.pick(len(e.log))].commit
	for len(e.log) > 0 && e.log[0].commit <= upTo {
		l := e.log[0]
		e.log = e.log[1:]
		instances := l.table.Instances
		if hidden := e.hidden[l.table]; hidden != nil {
			instances = append(slices.Clone(instances), hidden)
		}
		for _, ci := range instances {
			if lsnOf(l.commit).Before(e.starts[ci.ObjectID]) {
				continue
			}
			e.rows[ci.ObjectID] = append(e.rows[ci.ObjectID], sqlserver.ChangeRow{
				Commit: lsnOf(l.commit), Change: lsnOf(l.change), Operation: opInsert, Mask: []byte{7},
				Command: int32(2*l.place + 1 + e.numbers[ci.ObjectID]), Values: []driver.Value{l.id, "x", int64(1)},
			})
		}
		e.captured = append(e.captured, l)
		e.commit(l.commit)
	}
}

// happen does something at random.
func (e *evolving) happen() {
	table := e.tables[e.pick(2)]
	events := []string{"write", "write", "write", "capture", "capture", "make", "show", "drop", "clean", "idle"}
	switch events[e.pick(len(events))] {
	case "write":
		e.write()
	case "capture":
		e.capture()
	case "make":
		e.make(table)
		if e.pick(4) > 0 {
			e.show(table)
		}
	case "show":
		e.show(table)
	case "drop":
		e.drop(table)
	case "clean":
		e.clean(table)
	case "idle":
		if len(e.log) == 0 {
			e.max = lsnOf(e.next)
			e.next++
		}
	}
}

// lost reports whether what is needed of a table from a commit LSN on is in
// none of its instances.
func (e *evolving) lost(need lsn.LSN) bool {
	for i, table := range e.tables {
		need := later(need, e.starts[int32(2001+i)])
		if !slices.ContainsFunc(table.Instances, func(ci *sqlserver.CaptureInstance) bool { return !ci.StartLSN.After(need) }) {
			return true
		}
	}
	return false
}

// consumer is what has been delivered, in order, as whoever restarts from a
// position has it.
type consumer struct {
	t        *rapid.T
	messages []event.Message
}

func (c *consumer) Emit(_ context.Context, b *event.Batch, _ Place) error {
	c.messages = append(c.messages, b.Messages...)
	return nil
}

func (c *consumer) Advance(context.Context, Place) error { return nil }

// backTo forgets what came after a position.
func (c *consumer) backTo(at lsn.Position) {
	c.messages = slices.DeleteFunc(slices.Clone(c.messages), func(m event.Message) bool { return at.Before(m.Position) })
}

// check holds the messages against what was captured, up to a position: no
// change is missing, those of a table are in order, and every row has the
// columns that were told last. A transaction that was begun before a change of
// instances may be there twice.
func (c *consumer) check(e *evolving, start, at lsn.Position) {
	shapes := map[string]string{"a": "id,v,w1", "b": "id,v,w2"}
	seen := map[string]bool{}
	last := lsn.LSN{}
	for _, m := range c.messages {
		if !last.IsZero() {
			require.False(c.t, m.Position.Commit.Before(last.Prev()), "%s comes after %s", m.Position, last)
		}
		last = m.Position.Commit
		if m.Kind == event.KindSchemaChange {
			told := toldColumns(c.t, m)
			// After going back to an older instance and on again at once, the
			// structure is told that was told before; and so it is where the
			// transaction behind it is read again, at which an instance begins.
			if !e.harmed && !e.begins[last.Next()] {
				require.NotEqual(c.t, shapes[m.Table], told, "told again at %s", m.Position)
			}
			shapes[m.Table] = told
			continue
		}
		var value struct{ After map[string]any }
		require.NoError(c.t, json.Unmarshal(m.Value, &value))
		var names []string
		for name := range value.After {
			names = append(names, name)
		}
		slices.Sort(names)
		require.Equal(c.t, shapes[m.Table], strings.Join(names, ","), "columns of %s at %s", m.Table, m.Position)
		key := fmt.Sprint(m.Table, value.After["id"])
		// Where an instance took another's place inside a transaction, that is
		// read again.
		if !e.harmed && !e.begins[last] {
			require.False(c.t, seen[key], "%s at %s is there twice", key, m.Position)
		}
		seen[key] = true
	}
	for _, l := range e.captured {
		commit := lsnOf(l.commit)
		if commit.After(start.Commit) && commit.Before(firstCommit(at)) {
			require.True(c.t, seen[fmt.Sprint(l.table.Source.Name, float64(l.id))], "change %d of %s, committed at %s, is missing", l.id, l.table.Source.Name, commit)
		}
	}
}

func toldColumns(t *rapid.T, m event.Message) string {
	var value struct {
		Changes []struct {
			Table struct{ Columns []struct{ Name string } }
		} `json:"tableChanges"`
	}
	require.NoError(t, json.Unmarshal(m.Value, &value))
	var names []string
	for _, col := range value.Changes[0].Table.Columns {
		names = append(names, col.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Whatever becomes of the capture instances, whenever, and wherever the reading
// is taken up again, every change is delivered, or an error says that it is
// nowhere.
func TestHandover_Property(t *testing.T) {
	changes, err := event.NewSchemaChanges(event.Options{Topics: event.Naming{Prefix: "p"}})
	require.NoError(t, err)
	outcomes := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		e := newEvolving(rt)
		start := lsn.EndOf(e.max)
		choices, err := ChooseAll(e.tables, nil, TermsAt(start, true))
		require.NoError(rt, err)
		stored := Known{Structures: Structures(choices)}
		for _, c := range choices {
			stored.Instances = append(stored.Instances, c.Identity)
		}
		saved := start
		sink := &consumer{t: rt}
		opts := options(rt)
		opts.SchemaChanges, opts.Database = changes, "db"
		opts.Saved = func() Place { return Place{Position: saved} }
		opts.Observe = rapid.IntRange(0, 4).Draw(rt, "observe") == 0
		byCommand := true
		opts.OnInstances = func(_ context.Context, by bool, known Known) error {
			byCommand, stored = by, known
			return nil
		}
		reader := func(at lsn.Position) *Reader {
			text, err := json.Marshal(State{Position: at, ByCommand: byCommand, Instances: stored.Instances, Structures: stored.Structures})
			require.NoError(rt, err)
			var state State
			require.NoError(rt, json.Unmarshal(text, &state))
			return New(e, sink, opts, state)
		}
		r := reader(start)
		// poll does a pass, in which things may happen, and reports whether
		// changes are lost.
		poll := func(disturbed bool) bool {
			if disturbed {
				outside := e.pick
				e.pick = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)).IntN
				e.fail = func(string) error {
					if e.pick(10) == 0 {
						e.happen()
					}
					return nil
				}
				defer func() { e.pick = outside }()
			}
			_, err := r.PollOnce(rt.Context())
			e.fail = nil
			for range 3 {
				if err == nil {
					break
				}
				r = reader(r.State().Position)
				_, err = r.PollOnce(rt.Context())
				if err == nil {
					_, err = r.PollOnce(rt.Context())
				}
			}
			if err == nil {
				return false
			}
			var gap *GapError
			var instance *InstanceError
			require.True(rt, errors.As(err, &gap) || errors.As(err, &instance), "%v", err)
			require.True(rt, e.lost(firstCommit(r.State().Position)), "nothing is lost: %v", err)
			return true
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"happen", "happen", "happen", "poll", "poll", "save", "restart", "connect"}).Draw(rt, "step") {
			case "happen":
				e.happen()
			case "poll":
				if poll(true) {
					outcomes["lost"]++
					sink.check(e, start, saved)
					return
				}
			case "save": // acknowledged up to some message, or to all
				saved = later2(saved, r.State().Position, rapid.IntRange(0, len(sink.messages)).Draw(rt, "acknowledged"), sink.messages)
			case "restart":
				sink.backTo(saved)
				r = reader(saved)
			case "connect":
				r = reader(r.State().Position)
			}
		}
		for _, table := range e.tables {
			e.show(table)
		}
		for len(e.log) > 0 {
			e.capture()
		}
		for r.State().Position.Before(lsn.EndOf(e.max)) {
			if poll(false) {
				outcomes["lost at the end"]++
				return
			}
		}
		sink.check(e, start, r.State().Position)
		outcomes[fmt.Sprintf("%d instances made", min(e.made, 5))]++
	})
	t.Log(outcomes)
}

// later2 returns the position of the nth message, or of everything, unless it
// comes before the one saved.
func later2(saved, all lsn.Position, n int, messages []event.Message) lsn.Position {
	at := all
	if n < len(messages) {
		at = messages[n].Position
	}
	if at.Before(saved) {
		return saved
	}
	return at
}
