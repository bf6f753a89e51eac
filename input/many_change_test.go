package input_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// A third database in the list takes a snapshot of its own alone, and one that
// left the list goes on, when it comes back, where it was.
func TestMany_AnotherListAtRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		kept := newStore()
		run := func(databases string, want map[string][]string) {
			t.Helper()
			p := startPipeline(t, server, settings{fields: "database_names: " + databases, store: kept})
			<-time.After(time.Minute)
			for _, name := range three {
				assert.Equal(t, want[name], shortsOrNil(ofDatabase(p.rest(), name)), name)
			}
			p.stop()
		}
		run("[ a, b ]", map[string][]string{"a": twoRows, "b": twoRows})
		changeIn(t, server, "a", inserts(10, 11))
		run("[ a, b, c ]", map[string][]string{"a": rowsOf(10, 11), "c": twoRows})
		stored := kept.copyOf().values
		changeIn(t, server, "b", inserts(20, 22))
		run("[ c, a ]", nil)
		for _, key := range []string{"server1.b.position.a", "server1.b.position.b", "server1.b.snapshot.a", "server1.b.instances.a"} {
			assert.Equal(t, stored[key], kept.values[key], "what is not read is not touched: %s", key)
		}
		run("[ a, b, c ]", map[string][]string{"b": rowsOf(20, 22)})
	})
}

// shortsOrNil are the short forms of messages, nil if there are none.
func shortsOrNil(messages []received) []string {
	if len(messages) == 0 {
		return nil
	}
	return shorts(messages)
}

// A database that a pattern matches later is found while the others are read:
// one that is created, and one whose capture is enabled.
func TestMany_FoundLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "shop_1")
		sqlExec(t, server, "CREATE DATABASE shop_2\nGO\nCREATE DATABASE other\nGO\nUSE other\nEXEC sys.sp_cdc_enable_db")
		kept := newStore()
		fields := "poll_interval: 5s\ndatabase_names: [ 'SHOP_\\d+', 'no such.*' ]"
		p := startPipeline(t, server, settings{fields: fields, store: kept})
		p.want(twoRows...)
		<-time.After(10*time.Minute + betweenAttempts)
		require.Equal(t, 1, countLines(p, `matches \"no such.*\"`), "log:\n%s", p.logs)
		require.Equal(t, 1, sessionsOf(t, server), "one connection for each database")

		createDatabase(t, server, "shop_3")
		p.awaitCount("shop_3", 2)
		p.want(twoRows...)
		sqlExec(t, server, "USE shop_2\nEXEC sys.sp_cdc_enable_db\nGO\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nINSERT dbo.t VALUES (1)\n"+enable("dbo", "t"))
		p.want(`r dbo.t {"id":1}`)
		changeIn(t, server, "shop_3", inserts(10, 12))
		changeIn(t, server, "shop_1", inserts(10, 12))
		p.awaitCount("shop_1", 2)
		p.awaitCount("shop_3", 2)
		p.stop()
		require.Len(t, p.rest(), 4)

		p = startPipeline(t, server, settings{fields: fields, store: kept})
		p.quiet()
		<-time.After(betweenAttempts)
		require.Equal(t, 3, sessionsOf(t, server))
	})
}

// A database that a pattern found is missed when capture was disabled, or it
// went offline, while nothing ran; one that was never read is not.
func TestMany_DisabledWhileDown(t *testing.T) {
	for name, script := range map[string]string{
		"disabled": "USE shop_2\nEXEC sys.sp_cdc_disable_db",
		"offline":  "USE shop_2\nEXEC sys.sp_cdc_disable_db\nGO\nUSE master\nALTER DATABASE shop_2 SET OFFLINE",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServerOf(t, "shop_1", "shop_2")
				sqlExec(t, server, "CREATE DATABASE shop_3")
				kept := newStore()
				fields := "poll_interval: 5s\ndatabase_names: [ 'shop_.' ]"
				p := startPipeline(t, server, settings{fields: fields, store: kept})
				p.next(4)
				p.stop()
				sqlExec(t, server, script)
				changeIn(t, server, "shop_1", inserts(10, 12))
				p = startPipeline(t, server, settings{fields: fields, store: kept})
				p.want(rowsOf(10, 12)...)
				p.quiet()
				require.Equal(t, 1, countLines(p, "Cannot go on ("), "log:\n%s", p.logs)
				require.Contains(t, p.logs.String(), `\"shop_2\"`)
			})
		})
	}
}

