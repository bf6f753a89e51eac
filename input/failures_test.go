package input_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// event_converting_failure_handling_mode rules both what change data capture
// left out of a NOT NULL column and what is out of the range of its type.
func TestConvertingFailures(t *testing.T) {
	const null, outside = `{"id":1,"b":null,"at":0}`, `{"id":2,"b":true,"at":null}`
	for _, test := range []struct {
		mode, failing string   // failing: part of the error
		rows          []string // that arrive
		warnings      int
	}{
		{"", "9999-12-31", []string{null}, 1},
		{"fail", "NULL in a NOT NULL column", nil, 0},
		{"warn", "", []string{null, outside, `{"id":3,"b":true,"at":100}`}, 2},
		{"skip", "", []string{null, outside, `{"id":3,"b":true,"at":100}`}, 0},
	} {
		for _, structured := range []string{"false", "true"} {
			t.Run(test.mode+"/structured "+structured, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, lines(
						"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, b bit NOT NULL DEFAULT 1, at datetime2(7) NOT NULL)",
						enable("dbo", "t")))
					fields := "structured: " + structured + "\nmax_batch_size: 1\n"
					if test.mode != "" {
						fields += "event_converting_failure_handling_mode: " + test.mode
					}
					kept := newStore()
					p := startPipeline(t, server, settings{fields: fields, store: kept})
					require.Empty(t, p.settled())
					p.stop()
					change(t, server, "INSERT dbo.t VALUES (1, 1, '1970-01-01'), (2, 1, '9999-12-31'), (3, 1, '1970-01-01T00:00:00.0000001')")
					sqlExec(t, server, "USE db\nUPDATE cdc.dbo_t_CT SET b = NULL WHERE id = 1")
					p = startPipeline(t, server, settings{fields: fields, store: kept})
					var rows []string
					for _, m := range p.settled() {
						rows = append(rows, rowText(t, m.Value, "after"))
					}
					require.Len(t, rows, len(test.rows))
					for i, row := range test.rows {
						assert.JSONEq(t, row, rows[i])
					}
					log := warnings(p.logs.String())
					if test.failing != "" {
						assert.Contains(t, log, test.failing)
					}
					assert.Equal(t, test.warnings, strings.Count(log, "is null in the event"), log)
				})
			})
		}
	}
}

// A change of which no event can be made holds what comes after it, in its
// transaction and in later ones, however often the pipeline starts.
func TestProcessingFailures_NothingPastIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, "CREATE TABLE dbo.t (at datetime2(7) NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
		s := settings{fields: "max_batch_size: 1", store: newStore()}
		p := startPipeline(t, server, s)
		require.Empty(t, p.settled())
		change(t, server, "INSERT dbo.t VALUES ('1970-01-01'), ('9999-12-31'), ('1970-01-02')\nINSERT dbo.t VALUES ('1970-01-03')")
		require.Len(t, p.settled(), 1, "log:\n%s", p.logs)
		p.stop()
		again := startPipeline(t, server, s)
		require.Empty(t, again.settled(), "log:\n%s", again.logs)
		require.Contains(t, again.logs.String(), "Cannot go on (event)")
	})
}

// event_processing_failure_handling_mode rules what becomes of a change of which
// no event can be made, and of such a row of the snapshot: here its key is out of
// the range of its type, for which there is no null.
func TestProcessingFailures(t *testing.T) {
	const table = "CREATE TABLE dbo.t (at datetime2(7) NOT NULL PRIMARY KEY, v int NOT NULL)"
	for _, test := range []struct {
		mode         string
		rows, insert int // that arrive
		says         string
		times        int
	}{
		{"", 2, 0, "Cannot go on (event)", 1},
		{"fail", 2, 0, "Cannot go on (event)", 1},
		{"warn", 2, 2, `level=WARN msg="A change is left out`, 2},
		{"skip", 2, 2, "A change is left out", 0},
		{"ignore", 2, 2, "A change is left out", 0},
	} {
		for _, structured := range []string{"false", "true"} {
			t.Run(test.mode+"/structured "+structured, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, lines(table, enable("dbo", "t"),
						"INSERT dbo.t VALUES ('1970-01-01', 1), ('1970-01-02', 2), ('9999-12-31', 3)"))
					fields := "structured: " + structured + "\nmax_batch_size: 1\nevent_converting_failure_handling_mode: warn\n"
					if test.mode != "" {
						fields += "event_processing_failure_handling_mode: " + test.mode
					}
					kept := newStore()
					p := startPipeline(t, server, settings{fields: fields, store: kept})
					rows := p.settled()
					require.Len(t, rows, test.rows, "log:\n%s", p.logs)
					change(t, server, "INSERT dbo.t VALUES ('1970-01-03', 4), ('9999-12-30', 5), ('1970-01-04', 6)")
					require.Len(t, p.settled(), test.insert, "log:\n%s", p.logs)
					assert.Equal(t, test.times, strings.Count(p.logs.String(), test.says), "log:\n%s", p.logs)
					for _, part := range []string{"of db.dbo.t: value 9999-12-31"} {
						assert.Equal(t, test.times > 0, strings.Contains(p.logs.String(), part), part)
					}
					p.stop()
					if test.insert == 0 {
						return
					}
					assert.Equal(t, test.rows+test.insert, len(p.everything()))
					again := startPipeline(t, server, settings{fields: fields, store: kept})
					require.Empty(t, again.settled(), "the position is behind what was left out")
				})
			})
		}
	}
}
