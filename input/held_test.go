package input_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// threeTables are three captured tables, and a login that may read all.
func threeTables(t *testing.T) *simulator.Server {
	t.Helper()
	script := newReader + "CREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n"
	for _, table := range []string{"a", "b", "c"} {
		script += "CREATE TABLE dbo." + table + " (id int NOT NULL PRIMARY KEY, v int)\n" + enable("dbo", table)
	}
	server := newServer(t, script)
	require.NoError(t, server.CaptureNow("db"))
	return server
}

// asReader reads as that login, without the rows of before.
const asReader = "user: reader\nsnapshot_mode: no_data\npoll_interval: 5s\n"

// insertAll puts a row into each of the three tables, in one transaction.
func insertAll(t *testing.T, server *simulator.Server, id string) {
	t.Helper()
	change(t, server, "BEGIN TRAN\nINSERT dbo.a VALUES ("+id+", 1)\nINSERT dbo.b VALUES ("+id+", 1)\nINSERT dbo.c VALUES ("+id+", 1)\nCOMMIT")
}

// row is the short form of an inserted row.
func row(table, id string) string { return "c dbo." + table + ` {"id":` + id + `,"v":1}` }

// A table that is denied mid-run is held: the others go on, also over a restart,
// and once it is granted it comes to where they are, from its own position.
func TestHeld_DeniedAndGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := threeTables(t), newStore()
		p := startPipeline(t, server, settings{fields: asReader, store: kept})
		<-time.After(time.Minute)
		insertAll(t, server, "1")
		p.want(row("a", "1"), row("b", "1"), row("c", "1"))

		sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_b_CT TO reader")
		insertAll(t, server, "2")
		p.want(row("a", "2"), row("c", "2"))
		<-time.After(3 * time.Minute)
		log := p.logs.String()
		assert.Equal(t, 1, strings.Count(log, "is held at position"), log)
		assert.Contains(t, log, "Table dbo.b is held")
		assert.Contains(t, log, "run GRANT SELECT ON [cdc].[dbo_b_CT] TO")
		assert.NotContains(t, log, "Cannot go on")
		p.stop()

		insertAll(t, server, "3")
		p = startPipeline(t, server, settings{fields: asReader, store: kept})
		p.want(row("a", "3"), row("c", "3"))
		<-time.After(3 * time.Minute)
		assert.Contains(t, p.logs.String(), "Table dbo.b is held")

		sqlExec(t, server, "USE db\nREVOKE SELECT ON cdc.dbo_b_CT FROM reader")
		p.want(row("b", "2"), row("b", "3"))
		insertAll(t, server, "4")
		p.want(row("a", "4"), row("b", "4"), row("c", "4"))
		p.quiet()
		assert.Contains(t, p.logs.String(), "Table dbo.b is no longer held")
	})
}

// With strict one table's trouble is the database's.
func TestHeld_Strict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := threeTables(t)
		p := startPipeline(t, server, settings{fields: asReader + "strict: true"})
		<-time.After(time.Minute)
		sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_b_CT TO reader")
		insertAll(t, server, "1")
		p.quiet()
		assert.Contains(t, p.logs.String(), "Cannot go on (permission)")
		sqlExec(t, server, "USE db\nREVOKE SELECT ON cdc.dbo_b_CT FROM reader")
		p.want(row("a", "1"), row("b", "1"), row("c", "1"))
	})
}

// A single column of a change table that is denied holds its table alone; the error
// names it and the right to it, which the right to the table would not give back.
func TestHeld_DeniedColumn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := threeTables(t), newStore()
		sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_b_CT (v) TO reader")
		p := startPipeline(t, server, settings{fields: asReader, store: kept})
		<-time.After(time.Minute)
		insertAll(t, server, "1")
		p.want(row("a", "1"), row("c", "1"))
		<-time.After(time.Minute)
		log := p.logs.String()
		assert.Equal(t, 1, strings.Count(log, "is held at position"), log)
		assert.Contains(t, log, "Table dbo.b is held")
		assert.Contains(t, log, "reading [v] of [cdc].[dbo_b_CT] is not permitted; run GRANT SELECT ON [cdc].[dbo_b_CT] ([v]) TO")
		sqlExec(t, server, "USE db\nGRANT SELECT ON cdc.dbo_b_CT TO reader")
		p.quiet()
		sqlExec(t, server, "USE db\nGRANT SELECT ON cdc.dbo_b_CT (v) TO reader")
		p.want(row("b", "1"))
		p.stop()

		sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_b_CT (v) TO reader")
		p = startPipeline(t, server, settings{fields: asReader + "column_exclude_list: [ 'dbo\\.b\\.v' ]", store: kept})
		insertAll(t, server, "2")
		p.want(row("a", "2"), `c dbo.b {"id":2}`, row("c", "2"))
		p.stop()
	})
}

// A table whose change data capture is disabled is held; the others go on.
func TestHeld_Disabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := threeTables(t)
		p := startPipeline(t, server, settings{fields: asReader})
		<-time.After(time.Minute)
		insertAll(t, server, "1")
		p.next(3)
		sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_disable_table N'dbo', N'b', N'dbo_b'")
		insertAll(t, server, "2")
		p.want(row("a", "2"), row("c", "2"))
		p.quiet()
		assert.Contains(t, p.logs.String(), "Table dbo.b is held")
		assert.Contains(t, p.logs.String(), "(instance_gone)")
		change(t, server, enable("dbo", "b"))
		insertAll(t, server, "3")
		p.want(row("a", "3"), row("c", "3"))
		p.quiet()
		assert.Contains(t, p.logs.String(), "(instance_replaced)")
	})
}

