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

const managed = "capture_instances: manage\n"

// instancesOf lists the capture instances of a table, the oldest first.
func instancesOf(t *testing.T, server *simulator.Server, table string) (names []string) {
	t.Helper()
	results, err := server.Query("USE db\nGO\nSELECT capture_instance FROM cdc.change_tables WHERE source_object_id = OBJECT_ID(N'" + table + "') ORDER BY create_date, object_id")
	require.NoError(t, err)
	for _, row := range results[0].Rows {
		names = append(names, row[0].Str())
	}
	return names
}

// generations turns the names of instances into what tests compare: the number
// of one that the input made.
func generations(names []string) []string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = name
		if at := strings.LastIndex(name, "_"); strings.Contains(name, "_m") {
			short[i] = "made " + name[at+1:]
		}
	}
	return short
}

// A column that is added while changes are read is in the events as soon as the
// input has made an instance with it. The instance of a person stays, and says
// so when it is in the way; one that the input has made goes.
func TestManage_ColumnsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int)\nINSERT dbo.t VALUES (1, 1)\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{fields: managed + "include_schema_changes: true\npoll_interval: 10s"})
		defer p.stop()
		p.next(1)
		p.want(`r dbo.t {"id":1,"a":1}`)

		change(t, server, "ALTER TABLE dbo.t ADD b int NULL\nGO\nINSERT dbo.t VALUES (2, 2, 2)")
		p.want(`c dbo.t {"id":2,"a":2}`)
		<-time.After(time.Minute)
		require.Equal(t, []string{"dbo_t", "made 1"}, generations(instancesOf(t, server, "dbo.t")))
		change(t, server, "INSERT dbo.t VALUES (3, 3, 3)")
		assert.Equal(t, "schema_change", p.next(1)[0].Kind)
		p.want(`c dbo.t {"id":3,"a":3,"b":3}`)
		<-time.After(time.Minute)
		assert.Contains(t, p.logs.String(), "EXEC sys.sp_cdc_enable_table")
		assert.Equal(t, 1, strings.Count(p.logs.String(), "change data capture has no values of the columns"), "%s", p.logs)
		assert.Equal(t, []string{"dbo_t", "made 1"}, generations(instancesOf(t, server, "dbo.t")), "somebody else may read it")

		change(t, server, "ALTER TABLE dbo.t ADD c int NULL")
		<-time.After(time.Minute)
		assert.Equal(t, 1, strings.Count(p.logs.String(), "there is no room for another"))
		assert.NotContains(t, p.logs.String(), "make a second instance with")
		change(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'")
		<-time.After(time.Minute)
		require.Equal(t, []string{"made 1", "made 2"}, generations(instancesOf(t, server, "dbo.t")))
		change(t, server, "INSERT dbo.t VALUES (4, 4, 4, 4)")
		assert.Equal(t, "schema_change", p.next(1)[0].Kind)
		p.want(`c dbo.t {"id":4,"a":4,"b":4,"c":4}`)
		<-time.After(time.Minute)
		require.Equal(t, []string{"made 2"}, generations(instancesOf(t, server, "dbo.t")))

		change(t, server, "ALTER TABLE dbo.t DROP COLUMN b\nGO\nINSERT dbo.t VALUES (5, 5, 5)")
		p.want(`c dbo.t {"id":5,"a":5,"b":null,"c":5}`)
		<-time.After(time.Minute)
		change(t, server, "INSERT dbo.t VALUES (6, 6, 6)")
		assert.Equal(t, "schema_change", p.next(1)[0].Kind)
		p.want(`c dbo.t {"id":6,"a":6,"c":6}`)
		<-time.After(time.Minute)
		require.Equal(t, []string{"made 3"}, generations(instancesOf(t, server, "dbo.t")))
		p.quiet()
	})
}

// That values of new columns were not recorded is said once by each start, for as
// long as the older instance is there: a new log tells what the old one did.
func TestManage_MissingValuesAreSaidByEachStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
		s := settings{store: newStore(), fields: managed + noData + "poll_interval: 10s"}
		said := func(p *pipeline) int {
			return strings.Count(p.logs.String(), "change data capture has no values of the columns \\\"b\\\"")
		}
		p := startPipeline(t, server, s)
		<-time.After(time.Minute)
		change(t, server, "ALTER TABLE dbo.t ADD b int NULL\nGO\nINSERT dbo.t VALUES (1, 1)")
		p.want(`c dbo.t {"id":1}`)
		<-time.After(time.Minute)
		assert.Equal(t, 1, said(p), "%s", p.logs)
		p.stop()
		for range 2 {
			p = startPipeline(t, server, s)
			<-time.After(5 * time.Minute)
			assert.Equal(t, 1, said(p), "%s", p.logs)
			p.stop()
		}
		change(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'")
		p = startPipeline(t, server, s)
		<-time.After(5 * time.Minute)
		assert.Zero(t, said(p), "%s", p.logs)
		p.stop()
	})
}

