package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// With skip a table that fell behind retention is read on from what is left,
// no other table loses anything, and what was skipped is told once and stored.
func TestRetention_Skip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := historyServer(t)
		change(t, server, "CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "u"))
		s := settings{fields: noData + "retention_gap_policy: skip", store: newStore()}
		p := startPipeline(t, server, s)
		require.Empty(t, p.settled())
		p.stop()

		change(t, server, "INSERT dbo.t VALUES (4)\nINSERT dbo.u VALUES (1)")
		<-time.After(time.Minute)
		change(t, server, "INSERT dbo.t VALUES (5)\nINSERT dbo.u VALUES (2)")
		sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_t', "+commitOf(t, server, "5")+", 5000")

		fails := s
		fails.store, fails.fields = s.store.copyOf(), noData
		p = startPipeline(t, server, fails)
		p.want(`c dbo.u {"id":1}`, `c dbo.u {"id":2}`)
		p.quiet()
		assert.Contains(t, p.logs.String(), "Table dbo.t is held")
		assert.Contains(t, p.logs.String(), "(retention_gap)")
		p.stop()

		p = startPipeline(t, server, s)
		require.ElementsMatch(t, []string{`c dbo.u {"id":1}`, `c dbo.t {"id":5}`, `c dbo.u {"id":2}`}, shorts(p.next(3)))
		p.quiet()
		const said = "Changes were cleaned up before they were read and are skipped"
		assert.Equal(t, 1, strings.Count(p.logs.String(), said))
		assert.Contains(t, p.logs.String(), "level=ERROR")
		p.stop()
		fifth := strings.ToLower(commitOf(t, server, "5")[2:])
		assert.Contains(t, string(s.store.values["server1.db.instances.a"])+string(s.store.values["server1.db.instances.b"]),
			`"to":"`+fifth[:8]+":"+fifth[8:16]+":"+fifth[16:]+`"`)

		change(t, server, "INSERT dbo.t VALUES (6)")
		p = startPipeline(t, server, s)
		p.want(`c dbo.t {"id":6}`)
		assert.NotContains(t, p.logs.String(), said)
	})
}

// lowOf returns the lowest LSN that a capture instance holds.
func lowOf(t *testing.T, server *simulator.Server, instance string) string {
	t.Helper()
	sets, err := server.Query("USE db\nSELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn(N'" + instance + "'), 1)")
	require.NoError(t, err)
	return sets[len(sets)-1].Rows[0][0].Str()
}

// Ten days in which a table never changes, and for the first five the whole
// database, with the cleanup of every night at a retention of three days: no
// restart finds a gap (airbytehq/airbyte#37772, debezium/debezium#6663), and the
// position has moved with no message.
func TestCases_IdleForTenDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nCREATE TABLE dbo.idle (id int NOT NULL PRIMARY KEY)\n"+
			"INSERT dbo.idle VALUES (1)\n"+enable("dbo", "t")+enable("dbo", "idle")+
			"EXEC sys.sp_cdc_change_job N'capture', @pollinginterval = 3600")
		server.StopAgent()
		server.StartAgent()
		lowest := lowOf(t, server, "dbo_idle")
		s := settings{store: newStore(), fields: "poll_interval: 1h"}
		p := startPipeline(t, server, s)
		p.want(`r dbo.idle {"id":1}`)
		before := string(s.store.copyOf().values["server1.db.position.a"])
		for day := range 10 {
			<-time.After(24 * time.Hour)
			switch {
			case day == 4:
				require.Greater(t, lowOf(t, server, "dbo_idle"), lowest, "the cleanup job has run")
				assert.NotEqual(t, before, string(s.store.copyOf().values["server1.db.position.a"]))
				p.stop()
				p = startPipeline(t, server, s)
			case day > 4:
				sqlExec(t, server, fmt.Sprintf("USE db\nINSERT dbo.t VALUES (%d)", day))
				<-time.After(2 * time.Hour) // the capture job's pause and ours
				p.want(fmt.Sprintf(`c dbo.t {"id":%d}`, day))
			}
		}
		p.stop()
		change(t, server, "INSERT dbo.idle VALUES (2)")
		p = startPipeline(t, server, s)
		p.want(`c dbo.idle {"id":2}`)
		p.quiet()
		assert.NotContains(t, p.logs.String(), "Cannot go on")
	})
}
