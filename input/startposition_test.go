package input_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

const noData = "snapshot_mode: no_data\n"

// historyServer has three changes of dbo.t in the change table, a minute of
// virtual time between them, and no running capture job. It returns when the
// second was made.
func historyServer(t *testing.T) (*simulator.Server, time.Time) {
	t.Helper()
	server := newQuietServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
	<-time.After(5 * time.Minute)
	change(t, server, "INSERT dbo.t VALUES (1)")
	<-time.After(time.Minute)
	second := time.Now()
	change(t, server, "INSERT dbo.t VALUES (2)")
	<-time.After(time.Minute)
	change(t, server, "INSERT dbo.t VALUES (3)")
	return server, second
}

func inserted(ids ...string) (events []string) {
	for _, id := range ids {
		events = append(events, `c dbo.t {"id":`+id+`}`)
	}
	return events
}

// commitOf returns the commit LSN of the change that inserted a row.
func commitOf(t *testing.T, server *simulator.Server, id string) string {
	t.Helper()
	sets, err := server.Query("USE db\nSELECT CONVERT(varchar(22), [__$start_lsn], 1) FROM cdc.dbo_t_CT WHERE id = " + id)
	require.NoError(t, err)
	return sets[len(sets)-1].Rows[0][0].Str()
}

// Where the stream begins without a snapshot, and that no crash before the
// first event moves it (connect 97153bf28, #4691: docs said from now on, code
// replayed all retained history).
func TestCases_StartPosition(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(t *testing.T, server *simulator.Server, second time.Time) string
		old   []string
	}{
		{"by default", func(*testing.T, *simulator.Server, time.Time) string { return "" }, nil},
		{"now", func(*testing.T, *simulator.Server, time.Time) string { return "start_position: now" }, nil},
		{"earliest", func(*testing.T, *simulator.Server, time.Time) string { return "start_position: earliest" }, []string{"1", "2", "3"}},
		{"LSN as hexadecimal number", func(t *testing.T, s *simulator.Server, _ time.Time) string {
			return "start_position: '" + commitOf(t, s, "2") + "'"
		}, []string{"2", "3"}},
		{"LSN as Debezium prints it", func(t *testing.T, s *simulator.Server, _ time.Time) string {
			hex := commitOf(t, s, "3")[2:]
			return "start_position: '" + hex[:8] + ":" + hex[8:16] + ":" + hex[16:] + "'"
		}, []string{"3"}},
		{"time", func(_ *testing.T, _ *simulator.Server, second time.Time) string {
			return "start_position: '" + second.UTC().Format(time.RFC3339Nano) + "'"
		}, []string{"2", "3"}},
		{"time in another zone", func(_ *testing.T, _ *simulator.Server, second time.Time) string {
			return "start_position: '" + second.Add(time.Second).In(time.FixedZone("", 8*3600)).Format(time.RFC3339Nano) + "'"
		}, []string{"3"}},
		{"time after the newest", func(*testing.T, *simulator.Server, time.Time) string {
			return "start_position: '" + time.Now().UTC().Add(time.Second).Format(time.RFC3339Nano) + "'"
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, second := historyServer(t)
				fields := noData + test.start(t, server, second)
				kept := newStore()
				p := startPipeline(t, server, settings{fields: fields, store: kept, output: func(context.Context, []received) error { return errRejected }})
				<-time.After(settle)
				crashed := kept.copyOf()
				p.stop()

				change(t, server, "INSERT dbo.t VALUES (4)")
				p = startPipeline(t, server, settings{fields: fields, store: crashed})
				p.want(inserted(append(test.old, "4")...)...)
				p.quiet()
			})
		})
	}
}

// A time means the same wherever the server's clock stands
// (apache/seatunnel#10428: eight hours off).
func TestCases_StartTimeInAnotherZone(t *testing.T) {
	for _, version := range []string{"", "2019"} {
		t.Run("version "+version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := viennaServer(t, version)
				<-time.After(5 * time.Minute)
				change(t, server, "INSERT dbo.t VALUES (1)")
				<-time.After(30 * time.Minute)
				from := time.Now()
				change(t, server, "INSERT dbo.t VALUES (2)")
				p := startPipeline(t, server, settings{fields: noData + "start_position: '" + from.UTC().Format(time.RFC3339Nano) + "'"})
				p.want(inserted("2")...)
				p.quiet()
			})
		})
	}
}

