package input_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// rereadFields make a gap of retention read again, in small pages.
const rereadFields = "retention_gap_policy: snapshot\nsnapshot_fetch_size: 2\n"

// cleaned has the cleanup job take all changes of a table of schema dbo so far.
func cleaned(t *testing.T, server *simulator.Server, table string) {
	t.Helper()
	<-time.After(time.Minute)
	change(t, server, "INSERT dbo.u VALUES ((SELECT MAX(id) + 1 FROM dbo.u))")
	sqlExec(t, server, "USE db\nDECLARE @mark binary(10) = sys.fn_cdc_get_max_lsn()\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_"+table+"', @mark")
}

// gapServer has tables t and u, whose first rows a pipeline has streamed, and
// then more changes of t than are left.
func gapServer(t *testing.T, fields string) (*simulator.Server, settings) {
	t.Helper()
	server := newQuietServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NULL)\nCREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+
		enable("dbo", "t")+enable("dbo", "u"))
	<-time.After(5 * time.Minute)
	s := settings{fields: noData + fields, store: newStore()}
	p := startPipeline(t, server, s)
	p.settled()
	change(t, server, "INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3)\nINSERT dbo.u VALUES (1)")
	require.Len(t, p.settled(), 4)
	p.stop()
	change(t, server, "UPDATE dbo.t SET v = 10 WHERE id = 1\nDELETE dbo.t WHERE id = 2\nINSERT dbo.t VALUES (4, 4)")
	change(t, server, "INSERT dbo.u VALUES (2)")
	cleaned(t, server, "t")
	change(t, server, "INSERT dbo.t VALUES (5, 5)\nINSERT dbo.u VALUES (4)")
	return server, s
}

// With snapshot a table that fell behind retention is read again behind all that
// is captured, no other table loses anything or waits for more than that, and
// what was lost is told once and stored.
func TestRetention_Snapshot(t *testing.T) {
	for _, mode := range []string{"direct", "function"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, s := gapServer(t, rereadFields+"include_schema_changes: true\nnotification_enabled_channels: [sink]\nnotification_sink_topic_name: notes\ndata_query_mode: "+mode)
				p := startPipeline(t, server, s)
				told := p.settled()
				var events, others []string
				greatest := ""
				for _, m := range told {
					if m.Kind == "change" {
						var envelope struct{ Source struct{ Snapshot string } }
						require.NoError(t, json.Unmarshal([]byte(m.Value), &envelope))
						events = append(events, m.String()+" "+envelope.Source.Snapshot)
						assert.Less(t, greatest, m.Position)
						greatest = m.Position
					} else {
						others = append(others, m.Kind)
					}
				}
				assert.Equal(t, []string{
					`c dbo.u {"id":2} false`, `c dbo.u {"id":3} false`, `c dbo.u {"id":4} false`,
					`r dbo.t {"id":1,"v":10} first`, `r dbo.t {"id":3,"v":3} true`, `r dbo.t {"id":4,"v":4} true`, `r dbo.t {"id":5,"v":5} last`,
				}, events)
				assert.Equal(t, []string{"notification", "notification", "schema_change", "notification", "notification", "notification"}, others,
					"SKIPPED, STARTED, the structure, IN_PROGRESS, TABLE_SCAN_COMPLETED, COMPLETED")
				const said = "Changes were cleaned up before they were read: table db.dbo.t"
				assert.Equal(t, 1, strings.Count(p.logs.String(), said))
				change(t, server, "DELETE dbo.t WHERE id = 3")
				p.want(`d dbo.t {"id":3,"v":3}`, `tombstone dbo.t {"id":3}`)
				p.stop()
				kept := string(s.store.values["server1.db.instances.a"]) + string(s.store.values["server1.db.instances.b"])
				assert.Contains(t, kept, `"skipped":[{"from":"`)
				assert.Contains(t, kept, `"reread":true`)

				change(t, server, "INSERT dbo.t VALUES (6, 6)")
				p = startPipeline(t, server, s)
				assert.Equal(t, `c dbo.t {"id":6,"v":6}`, p.next(2)[1].String())
				assert.NotContains(t, p.logs.String(), said)
			})
		})
	}
}