// A table that gets a name which is not wanted is seen all the same: no right is
// missing, and the lists are what is to be changed.
func TestHeld_RenamedOutOfTheLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := threeTables(t), newStore()
		const lists = "table_include_list: ['dbo\\.[abc]']\n"
		p := startPipeline(t, server, settings{fields: asReader + lists, store: kept})
		<-time.After(time.Minute)
		insertAll(t, server, "1")
		p.next(3)
		p.stop()
		change(t, server, "INSERT dbo.b VALUES (2, 1)\nEXEC sp_rename N'dbo.b', N'x'")
		p = startPipeline(t, server, settings{fields: asReader + lists, store: kept})
		<-time.After(3 * time.Minute)
		log := p.logs.String()
		assert.Equal(t, 1, strings.Count(log, "is held at position"), log)
		assert.Contains(t, log, "another name, dbo.x, which is not among the wanted ones")
		assert.NotContains(t, log, "GRANT SELECT ON [dbo]")
		p.rest()
		p.stop()

		p = startPipeline(t, server, settings{fields: asReader + "table_include_list: ['dbo\\.[abcx]']\n", store: kept})
		<-time.After(3 * time.Minute)
		assert.Contains(t, keysOf(p.rest()), `{"id":2}`)
	})
}

// When all tables are held, that is fatal, with what is wrong with each; it is
// over when one is cured.
func TestHeld_AllOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := threeTables(t)
		p := startPipeline(t, server, settings{fields: asReader})
		<-time.After(time.Minute)
		sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_a_CT TO reader\nDENY SELECT ON cdc.dbo_b_CT TO reader\nDENY SELECT ON cdc.dbo_c_CT TO reader")
		insertAll(t, server, "1")
		p.quiet()
		log := p.logs.String()
		assert.Contains(t, log, "Cannot go on (permission)")
		assert.Contains(t, log, "no table is left that can be read")
		for _, table := range []string{"a", "b", "c"} {
			assert.Contains(t, log, "Table dbo."+table+" is held")
		}
		assert.Equal(t, 3, strings.Count(log, "whatever else can be read is read on"))
		sqlExec(t, server, "USE db\nREVOKE SELECT ON cdc.dbo_b_CT FROM reader")
		p.want(row("b", "1"))
		sqlExec(t, server, "USE db\nREVOKE SELECT ON cdc.dbo_a_CT FROM reader\nREVOKE SELECT ON cdc.dbo_c_CT FROM reader")
		require.ElementsMatch(t, []string{row("a", "1"), row("c", "1")}, shorts(p.next(2)))
	})
}

// fallBehind has table b denied while each table gets the rows 1 to 4, and then
// granted again.
func fallBehind(t *testing.T, server *simulator.Server, p *pipeline) {
	t.Helper()
	<-time.After(time.Minute)
	sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_b_CT TO reader")
	for _, id := range []string{"1", "2", "3", "4"} {
		insertAll(t, server, id)
	}
	p.next(8)
	sqlExec(t, server, "USE db\nREVOKE SELECT ON cdc.dbo_b_CT FROM reader")
}

// A message of a table that catches up may be rejected: what was not acknowledged
// of that table comes again, in order, however it is batched.
func TestHeld_RejectedWhileCatchingUp(t *testing.T) {
	for name, fields := range map[string]string{
		"alone":         "max_batch_size: 1",
		"batched again": "max_batch_size: 3\nbatching: {count: 2, period: 1s}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := threeTables(t)
				rejections := 0
				s := settings{fields: asReader + fields}
				s.output = func(_ context.Context, batch []received) error {
					if slices.Contains(shorts(batch), row("b", "3")) && rejections < 3 {
						rejections++
						return errRejected
					}
					return nil
				}
				p := startPipeline(t, server, s)
				fallBehind(t, server, p)
				<-time.After(3 * time.Minute)
				insertAll(t, server, "5")
				<-time.After(3 * time.Minute)
				require.Equal(t, 3, rejections)
				require.Equal(t, 1, countLines(p, "Table dbo.b is no longer held"), "a rejection that goes back to where it is held says nothing")
				require.Equal(t, rows("b", "1", "2", "3", "4", "5"), shorts(ofTable("b", lastDeliveries(p.everything()))))
			})
		})
	}
}

// Whatever of a table that catches up is acknowledged and stored when the process
// dies, the next one sends exactly the rest of it.
func TestHeld_KilledWhileCatchingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := threeTables(t), newStore()
		var copies []*store // as each message of b finds it
		s := settings{fields: asReader + "max_batch_size: 1\nmax_queue_size: 2\ncheckpoint_limit: 1", store: kept}
		s.output = func(_ context.Context, batch []received) error {
			if batch[0].Table == "b" {
				<-time.After(time.Second) // what is acknowledged is stored
				copies = append(copies, kept.copyOf())
			}
			return nil
		}
		p := startPipeline(t, server, s)
		fallBehind(t, server, p)
		p.want(rows("b", "1", "2", "3", "4")...)
		p.stop()
		require.Len(t, copies, 4)
		for n, kept := range copies {
			again := startPipeline(t, server, settings{fields: asReader, store: kept})
			again.want(rows("b", "1", "2", "3", "4")[n:]...)
			again.quiet()
			again.stop()
		}
	})
}

// rows are the short forms of rows inserted into a table.
func rows(table string, ids ...string) (list []string) {
	for _, id := range ids {
		list = append(list, row(table, id))
	}
	return list
}

// ofTable returns the messages of a table.
func ofTable(table string, messages []received) []received {
	return slices.DeleteFunc(slices.Clone(messages), func(m received) bool { return m.Table != table })
}
