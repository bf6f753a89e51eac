package input_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// logged waits until the stream has logged a text.
func (p *pipeline) logged(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(p.logs.String(), text); {
		require.True(p.t, time.Now().Before(deadline), "%q is not logged; log:\n%s", text, p.logs)
		<-time.After(time.Second)
	}
}

const pagedTables = `
CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY, v int)
CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY, v int)
INSERT dbo.a VALUES (1, 1), (2, 2), (3, 3)
INSERT dbo.b VALUES (1, 1), (2, 2), (3, 3)
`

const cleanUp = `
DECLARE @mark binary(10) = sys.fn_cdc_get_max_lsn()
EXEC sys.sp_cdc_cleanup_change_table N'dbo_a', @mark
EXEC sys.sp_cdc_cleanup_change_table N'dbo_b', @mark
`

// What happens to capture instances while a snapshot is interrupted.
func TestRestart_InstancesDuringTheSnapshot(t *testing.T) {
	const fields = "max_batch_size: 1\nsnapshot_fetch_size: 1"
	reenable := func(table string) string {
		return fmt.Sprintf("EXEC sys.sp_cdc_disable_table N'dbo', N'%s', N'all'\n", table) + enable("dbo", table)
	}
	for _, test := range []struct {
		name    string
		harm    []string // one after the other, each captured
		problem string   // none: the stream goes on
	}{
		{"changes of a row that was read are cleaned away", []string{"UPDATE dbo.a SET v = 10 WHERE id = 1", "INSERT dbo.b VALUES (4, 4)", cleanUp}, "retention_gap"},
		{"a table that was read is enabled anew", []string{"UPDATE dbo.a SET v = 10 WHERE id = 1", reenable("a")}, "instance_replaced"},
		{"a table that was not read is enabled anew", []string{"UPDATE dbo.b SET v = 10 WHERE id = 1", reenable("b")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+enable("dbo", "a")+enable("dbo", "b"))
				accepted, left := crash(t, server, settings{fields: fields, store: newStore()}, 2)
				require.Equal(t, []string{`r dbo.a {"id":1,"v":1}`, `r dbo.a {"id":2,"v":2}`}, shorts(accepted))
				for _, script := range test.harm {
					change(t, server, script)
				}
				p := startPipeline(t, server, settings{fields: fields, store: left})
				defer p.stop()
				if test.problem != "" {
					p.logged("(" + test.problem + ")")
					return
				}
				p.want(`r dbo.a {"id":3,"v":3}`, `r dbo.b {"id":1,"v":10}`, `r dbo.b {"id":2,"v":2}`, `r dbo.b {"id":3,"v":3}`)
				change(t, server, "INSERT dbo.b VALUES (5, 5)")
				p.want(`c dbo.b {"id":5,"v":5}`)
			})
		})
	}
}

// The rows of a snapshot have the columns that the changes after it have, also
// if the newer instance begins after the last LSN that is captured.
func TestSnapshot_ShapeOfTheStream(t *testing.T) {
	for name, captured := range map[string]bool{"the newer instance covers the start": true, "the newer instance begins later": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int)\nINSERT dbo.t VALUES (1, 1)\n"+enable("dbo", "t"))
				change(t, server, "ALTER TABLE dbo.t ADD w int NULL")
				sqlExec(t, server, "USE db\n"+enableAs("dbo", "t", "second"))
				if captured {
					change(t, server, "")
				}
				p := startPipeline(t, server, settings{})
				defer p.stop()
				row := p.next(1)[0]
				change(t, server, "INSERT dbo.t VALUES (2, 2, 2)")
				assert.Equal(t, columnsOf(t, row), columnsOf(t, p.next(1)[0]))
			})
		})
	}
}

