package input_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// history is 30 events and more, of every kind that has to survive a restart
// in its middle.
const history = `
INSERT dbo.a VALUES (1, 10), (2, 20), (3, 30)
GO
UPDATE dbo.a SET u = 11 WHERE id = 1
GO
DELETE dbo.a WHERE id = 2
GO
UPDATE dbo.a SET id = 4 WHERE id = 3
GO
BEGIN TRAN
INSERT dbo.a VALUES (5, 50)
INSERT dbo.b VALUES (1, N'one')
UPDATE dbo.a SET u = 51 WHERE id = 5
UPDATE dbo.a SET u = 52 WHERE id = 5
UPDATE dbo.b SET v = N'eins' WHERE id = 1
DELETE dbo.b WHERE id = 1
COMMIT
GO
UPDATE dbo.a SET u = u + 1
GO
BEGIN TRAN
INSERT dbo.b VALUES (2, N'never')
ROLLBACK
GO
BEGIN TRAN
INSERT dbo.b VALUES (10, N'a'), (11, N'b'), (12, N'c'), (13, N'd'), (14, N'e'), (15, N'f')
INSERT dbo.a VALUES (20, 200), (21, 210)
DELETE dbo.b WHERE id IN (10, 11)
COMMIT
`

const historyTables = `
CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY, u int NOT NULL UNIQUE)
CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY, v nvarchar(20) NULL)
`

// gate is an output that accepts so many messages and then holds the rest
// until the stream is cut off.
type gate struct {
	mu   sync.Mutex
	left int
	held []received // the batches that were refused or are being held
	full chan struct{}
}

func newGate(n int) *gate { return &gate{left: n, full: make(chan struct{})} }

// errCrashed is what the output of a process that died would have said.
var errCrashed = errors.New("the process was killed")

func (g *gate) write(ctx context.Context, batch []received) error {
	g.mu.Lock()
	if len(g.held) == 0 && g.left >= len(batch) {
		g.left -= len(batch)
		g.mu.Unlock()
		return nil
	}
	first := len(g.held) == 0
	g.held = append(g.held, batch...)
	g.mu.Unlock()
	if first {
		close(g.full)
	}
	<-ctx.Done()
	return errCrashed
}

// wait returns once the output holds something.
func (g *gate) wait(t *testing.T, p *pipeline) {
	t.Helper()
	select {
	case <-g.full:
	case <-time.After(patience):
		require.Fail(t, "the output was never full", "log:\n%s", p.logs)
	}
}

// crash runs a stream whose output accepts n messages and dies over the next
// ones. It returns what was accepted, and the store as it was at that moment.
func crash(t *testing.T, server *simulator.Server, s settings, n int) ([]received, *store) {
	t.Helper()
	g := newGate(n)
	s.output = g.write
	p := startPipeline(t, server, s)
	g.wait(t, p)
	<-time.After(time.Second) // the last acknowledgement is saved
	left := s.store.copyOf()
	accepted := p.rest()
	p.stop()
	return accepted, left
}

func TestRestart_AfterEveryAcknowledgedPrefix(t *testing.T) {
	for _, batch := range []int{1, 7} {
		t.Run(fmt.Sprint("batches of ", batch), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, historyTables+enable("dbo", "a")+enable("dbo", "b"))
				fields := fmt.Sprintf("snapshot_mode: no_data\nmax_batch_size: %d\npoll_interval: 5s", batch)
				origin := newStore()
				p := startPipeline(t, server, settings{fields: fields, store: origin})
				<-time.After(20 * time.Second)
				start := origin.copyOf()
				change(t, server, history)
				<-time.After(20 * time.Second)
				all := p.next(len(p.rest()))
				p.stop()
				require.GreaterOrEqual(t, len(all), 30)
				requireGrowing(t, all)

				for k := range race.Every((len(all)+batch-1)/batch, 4) {
					n, before := k*batch, start.copyOf()
					accepted, left := crash(t, server, settings{fields: fields, store: before}, n)
					require.Equal(t, placed(all[:len(accepted)]), placed(accepted))
					p := startPipeline(t, server, settings{fields: fields, store: left})
					rest := all[len(accepted):]
					p.next(len(rest))
					p.stop()
					require.Equal(t, placed(rest), placed(p.all), "after %d messages", len(accepted))
				}
			})
		})
	}
}

// placed returns messages with their positions: what stays the same however
// often they are read.
func placed(messages []received) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Position + " " + m.String()
		var envelope struct{ Transaction map[string]any }
		if json.Unmarshal([]byte(m.Value), &envelope) == nil && envelope.Transaction != nil {
			out[i] += fmt.Sprint(" ", envelope.Transaction)
		}
	}
	return out
}

// requireGrowing checks that positions grow strictly.
func requireGrowing(t *testing.T, messages []received) {
	t.Helper()
	for i := 1; i < len(messages); i++ {
		require.Less(t, messages[i-1].Position, messages[i].Position, "%s after %s", messages[i], messages[i-1])
	}
}

func TestRestart_InsideTheSnapshot(t *testing.T) {
	const rows = 9
	tables := "CREATE TABLE dbo.keyed (id int NOT NULL PRIMARY KEY, v int)\nCREATE TABLE dbo.pair (a nvarchar(10) NOT NULL, b int NOT NULL, v int, PRIMARY KEY (a, b DESC))\nCREATE TABLE dbo.heap (v int)\n"
	for i := range rows {
		tables += fmt.Sprintf("INSERT dbo.keyed VALUES (%[1]d, %[1]d)\nINSERT dbo.pair VALUES (N'%[2]c', %[1]d, %[1]d)\nINSERT dbo.heap VALUES (%[1]d)\n", i, 'a'+i/4)
	}
	tables += enable("dbo", "keyed") + enable("dbo", "pair") + enable("dbo", "heap")
	for _, batch := range []int{1, 5} {
		t.Run(fmt.Sprint("batches of ", batch), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, tables)
				fields := fmt.Sprintf("max_batch_size: %d\nsnapshot_fetch_size: 4\npoll_interval: 5s", batch)
				p := startPipeline(t, server, settings{fields: fields})
				all := p.next(3 * rows)
				p.stop()
				requireGrowing(t, all)
				for n := 0; n < len(all); n += batch {
					accepted, left := crash(t, server, settings{fields: fields, store: newStore()}, n)
					require.Equal(t, shorts(all[:len(accepted)]), shorts(accepted))
					rest := rereadAfter(all, len(accepted))
					p := startPipeline(t, server, settings{fields: fields, store: left})
					require.Equal(t, shorts(rest), shorts(p.next(len(rest))), "after %d messages", len(accepted))
					if len(accepted) > 0 {
						require.Greater(t, p.all[0].Position, accepted[len(accepted)-1].Position, "no ordinal is used twice")
					}
					p.quiet()
					p.stop()
				}
			})
		})
	}
}

// rereadAfter returns what a snapshot reads after the first n rows were
// acknowledged: of a table without a key, of which some are, all again.
func rereadAfter(all []received, n int) []received {
	if n < len(all) && all[n].Key == "" {
		for n > 0 && all[n-1].Table == all[n].Table {
			n--
		}
	}
	return all[n:]
}
