package input_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// newQuietServer is newServer without a running capture job: only
// [simulator.Server.CaptureNow] captures, so a test decides what the snapshot
// sees that the change tables do not have yet.
func newQuietServer(t *testing.T, script string) *simulator.Server {
	t.Helper()
	server := newServer(t, "")
	server.StopAgent()
	change(t, server, script)
	return server
}

// settled waits until the input has nothing more to read and returns what it
// delivered since the last time.
func (p *pipeline) settled() []received {
	p.t.Helper()
	select {
	case <-time.After(settle):
	case err := <-p.ended:
		p.ended <- err
		require.Fail(p.t, "the stream has ended", "%v; log:\n%s", err, p.logs)
	}
	return p.next(len(p.rest()))
}

// pageSizes returns input fields that make pages of n rows in both phases.
func pageSizes(n int) string {
	return fmt.Sprintf("snapshot_fetch_size: %d\nstreaming_fetch_size: %d\n", n, n)
}

// bothWays reads rows twice: they are written when capture has begun, read by
// a snapshot, and only then captured. It returns both readings.
func bothWays(t *testing.T, tables, rows, fields string) (snapshot, stream []received) {
	t.Helper()
	server := newQuietServer(t, tables)
	sqlExec(t, server, "USE db\nGO\n"+rows)
	p := startPipeline(t, server, settings{fields: fields})
	snapshot = p.settled()
	require.NoError(t, server.CaptureNow("db"))
	return snapshot, p.settled()
}

// onlyOps requires that all messages are changes of one operation.
func onlyOps(t *testing.T, op string, messages []received) {
	t.Helper()
	for _, m := range messages {
		require.Equal(t, op, m.Op, "%s", m)
	}
}

// images returns the rows of changes by table, sorted: `{"key"} {"after"}`.
func images(t *testing.T, messages []received) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, m := range messages {
		name := m.Schema + "." + m.Table
		rows[name] = append(rows[name], m.Key+" "+after(t, m))
	}
	for _, list := range rows {
		slices.Sort(list)
	}
	return rows
}

// envelope is what tests look at in a change.
type envelope struct {
	Before, After map[string]json.RawMessage
}

func open(t *testing.T, m received) envelope {
	t.Helper()
	var e envelope
	require.NoError(t, json.Unmarshal([]byte(m.Value), &e), "%s", m.Value)
	return e
}

// after returns the text of the row after a change.
func after(t *testing.T, m received) string {
	t.Helper()
	return rowText(t, m.Value, "after")
}

// rowText returns the text of a part of a message, such as payload, before.
func rowText(t *testing.T, text string, path ...string) string {
	t.Helper()
	for _, name := range path {
		var parts map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text), &parts), "%s", text)
		text = string(parts[name])
	}
	return text
}

// replica applies events as a consumer by key does, and returns the rows that
// are left, sorted.
func replica(t *testing.T, messages []received) []string {
	t.Helper()
	rows := map[string]string{}
	for _, m := range messages {
		id := m.Topic + " " + m.Key
		switch {
		case m.Kind == "tombstone":
			require.NotContains(t, rows, id, "a tombstone follows its delete")
		case m.Op == "d":
			require.Contains(t, rows, id, "a delete of a row that is there")
			delete(rows, id)
		default:
			rows[id] = after(t, m)
		}
	}
	return slices.Sorted(maps.Values(rows))
}

// lines joins SQL statements.
func lines(statements ...string) string { return strings.Join(statements, "\n") + "\n" }