// With earliest each table begins where its change table does.
func TestCases_EarliestOfSeveralTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := historyServer(t)
		cleanup(t, server)
		change(t, server, "CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "u")+"INSERT dbo.t VALUES (4)")
		change(t, server, "INSERT dbo.u VALUES (1)")
		p := startPipeline(t, server, settings{fields: noData + "start_position: earliest"})
		p.want(`c dbo.t {"id":3}`, `c dbo.t {"id":4}`, `c dbo.u {"id":1}`)
		p.quiet()
	})
}

// cleanup takes the changes of dbo.t before the one that inserted row 3.
func cleanup(t *testing.T, server *simulator.Server) {
	t.Helper()
	sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_t', "+commitOf(t, server, "3")+", 5000")
}

// A start outside what the change tables hold is an error that says what they
// do, and it is never taken for another.
func TestCases_StartPositionNotHeld(t *testing.T) {
	const heldFromThird = "; held are changes from THIRD"
	for _, test := range []struct {
		name  string
		start func(t *testing.T, server *simulator.Server, second time.Time) string
		want  string
	}{
		{"LSN cleaned away", func(t *testing.T, s *simulator.Server, _ time.Time) string {
			second := commitOf(t, s, "2")
			cleanup(t, s)
			return second
		}, "lies before all that the change tables hold" + heldFromThird},
		{"LSN of one table cleaned away", func(t *testing.T, s *simulator.Server, _ time.Time) string {
			second := commitOf(t, s, "2")
			change(t, s, "CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "u"))
			cleanup(t, s)
			sqlExec(t, s, "USE db\nUPDATE cdc.change_tables SET start_lsn = "+second+" WHERE capture_instance = N'dbo_u'")
			return second
		}, `lies before what is left of capture instance \"dbo_t\" of table db.dbo.t` + heldFromThird},
		{"time cleaned away", func(t *testing.T, s *simulator.Server, second time.Time) string {
			cleanup(t, s)
			return second.UTC().Format(time.RFC3339Nano)
		}, "lies before all that the change tables hold" + heldFromThird},
		{"LSN not reached", func(*testing.T, *simulator.Server, time.Time) string { return "0xFFFFFFFF000000000000" }, "lies after the newest captured LSN"},
		{"time not reached", func(*testing.T, *simulator.Server, time.Time) string { return "2999-01-01T00:00:00Z" }, "lies in the future"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, second := historyServer(t)
				third := strings.ToLower(commitOf(t, server, "3")[2:])
				start := test.start(t, server, second)
				p := startPipeline(t, server, settings{fields: noData + "start_position: '" + start + "'"})
				p.quiet()
				assert.Contains(t, p.logs.String(), "Cannot go on (start_position)")
				assert.Contains(t, p.logs.String(), strings.Replace(test.want, "THIRD", third[:8]+":"+third[8:16]+":"+third[16:], 1))
			})
		})
	}
}

// The start that is stored holds for the process that stored it too: a
// connection lost before the first message does not move it.
func TestCases_StartOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := historyServer(t)
		kept := newStore()
		var refused *simulator.ArmedFault
		kept.onSet = func(_ context.Context, key string, _ []byte) error {
			if strings.HasSuffix(key, ".snapshot.b") && refused == nil {
				refused = server.Control(simulator.Fault{App: "sqlserver-cdc", Keep: true, Do: simulator.Cut()})
			}
			return nil
		}
		p := startPipeline(t, server, settings{fields: noData, store: kept})
		<-time.After(settle)
		require.Positive(t, refused.Fired())
		change(t, server, "INSERT dbo.t VALUES (4)")
		refused.Remove()
		p.want(inserted("4")...)
		p.quiet()
	})
}

// A table that was enabled after the newest captured LSN holds no change before
// what is captured next: that is the earliest there is.
func TestStartPosition_EarliestAheadOfTheCaptureJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, "")
		sqlExec(t, server, "USE db\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t")+"INSERT dbo.t VALUES (1)")
		p := startPipeline(t, server, settings{fields: noData + "start_position: earliest"})
		<-time.After(time.Minute)
		assert.NotContains(t, p.logs.String(), "Cannot go on")
		require.NoError(t, server.CaptureNow("db"))
		p.want(`c dbo.t {"id":1}`)
	})
}