// Tables that lists name get an instance before the snapshot, or when they are
// made; no others do, and none at all without lists.
func TestManage_TablesWithoutInstance(t *testing.T) {
	const tables = "CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY)\nCREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY)\nINSERT dbo.a VALUES (1)\nINSERT dbo.b VALUES (1)\n"
	t.Run("named", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := newServer(t, tables)
			p := startPipeline(t, server, settings{fields: managed + "table_include_list: [ 'dbo\\.[ac]' ]\npoll_interval: 10s"})
			defer p.stop()
			p.want(`r dbo.a {"id":1}`)
			change(t, server, "INSERT dbo.a VALUES (2)\nINSERT dbo.b VALUES (2)\nCREATE TABLE dbo.c (id int NOT NULL PRIMARY KEY)")
			p.want(`c dbo.a {"id":2}`)
			<-time.After(time.Minute)
			change(t, server, "INSERT dbo.c VALUES (1)")
			p.want(`c dbo.c {"id":1}`)
			assert.Equal(t, []string{"made 1"}, generations(instancesOf(t, server, "dbo.a")))
			assert.Empty(t, instancesOf(t, server, "dbo.b"))
			p.quiet()
		})
	})
	t.Run("not named", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := newServer(t, tables)
			p := startPipeline(t, server, settings{fields: managed + `table_exclude_list: [ 'dbo\.b' ]`})
			defer p.stop()
			p.logged("(no_tables)")
			assert.Empty(t, instancesOf(t, server, "dbo.a"))
		})
	})
}

// The connection is lost before the answer to a statement came, and the pipeline
// is killed with it: nothing is missing, and what is to be made and dropped is,
// once. Other statements, and those that did not run: see package manage.
func TestManage_CrashAtStatement(t *testing.T) {
	for on, nth := range map[string]int{"exec:sp_cdc_enable_table": 2, "exec:sp_cdc_disable_table": 1} {
		t.Run(on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { crashWhileManaging(t, on, nth) })
		})
	}
}

func crashWhileManaging(t *testing.T, on string, nth int) {
	server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nCREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "u"))
	kept := newStore()
	config := settings{fields: managed + "table_include_list: [ 'dbo\\..*' ]\npoll_interval: 10s", store: kept}
	armed := server.Control(simulator.Fault{On: on, Nth: nth, AfterBytes: 1, Do: simulator.Cut()})
	p := startPipeline(t, server, config)
	defer func() { p.stop() }()
	var all []received
	restarted := false
	write := func(columns string) {
		change(t, server, "INSERT dbo.t VALUES ("+columns+")")
		<-time.After(time.Minute)
		if armed.Fired() > 0 && !restarted {
			all = append(all, p.everything()...)
			config.store = config.store.copyOf()
			p.stop()
			p, restarted = startPipeline(t, server, config), true
			<-time.After(time.Minute)
		}
	}
	<-time.After(time.Minute)
	require.Equal(t, []string{"made 1"}, generations(instancesOf(t, server, "dbo.t")))
	write("1")
	for i, column := range []string{"a", "b"} {
		change(t, server, "ALTER TABLE dbo.t ADD "+column+" int NULL")
		<-time.After(time.Minute)
		write(fmt.Sprint(i+2) + strings.Repeat(", 7", i+1))
		write(fmt.Sprint(i+12) + strings.Repeat(", 7", i+1))
	}
	require.Equal(t, 1, armed.Fired())
	all = append(all, p.everything()...)
	assert.Equal(t, []string{
		`c dbo.t {"id":1}`, `c dbo.t {"id":2,"a":7}`, `c dbo.t {"id":12,"a":7}`, `c dbo.t {"id":3,"a":7,"b":7}`, `c dbo.t {"id":13,"a":7,"b":7}`,
	}, shorts(lastDeliveries(all)))
	assert.Equal(t, []string{"made 3"}, generations(instancesOf(t, server, "dbo.t")))
	assert.Equal(t, []string{"dbo_u"}, instancesOf(t, server, "dbo.u"))
}

