package stream

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// perTable drops the repeats of a stream as docs/delivery.md says: what stands at
// or before the greatest position seen of its table.
type perTable struct {
	seen map[string]lsn.Position
	kept map[string][]string
}

func (p *perTable) take(m event.Message) {
	if last, seen := p.seen[m.Table]; seen && !last.Before(m.Position) {
		return
	}
	p.seen[m.Table] = m.Position
	p.kept[m.Table] = append(p.kept[m.Table], short(m))
}

// Whatever is denied and granted, whenever the pipeline is killed, and however
// much of what was sent is acknowledged then: of each table every event comes, in
// order, to a consumer that drops repeats table by table.
func TestHeld_Property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// Each draw is made outside: rapid ends a failed one by a panic.
		var steps []int
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			steps = append(steps, rapid.IntRange(0, 1<<16).Draw(rt, "step"))
		}
		opts := Options{
			MaxBatchSize:             rapid.IntRange(1, 7).Draw(rt, "batch"),
			FetchSize:                rapid.IntRange(1, 5).Draw(rt, "fetch"),
			MaxIterationTransactions: rapid.IntRange(1, 4).Draw(rt, "transactions"),
		}
		var problem string
		synctest.Test(t, func(t *testing.T) { problem = playHeld(t, opts, steps) })
		require.Empty(rt, problem)
	})
}

// playHeld plays steps and returns what is wrong at the end.
func playHeld(t *testing.T, opts Options, steps []int) string {
	f := threeTables()
	consumer := perTable{map[string]lsn.Position{}, map[string][]string{}}
	k := &statesSink{}
	r := k.open(t, f, opts, State{})
	restart := func(kept int) {
		state := State{ByCommand: true}
		for i, m := range k.messages {
			consumer.take(m)
			if i < kept {
				state = k.states[i]
			}
		}
		if kept > len(k.messages) || len(k.messages) == 0 {
			state = k.last
		}
		if kept == 0 && len(k.messages) > 0 {
			state = k.began
		}
		k = &statesSink{}
		r = k.open(t, f, opts, state)
	}
	commit := 0
	for _, n := range steps {
		step, n := n%8, n/8
		table := f.tables[n%len(f.tables)]
		switch step {
		case 0, 1:
			commit++
			changeAll(f, commit)
		case 2:
			commit++
			f.add(table, commit, 1, 1, opInsert, int64(commit), "x")
		case 3:
			f.denied[table.Instances[0].Name] = true
		case 4, 5:
			delete(f.denied, table.Instances[0].Name)
		case 6:
			restart(n % (len(k.messages) + 2))
		default:
			<-time.After(heldRetry)
		}
		for more, i := true, 0; more && i < 1+n%5; i++ {
			var err error
			if more, err = r.PollOnce(t.Context()); err != nil {
				restart(len(k.messages) + 1)
				break
			}
		}
	}
	clear(f.denied)
	restart(len(k.messages) + 1)
	drain(t, r)
	drain(t, r)
	restart(len(k.messages) + 1)
	want := undisturbed(t, f)
	for _, table := range []string{"a", "b", "c"} {
		if got, want := fmt.Sprint(consumer.kept[table]), fmt.Sprint(of(want, table)); got != want {
			return fmt.Sprintf("table %s:\ngot  %s\nwant %s", table, got, want)
		}
	}
	return ""
}