func columnsOf(t *testing.T, m received) []string {
	t.Helper()
	var envelope struct{ After map[string]any }
	require.NoError(t, json.Unmarshal([]byte(m.Value), &envelope))
	var names []string
	for name := range envelope.After {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A table that the login may not see is named, not left out.
func TestConnect_HiddenTables(t *testing.T) {
	const login = "CREATE LOGIN reader WITH PASSWORD = '" + password + "', CHECK_POLICY = OFF\nCREATE USER reader FOR LOGIN reader\n" +
		"GRANT SELECT ON cdc.change_tables TO reader\nGRANT SELECT ON cdc.captured_columns TO reader\nGRANT SELECT ON cdc.ddl_history TO reader\n" +
		"GRANT SELECT ON dbo.a TO reader\nGRANT SELECT ON cdc.dbo_a_CT TO reader\n"
	for _, test := range []struct{ name, grants, fields, says string }{
		{"table", "", "", "capture instances dbo_b"},
		{"change table", "GRANT SELECT ON dbo.b TO reader", "", `run GRANT SELECT ON [cdc].[dbo_b_CT] TO [reader]`},
		{"table, with a list", "", "table_include_list: ['dbo.a']", ""},
		{"change table, with a list", "GRANT SELECT ON dbo.b TO reader", "table_include_list: ['dbo.a']", ""},
		{"none", "GRANT SELECT ON dbo.b TO reader GRANT SELECT ON cdc.dbo_b_CT TO reader", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+enable("dbo", "a")+enable("dbo", "b")+login+test.grants)
				p := startPipeline(t, server, settings{fields: "user: reader\n" + test.fields})
				defer p.stop()
				if test.says != "" {
					p.logged("(permission)")
					assert.Contains(t, p.logs.String(), test.says)
					assert.Empty(t, p.rest())
					return
				}
				assert.Equal(t, `r dbo.a {"id":1,"v":1}`, p.next(1)[0].String())
			})
		})
	}
}

// A server that lies behind the position, and whose recovery fork is not seen, is
// waited for, and then a problem that stays one until it has caught up. Another
// server is one for good.
func TestStream_ServerBehindThePosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables+enable("dbo", "a"))
		behind := newServer(t, pagedTables+enable("dbo", "a"))
		for _, s := range []*simulator.Server{server, behind} {
			s.Control(simulator.Fault{On: "select from sys.database_recovery_status", Keep: true, Do: simulator.Fail(229, 14, 5, "The SELECT permission was denied on the object 'database_recovery_status'.")})
		}
		kept := newStore()
		p := startPipeline(t, server, settings{fields: "snapshot_mode: no_data", store: kept})
		<-time.After(time.Minute)
		for id := range 3 {
			change(t, server, fmt.Sprintf("INSERT dbo.a VALUES (%d, 0)", 10+id))
		}
		p.next(3)
		p.stop()

		change(t, behind, "INSERT dbo.a VALUES (10, 0)")
		p = startPipeline(t, behind, settings{fields: "snapshot_mode: no_data", store: kept})
		defer p.stop()
		p.logged("(position_ahead)")
		<-time.After(4 * time.Minute) // less than the capture job takes to pass the position while idle
		assert.Empty(t, p.rest())
		assert.NotContains(t, p.logs.String(), "Going on:")
	})
}

// A second instance takes the place of the first as soon as that is read to its
// end. If the output has not taken all of that, and the process dies, what it
// has not taken is gone with the first instance.
func TestRestart_InstanceReplacedAheadOfTheOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables+enable("dbo", "a"))
		kept, output := newStore(), newGate(1)
		fields := "snapshot_mode: no_data\nmax_batch_size: 1"
		p := startPipeline(t, server, settings{fields: fields, store: kept, output: output.write})
		<-time.After(time.Minute)
		change(t, server, "INSERT dbo.a VALUES (11, 0)")
		change(t, server, "INSERT dbo.a VALUES (12, 0)") // only in the first instance
		change(t, server, enableAs("dbo", "a", "second"))
		change(t, server, "INSERT dbo.a VALUES (13, 0)")
		output.wait(t, p)
		<-time.After(time.Minute)
		change(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N'a', N'dbo_a'")
		<-time.After(time.Minute)
		left := kept.copyOf()
		stored := string(left.values["server1.db.instances.a"]) + string(left.values["server1.db.instances.b"])
		require.Contains(t, stored, `"second"`, "it is read, and known to be")
		p.stop()

		p = startPipeline(t, server, settings{fields: fields, store: left})
		defer p.stop()
		p.logged("(instance_replaced)")
		assert.Empty(t, p.rest())
	})
}
