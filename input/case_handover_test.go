package input_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
)

// evolution changes a captured table twice, each time with a new instance, among
// changes of another table and in transactions over both.
var evolution = []string{
	"INSERT dbo.a VALUES (11, 0)",
	"BEGIN TRAN INSERT dbo.a VALUES (12, 0) INSERT dbo.b VALUES (12, 0) UPDATE dbo.a SET v = 1 COMMIT",
	"ALTER TABLE dbo.a ADD w int NULL",
	"INSERT dbo.a VALUES (13, 0, 0)",
	enableAs("dbo", "a", "second"),
	"BEGIN TRAN INSERT dbo.b VALUES (14, 0) INSERT dbo.a VALUES (14, 0, 14) UPDATE dbo.a SET w = 1 WHERE id > 11 COMMIT",
	"DELETE dbo.a WHERE id = 12",
}

// A process that dies at any moment around a hand-over goes on behind what was
// acknowledged, whatever was gone over to meanwhile: nothing is missing and
// nothing is repeated.
func TestHandover_AfterEveryAcknowledgedPrefix(t *testing.T) {
	for name, between := range map[string]time.Duration{"in one pass": 0, "in several": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+enable("dbo", "a")+enable("dbo", "b"))
				const fields = "snapshot_mode: no_data\nmax_batch_size: 1\npoll_interval: 5s\ninclude_schema_changes: true\nprovide_transaction_metadata: true"
				origin := newStore()
				p := startPipeline(t, server, settings{fields: fields, store: origin})
				<-time.After(20 * time.Second)
				p.next(len(p.rest())) // the structures
				start := origin.copyOf()
				for _, script := range evolution {
					sqlExec(t, server, "USE db\n"+script)
					if between > 0 {
						change(t, server, "")
						<-time.After(between)
					}
				}
				change(t, server, "")
				<-time.After(20 * time.Second)
				all := p.next(len(p.rest()))
				p.stop()
				requireGrowing(t, all)
				told := 0
				for _, m := range all {
					if m.Kind == "schema_change" {
						told++
					}
				}
				require.Equal(t, 1, told)

				for n := range race.Every(len(all), 4) {
					accepted, left := crash(t, server, settings{fields: fields, store: start.copyOf()}, n)
					require.Equal(t, rowsPlaced(all[:len(accepted)]), rowsPlaced(accepted))
					p := startPipeline(t, server, settings{fields: fields, store: left})
					rest := all[len(accepted):]
					p.next(len(rest))
					<-time.After(20 * time.Second)
					p.stop()
					require.Equal(t, rowsPlaced(rest), rowsPlaced(p.all), "after %d messages", len(accepted))
				}
			})
		})
	}
}

// rowsPlaced are messages with their positions, schema changes without: those
// show when they were read.
func rowsPlaced(messages []received) []string {
	var out []string
	for _, m := range messages {
		if m.Kind == "schema_change" {
			out = append(out, m.Position+" "+m.Kind)
			continue
		}
		out = append(out, placed([]received{m})...)
	}
	return out
}

// A rejection of the first row of the newer instance goes back behind what was
// acknowledged, and comes to the hand-over again.
func TestHandover_Rejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables+enable("dbo", "a"))
		rejections := 0
		output := func(_ context.Context, batch []received) error {
			for _, m := range batch {
				if strings.Contains(m.Value, `"id":14`) && rejections < 3 {
					rejections++
					return errors.New("not now")
				}
			}
			return nil
		}
		p := startPipeline(t, server, settings{fields: "snapshot_mode: no_data\nmax_batch_size: 1", output: output})
		defer p.stop()
		<-time.After(time.Minute)
		for _, script := range evolution {
			sqlExec(t, server, "USE db\n"+script)
		}
		change(t, server, "")
		<-time.After(time.Minute)
		require.Equal(t, 3, rejections)
		once := map[string]string{}
		for _, m := range p.rest() {
			if m.Kind == "change" {
				once[m.Position] = m.String()
			}
		}
		var rows []string
		for _, position := range slices.Sorted(maps.Keys(once)) {
			rows = append(rows, once[position])
		}
		assert.Equal(t, []string{
			`c dbo.a {"id":11,"v":0}`, `c dbo.a {"id":12,"v":0}`,
			`u dbo.a {"id":2,"v":1}`, `u dbo.a {"id":3,"v":1}`, `u dbo.a {"id":11,"v":1}`, `u dbo.a {"id":12,"v":1}`,
			`c dbo.a {"id":13,"v":0}`,
			`c dbo.a {"id":14,"v":0,"w":14}`, `u dbo.a {"id":12,"v":1,"w":1}`, `u dbo.a {"id":13,"v":0,"w":1}`, `u dbo.a {"id":14,"v":0,"w":1}`,
			`d dbo.a {"id":12,"v":1,"w":1}`,
		}, rows)
	})
}