// Without the right to make instances they are followed, and a warning says once
// which right is missing.
func TestManage_Denied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nCREATE TABLE dbo.u (id int)\nINSERT dbo.t VALUES (1)\n"+enable("dbo", "t")+
			"CREATE LOGIN reader WITH PASSWORD = '"+password+"', CHECK_POLICY = OFF\nCREATE USER reader FOR LOGIN reader\n"+
			"GRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader")
		p := startPipeline(t, server, settings{fields: managed + "user: reader\npoll_interval: 10s\ntable_include_list: [ 'dbo\\..*' ]"})
		defer p.stop()
		p.want(`r dbo.t {"id":1}`)
		change(t, server, "ALTER TABLE dbo.t ADD a int NULL")
		<-time.After(10 * time.Minute)
		assert.Equal(t, 1, strings.Count(p.logs.String(), "run ALTER ROLE db_owner ADD MEMBER [reader]"))
		assert.NotContains(t, p.logs.String(), "EXEC sys.sp_cdc_enable_table")
		assert.Equal(t, 1, countLines(p, "make a second instance with"))
		change(t, server, enableAs("dbo", "t", "second")+"INSERT dbo.t VALUES (2, 2)")
		p.want(`c dbo.t {"id":2,"a":2}`)
		change(t, server, "ALTER ROLE db_owner ADD MEMBER reader")
		<-time.After(6 * time.Minute)
		assert.Len(t, instancesOf(t, server, "dbo.u"), 1, "the right has been granted")
	})
}

// A table that somebody keeps locked is left alone; others, and the stream, go on.
func TestManage_BusyTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables+enable("dbo", "a")+enable("dbo", "b"))
		p := startPipeline(t, server, settings{fields: managed + "snapshot_mode: no_data\npoll_interval: 10s"})
		defer p.stop()
		<-time.After(time.Minute + 2*time.Second) // between two looks
		sqlExec(t, server, "USE db\nALTER TABLE dbo.a ADD w int NULL\nALTER TABLE dbo.b ADD w int NULL")
		writer := connect(t, server)
		defer writer.Close()
		run := func(text string) { require.NoError(t, writer.Exec(t.Context(), text)) }
		run("BEGIN TRANSACTION; UPDATE dbo.a SET v = 5 WHERE id = 1")
		<-time.After(3 * time.Minute)
		assert.Equal(t, []string{"dbo_a"}, generations(instancesOf(t, server, "dbo.a")))
		assert.Equal(t, []string{"dbo_b", "made 1"}, generations(instancesOf(t, server, "dbo.b")))
		change(t, server, "INSERT dbo.b VALUES (4, 4, 4)")
		p.want(`c dbo.b {"id":4,"v":4,"w":4}`)
		run("COMMIT")
		p.want(`u dbo.a {"id":1,"v":5}`)
		<-time.After(6 * time.Minute)
		assert.Equal(t, []string{"dbo_a", "made 1"}, generations(instancesOf(t, server, "dbo.a")))
		change(t, server, "INSERT dbo.a VALUES (4, 4, 4)")
		p.want(`c dbo.a {"id":4,"v":4,"w":4}`)
		p.quiet()
	})
}

// Two inputs that manage the same table make one instance, which both read; none
// drops what the other has made.
func TestManage_TwoInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n")
		fields := managed + "table_include_list: [ 'dbo\\..*' ]\npoll_interval: 10s"
		p := startPipeline(t, server, settings{fields: fields})
		defer p.stop()
		q := startPipeline(t, server, settings{fields: fields + "\ntopic_prefix: other"})
		defer q.stop()
		<-time.After(time.Minute)
		for i, columns := range []string{"", ", 1", ", 1, 1"} {
			if i > 0 {
				change(t, server, fmt.Sprintf("ALTER TABLE dbo.t ADD c%d int NULL", i))
				<-time.After(2 * time.Minute)
			}
			assert.LessOrEqual(t, len(instancesOf(t, server, "dbo.t")), 2)
			change(t, server, fmt.Sprintf("INSERT dbo.t VALUES (%d%s)", i, columns))
			assert.Equal(t, shorts(p.next(1)), shorts(q.next(1)))
		}
		p.quiet()
		q.quiet()
		assert.NotContains(t, p.logs.String()+q.logs.String(), "Cannot go on")
	})
}