// Wherever a pipeline dies, before, among or behind the rows that are read again,
// the next one goes on: nothing is missing, and of what was acknowledged nothing
// comes again.
func TestRestart_AroundRowsReadAgain(t *testing.T) {
	for name, fields := range map[string]string{
		"single": "max_batch_size: 1", "batches": "max_batch_size: 2", "rebatched": "batching: {count: 3, period: 1s}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, s := gapServer(t, rereadFields+fields)
				origin := s.store.copyOf()
				all := []string{
					`c dbo.u {"id":2}`, `c dbo.u {"id":3}`, `c dbo.u {"id":4}`,
					`r dbo.t {"id":1,"v":10}`, `r dbo.t {"id":3,"v":3}`, `r dbo.t {"id":4,"v":4}`, `r dbo.t {"id":5,"v":5}`,
				}
				for n := 1; n < len(all); n++ {
					s.store = origin.copyOf()
					accepted, left := crash(t, server, s, n)
					s.store = left
					p := startPipeline(t, server, s)
					rest := p.settled()
					require.NotContains(t, p.logs.String(), "Cannot go on")
					p.stop()
					delivered := append(shorts(accepted), shorts(rest)...)
					assert.ElementsMatch(t, all, unique(delivered), "crash behind %d", n)
					if name == "single" {
						assert.Len(t, delivered, len(all), "crash behind %d", n)
					}
				}
			})
		})
	}
}

// unique returns texts without repeats.
func unique(texts []string) (once []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if !seen[text] {
			once = append(once, text)
		}
		seen[text] = true
	}
	return once
}

// A table whose rows the login may not read is held, with the right that is
// missing, while the others go on; once it is granted the rows come.
func TestRetention_SnapshotDenied(t *testing.T) {
	for _, strict := range []bool{false, true} {
		t.Run(fmt.Sprint("strict: ", strict), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, s := gapServer(t, rereadFields)
				sqlExec(t, server, newReader+"USE db\nCREATE USER reader FOR LOGIN reader\n"+
					"GRANT SELECT ON SCHEMA::cdc TO reader\nGRANT SELECT ON dbo.u TO reader\nGRANT VIEW DEFINITION ON dbo.t TO reader")
				s.fields += "\nuser: reader\nstrict: " + fmt.Sprint(strict)
				p := startPipeline(t, server, s)
				server.StartAgent()
				require.Equal(t, []string{`c dbo.u {"id":2}`, `c dbo.u {"id":3}`, `c dbo.u {"id":4}`}, shorts(p.settled()))
				assert.Contains(t, p.logs.String(), "GRANT SELECT ON [dbo].[t] TO [reader], or set retention_gap_policy: skip before changes are lost")
				change(t, server, "INSERT dbo.u VALUES (5)\nDELETE dbo.t WHERE id = 5")
				<-time.After(5 * time.Minute)
				if strict {
					p.logged("(permission)")
				} else {
					assert.Equal(t, []string{`c dbo.u {"id":5}`}, shorts(p.next(1)))
					assert.Equal(t, 1, countLines(p, "Table dbo.t is held"), "log:\n%s", p.logs)
				}
				sqlExec(t, server, "USE db\nGRANT SELECT ON dbo.t TO reader")
				<-time.After(3 * time.Minute)
				var rows []string
				for _, m := range p.settled() {
					if m.Op == "r" {
						rows = append(rows, m.String())
					}
				}
				assert.Equal(t, []string{`r dbo.t {"id":1,"v":10}`, `r dbo.t {"id":3,"v":3}`, `r dbo.t {"id":4,"v":4}`}, rows)
				change(t, server, "INSERT dbo.t VALUES (6, 6)")
				<-time.After(time.Minute)
				assert.Equal(t, `c dbo.t {"id":6,"v":6}`, p.settled()[0].String())
				p.stop()
			})
		})
	}
}

// A table that is met for the first time, and has lost changes by then, is read
// as if it had been there before; so are several at once, and a table that loses
// changes again while its rows are on their way.
func TestRetention_SnapshotOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, s := gapServer(t, rereadFields+"max_batch_size: 1\nmax_queue_size: 2")
		change(t, server, "CREATE TABLE dbo.late (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "late")+"INSERT dbo.late VALUES (1), (2)")
		<-time.After(time.Hour)
		cleaned(t, server, "late")
		var taken int
		full, opened := make(chan struct{}), make(chan struct{})
		s.output = func(ctx context.Context, batch []received) error {
			if taken += len(batch); taken == 7 {
				close(full)
				select {
				case <-opened:
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		}
		p := startPipeline(t, server, s)
		<-full
		change(t, server, "UPDATE dbo.t SET v = 100 WHERE id = 1")
		cleaned(t, server, "t")
		close(opened)
		delivered := p.settled()
		rows := map[string]string{}
		for _, m := range delivered {
			rows[m.Table+m.Key] = after(t, m)
		}
		assert.Equal(t, `{"id":1,"v":100}`, rows[`t{"id":1}`])
		assert.Equal(t, `{"id":5,"v":5}`, rows[`t{"id":5}`])
		assert.Equal(t, `{"id":1}`, rows[`late{"id":1}`])
		assert.Equal(t, `{"id":2}`, rows[`late{"id":2}`])
		assert.Equal(t, 2, strings.Count(p.logs.String(), "before they were read: table db.dbo.t,"))
		p.stop()
	})
}
