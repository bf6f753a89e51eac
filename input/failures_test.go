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