// A second instance is like the first, also in what it leaves out.
func TestManage_LikeTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, secret int, v int)\nCREATE UNIQUE INDEX ix ON dbo.t (id)\n"+
			"EXEC sys.sp_cdc_enable_table N'dbo', N't', @capture_instance = N'by hand', @role_name = N'gate', @supports_net_changes = 1, @index_name = N'ix', @captured_column_list = N'id, v'\n")
		p := startPipeline(t, server, settings{fields: managed + "snapshot_mode: no_data\npoll_interval: 10s"})
		defer p.stop()
		<-time.After(time.Minute)
		require.Equal(t, []string{"by hand"}, instancesOf(t, server, "dbo.t"))
		change(t, server, "ALTER TABLE dbo.t ADD w int NULL")
		<-time.After(time.Minute)
		require.Equal(t, []string{"by hand", "made 1p"}, generations(instancesOf(t, server, "dbo.t")))
		results, err := server.Query("USE db\nGO\nSELECT role_name, index_name, CONVERT(int, supports_net_changes) FROM cdc.change_tables")
		require.NoError(t, err)
		assert.Equal(t, results[0].Rows[0], results[0].Rows[1])
		change(t, server, "INSERT dbo.t VALUES (1, 2, 3, 4)")
		p.want(`c dbo.t {"id":1,"v":3,"w":4}`)
		p.quiet()
	})
}

// What a person does to instances is left alone: one that was disabled, as
// TRUNCATE TABLE asks for, is not enabled again, and other tables go on.
func TestManage_DisabledByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables)
		p := startPipeline(t, server, settings{fields: managed + "snapshot_mode: no_data\npoll_interval: 10s\ntable_include_list: [ 'dbo\\..*' ]", store: newStore()})
		defer p.stop()
		<-time.After(time.Minute)
		name := instancesOf(t, server, "dbo.a")
		require.Len(t, name, 1)
		change(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N'a', N'"+name[0]+"'")
		<-time.After(10 * time.Minute)
		assert.Empty(t, instancesOf(t, server, "dbo.a"))
		assert.Contains(t, p.logs.String(), "somebody has disabled it; to have one, run EXEC sys.sp_cdc_enable_table")
		change(t, server, "TRUNCATE TABLE dbo.a\nINSERT dbo.b VALUES (4, 4)")
		p.want(`c dbo.b {"id":4,"v":4}`)
	})
}

// A name that may not be read is not made.
func TestManage_InstanceIncludeList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{fields: managed + "snapshot_mode: no_data\npoll_interval: 10s\ncapture_instance_include_list: [ 'dbo_t' ]"})
		defer p.stop()
		<-time.After(time.Minute)
		change(t, server, "ALTER TABLE dbo.t ADD w int NULL")
		<-time.After(time.Minute)
		assert.Equal(t, []string{"dbo_t"}, instancesOf(t, server, "dbo.t"))
		assert.Equal(t, 1, strings.Count(p.logs.String(), "let capture_instance_include_list match it"))
	})
}

// An output that takes nothing does not keep the instance of a new column from
// being made: later its values could not be had.
func TestManage_SlowOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
		kept, output := newStore(), newGate(1)
		fields := managed + "snapshot_mode: no_data\npoll_interval: 10s\nmax_batch_size: 1\nmax_queue_size: 2\ncheckpoint_limit: 1"
		p := startPipeline(t, server, settings{fields: fields, store: kept, output: output.write})
		<-time.After(time.Minute)
		change(t, server, "INSERT dbo.t VALUES (1)\nINSERT dbo.t VALUES (2)\nINSERT dbo.t VALUES (3)\nINSERT dbo.t VALUES (4)\nINSERT dbo.t VALUES (5)\nINSERT dbo.t VALUES (6)")
		output.wait(t, p)
		<-time.After(10 * time.Minute)
		change(t, server, "ALTER TABLE dbo.t ADD v int NULL")
		<-time.After(time.Minute)
		change(t, server, "INSERT dbo.t VALUES (7, 7)")
		left := kept.copyOf()
		p.stop()

		p = startPipeline(t, server, settings{fields: fields, store: left})
		defer p.stop()
		p.want(`c dbo.t {"id":2}`, `c dbo.t {"id":3}`, `c dbo.t {"id":4}`, `c dbo.t {"id":5}`, `c dbo.t {"id":6}`, `c dbo.t {"id":7,"v":7}`)
	})
}