// A newer instance that cannot be read is not gone over to until it can.
func TestHandover_NotReadable(t *testing.T) {
	const login = "CREATE LOGIN reader WITH PASSWORD = '" + password + "', CHECK_POLICY = OFF\nCREATE USER reader FOR LOGIN reader\n" +
		"GRANT SELECT ON cdc.change_tables TO reader\nGRANT SELECT ON cdc.captured_columns TO reader\nGRANT SELECT ON cdc.ddl_history TO reader\n" +
		"GRANT SELECT ON dbo.a TO reader\nGRANT SELECT ON cdc.dbo_a_CT TO reader\n"
	gated := "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'a', @role_name = N'a readers', @capture_instance = N'second'"
	for _, test := range []struct{ name, enable, fields, says, grant string }{
		{"hidden", enableAs("dbo", "a", "second"), "", "cannot be seen by the login; run GRANT SELECT ON [cdc].[second_CT] TO", "GRANT SELECT ON cdc.second_CT TO reader"},
		{"denied", enableAs("dbo", "a", "second") + "\nGRANT VIEW DEFINITION ON cdc.second_CT TO reader", "", "denied", "GRANT SELECT ON cdc.second_CT TO reader"},
		{"outside the role", gated, "data_query_mode: function", "gating role", "ALTER ROLE [a readers] ADD MEMBER reader"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+enable("dbo", "a")+login)
				p := startPipeline(t, server, settings{fields: "user: reader\nsnapshot_mode: no_data\ntable_include_list: ['dbo.a']\n" + test.fields})
				defer p.stop()
				<-time.After(time.Minute)
				change(t, server, "ALTER TABLE dbo.a ADD w int NULL")
				change(t, server, test.enable)
				change(t, server, "INSERT dbo.a VALUES (11, 0, 0)")
				p.want(`c dbo.a {"id":11,"v":0}`)
				p.logged(`there is a newer one, \"second\"`)
				assert.Contains(t, p.logs.String(), test.says)
				sqlExec(t, server, "USE db\n"+test.grant)
				<-time.After(6 * time.Minute)
				change(t, server, "INSERT dbo.a VALUES (12, 0, 0)")
				p.want(`c dbo.a {"id":12,"v":0,"w":0}`)
			})
		})
	}
}

// An instance that appears while the snapshot runs: rows and changes have the
// columns of the first one up to its beginning, those of the second from there.
func TestHandover_DuringTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables+enable("dbo", "a"))
		const fields = "max_batch_size: 1\nsnapshot_fetch_size: 1"
		accepted, left := crash(t, server, settings{fields: fields, store: newStore()}, 1)
		require.Equal(t, []string{`r dbo.a {"id":1,"v":1}`}, shorts(accepted))
		change(t, server, "UPDATE dbo.a SET v = 10 WHERE id = 1")
		change(t, server, "ALTER TABLE dbo.a ADD w int NULL")
		change(t, server, enableAs("dbo", "a", "second"))
		change(t, server, "UPDATE dbo.a SET w = 5 WHERE id = 2")
		p := startPipeline(t, server, settings{fields: fields, store: left})
		defer p.stop()
		p.want(`r dbo.a {"id":2,"v":2}`, `r dbo.a {"id":3,"v":3}`, `u dbo.a {"id":1,"v":10}`, `u dbo.a {"id":2,"v":2,"w":5}`)
	})
}

// A cleanup of the newer instance alone has the older one read for longer; one
// of both is a gap.
func TestHandover_Cleaned(t *testing.T) {
	const mark = "DECLARE @mark binary(10) = sys.fn_cdc_get_max_lsn()\n"
	for _, test := range []struct {
		name, cleanup string
		want          []string // none: a gap
	}{
		{"newer", "EXEC sys.sp_cdc_cleanup_change_table N'second', @mark", []string{`c dbo.a {"id":11,"v":0}`, `c dbo.a {"id":12,"v":0}`}},
		{"older", "EXEC sys.sp_cdc_cleanup_change_table N'dbo_a', @mark", nil},
		{"both", "EXEC sys.sp_cdc_cleanup_change_table N'dbo_a', @mark\nEXEC sys.sp_cdc_cleanup_change_table N'second', @mark", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+enable("dbo", "a"))
				const fields = "snapshot_mode: no_data"
				kept := newStore()
				p := startPipeline(t, server, settings{fields: fields, store: kept})
				<-time.After(time.Minute)
				p.stop()
				change(t, server, "ALTER TABLE dbo.a ADD w int NULL\nINSERT dbo.a (id, v) VALUES (11, 0)")
				change(t, server, enableAs("dbo", "a", "second"))
				change(t, server, "INSERT dbo.a VALUES (12, 0, 0)")
				<-time.After(time.Minute)
				change(t, server, "INSERT dbo.b VALUES (13, 0)\nCREATE TABLE dbo.x (id int NOT NULL)")
				<-time.After(6 * time.Minute) // an LSN behind all of it
				change(t, server, mark+test.cleanup)
				p = startPipeline(t, server, settings{fields: fields, store: kept})
				defer p.stop()
				if test.want == nil {
					p.logged("(retention_gap)")
					assert.Empty(t, p.rest())
					return
				}
				p.want(test.want...)
				change(t, server, "INSERT dbo.a VALUES (14, 0, 0)")
				p.want(`c dbo.a {"id":14,"v":0,"w":0}`)
			})
		})
	}
}