// A pattern that matches nothing is waited for with its remedy, and found.
func TestMany_NothingMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "a")
		p := startPipeline(t, server, settings{fields: "database_names: [ 'shop_.*' ]"})
		<-time.After(5*time.Minute + betweenAttempts)
		require.Empty(t, p.rest())
		require.Contains(t, p.logs.String(), "sp_cdc_enable_db")
		require.Contains(t, p.logs.String(), "shop_.*")
		createDatabase(t, server, "shop_1")
		p.want(twoRows...)
		require.Equal(t, 1, countLines(p, "Going on: no_databases is cured"))
	})
}

// An exact name wins over what it would match as a pattern.
func TestMany_ExactNameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "shop.eu", "shop_eu")
		p := startPipeline(t, server, settings{fields: "database_names: [ shop.eu ]"})
		<-time.After(5 * time.Minute)
		require.Equal(t, twoRows, shorts(ofDatabase(p.rest(), "shop.eu")))
		require.Len(t, p.rest(), 2)
	})
}

// Without the database in topics those of several databases are the same.
func TestMany_SharedTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "a", "b")
		p := startPipeline(t, server, settings{fields: "database_names: [ a, b ]\ntopic_naming: schema_table"})
		for _, m := range p.next(4) {
			require.Equal(t, "server1.dbo.t", m.Topic)
		}
		require.Equal(t, 1, countLines(p, "share a topic"))
	})
}

// Two names of one database would move one position twice.
func TestMany_OneDatabaseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "shop")
		p := startPipeline(t, server, settings{fields: "database_names: [ shop, SHOP ]"})
		<-time.After(5 * time.Minute)
		require.Len(t, p.rest(), 2)
		require.Equal(t, 1, countLines(p, "Cannot go on (database_twice)"), "log:\n%s", p.logs)
	})
}

// Connect fails while no database works, and says why of each; the first that
// does is read.
func TestMany_NoneWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "a", "b")
		sqlExec(t, server, "USE a\nEXEC sys.sp_cdc_disable_db\nGO\nUSE b\nEXEC sys.sp_cdc_disable_db")
		p := startPipeline(t, server, settings{fields: "database_names: [ a, b, c ]"})
		<-time.After(10*time.Minute + betweenAttempts)
		require.Empty(t, p.rest())
		failed := linesWith(p, "Failed to connect")
		require.NotEmpty(t, failed)
		require.LessOrEqual(t, len(failed), 11, "once a minute")
		for _, name := range []string{`\"a\"`, `\"b\"`, `\"c\"`} {
			require.Contains(t, failed[0], "database "+name+":")
		}
		createDatabase(t, server, "c")
		p.want(twoRows...)
	})
}

// on_fatal: stop ends the stream once no database is left.
func TestMany_StopsWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "a", "b")
		var why error
		p := startPipeline(t, server, settings{fields: "database_names: [ a, b ]\non_fatal: stop\npoll_interval: 5s", onStop: func(err error) { why = err }})
		p.awaitCount("a", 2)
		p.awaitCount("b", 2)
		sqlExec(t, server, "USE a\nEXEC sys.sp_cdc_disable_db")
		<-time.After(10 * time.Minute)
		changeIn(t, server, "b", inserts(10, 12))
		p.awaitCount("b", 4)
		require.NoError(t, why)
		sqlExec(t, server, "USE b\nEXEC sys.sp_cdc_disable_db")
		err := <-p.ended
		p.ended <- err
		require.NoError(t, err)
		require.ErrorContains(t, why, `"a"`)
		require.ErrorContains(t, why, `"b"`)
	})
}

// Whatever all databases suffer at once, all come back.
func TestMany_ServerRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		p := startPipeline(t, server, settings{fields: threeDatabases("")})
		for _, name := range three {
			p.awaitCount(name, 2)
		}
		p.next(6)
		refuse := server.Control(simulator.Fault{On: "login", App: "sqlserver-cdc", Keep: true, Do: simulator.Cut()})
		server.Restart()
		for _, name := range three {
			changeIn(t, server, name, inserts(10, 13))
		}
		<-time.After(10 * time.Minute)
		require.Empty(t, p.rest())
		refuse.Remove()
		for _, name := range three {
			p.awaitCount(name, 3)
			require.Equal(t, rowsOf(10, 13), shorts(ofDatabase(p.rest(), name)))
		}
		require.NotContains(t, p.logs.String(), "Cannot go on")
	})
}

// A process that dies after any number of messages goes on, in each database,
// right behind what was acknowledged.
func TestMany_RestartAfterEveryPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		fields := threeDatabases("snapshot_mode: no_data\nmax_batch_size: 2\npoll_interval: 5s")
		origin := newStore()
		p := startPipeline(t, server, settings{fields: fields, store: origin})
		<-time.After(20 * time.Second)
		p.stop()
		const each = 5
		for _, name := range three {
			changeIn(t, server, name, inserts(10, 10+each))
		}
		for n := range race.Every(3*each, 4) {
			accepted, left := crash(t, server, settings{fields: fields, store: origin.copyOf()}, n)
			p := startPipeline(t, server, settings{fields: fields, store: left})
			<-time.After(time.Minute)
			p.stop()
			for _, name := range three {
				all := slices.Concat(ofDatabase(accepted, name), ofDatabase(p.rest(), name))
				require.Equal(t, rowsOf(10, 10+each), shorts(all), "database %s after %d messages", name, len(accepted))
			}
		}
	})
}

// linesWith are the log's lines that contain a text.
func linesWith(p *pipeline, part string) []string {
	var out []string
	for line := range strings.Lines(p.logs.String()) {
		if strings.Contains(line, part) {
			out = append(out, line)
		}
	}
	return out
}

// The same inside the snapshots.
func TestMany_RestartInsideTheSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		const each = 4
		for _, name := range three {
			changeIn(t, server, name, "INSERT dbo.t VALUES (3, N'three'), (4, N'four')")
		}
		fields := threeDatabases("max_batch_size: 1\nsnapshot_fetch_size: 1\npoll_interval: 5s")
		for n := range race.Every(3*each, 4) {
			accepted, left := crash(t, server, settings{fields: fields, store: newStore()}, n)
			p := startPipeline(t, server, settings{fields: fields, store: left})
			<-time.After(time.Minute)
			p.stop()
			for _, name := range three {
				all := slices.Concat(ofDatabase(accepted, name), ofDatabase(p.rest(), name))
				require.Equal(t, []string{`{"id":1}`, `{"id":2}`, `{"id":3}`, `{"id":4}`}, keysOf(all), "database %s after %d messages", name, len(accepted))
				requireGrowing(t, all)
			}
		}
	})
}

// A login without a user in one database reads the others, and that one as soon
// as it is let in.
func TestMany_NoUserInOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		sqlExec(t, server, "CREATE LOGIN reader WITH PASSWORD = '"+password+"'")
		admit := func(name string) {
			sqlExec(t, server, "USE "+name+"\nCREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader")
		}
		admit("a")
		admit("c")
		p := startPipeline(t, server, settings{fields: threeDatabases("user: reader")})
		<-time.After(5*time.Minute + betweenAttempts)
		require.Len(t, p.rest(), 4)
		require.Equal(t, 1, countLines(p, "Cannot go on (login)"), "log:\n%s", p.logs)
		require.Contains(t, p.logs.String(), "database_names")
		admit("b")
		p.awaitCount("b", 2)
		require.Len(t, p.rest(), 6)
		require.Equal(t, 1, countLines(p, "Going on: login is cured"))
	})
}
