package input_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In function mode a login needs no right on any change table: SELECT on the
// tables and membership in the gating roles are enough. Without, the instance
// and the role are named.
func TestFunctionMode_GatingRoles(t *testing.T) {
	const login = "CREATE LOGIN reader WITH PASSWORD = '" + password + "', CHECK_POLICY = OFF\nCREATE USER reader FOR LOGIN reader\n" +
		"GRANT SELECT ON cdc.change_tables TO reader\nGRANT SELECT ON cdc.captured_columns TO reader\nGRANT SELECT ON cdc.ddl_history TO reader\n" +
		"GRANT SELECT ON dbo.a TO reader\nGRANT SELECT ON dbo.b TO reader\n"
	const gated = "EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = N'b readers'\n"
	for _, test := range []struct{ name, grants, fields, says string }{
		{"function", "ALTER ROLE [b readers] ADD MEMBER reader", "data_query_mode: function", ""},
		{"outside the role", "", "data_query_mode: function", "ALTER ROLE [b readers] ADD MEMBER"},
		{"change tables can be seen, not read", "ALTER ROLE [b readers] ADD MEMBER reader GRANT VIEW DEFINITION ON SCHEMA::cdc TO reader", "data_query_mode: function", ""},
		{"direct", "ALTER ROLE [b readers] ADD MEMBER reader", "", "dbo_a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+enable("dbo", "a")+gated+login+test.grants)
				p := startPipeline(t, server, settings{fields: "user: reader\nsnapshot_mode: no_data\n" + test.fields})
				defer p.stop()
				<-time.After(time.Minute)
				change(t, server, "INSERT dbo.a VALUES (21, 0)\nINSERT dbo.b VALUES (22, 0)\nUPDATE dbo.b SET v = 1 WHERE id = 22")
				if test.says != "" {
					p.logged("(permission)")
					assert.Contains(t, p.logs.String(), test.says)
					return
				}
				p.want(`c dbo.a {"id":21,"v":0}`, `c dbo.b {"id":22,"v":0}`, `u dbo.b {"id":22,"v":1}`)
				change(t, server, "ALTER TABLE dbo.b DROP COLUMN v")
				change(t, server, "INSERT dbo.b VALUES (23)\nINSERT dbo.a VALUES (24, 1)")
				rows := p.next(2)
				assert.Equal(t, `c dbo.a {"id":24,"v":1}`, rows[1].String())
				assert.Equal(t, "23", string(open(t, rows[0]).After["id"]))
			})
		})
	}
}

// A right taken away while running is said, and reading goes on behind the last
// event once it is back.
func TestFunctionMode_RoleTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, pagedTables+"EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = N'readers'\n"+
			"CREATE LOGIN reader WITH PASSWORD = '"+password+"', CHECK_POLICY = OFF\nCREATE USER reader FOR LOGIN reader\n"+
			"GRANT SELECT ON SCHEMA::cdc TO reader\nGRANT SELECT ON dbo.a TO reader\nALTER ROLE readers ADD MEMBER reader\n")
		p := startPipeline(t, server, settings{fields: "user: reader\nsnapshot_mode: no_data\ndata_query_mode: function"})
		defer p.stop()
		<-time.After(time.Minute)
		change(t, server, "INSERT dbo.a VALUES (21, 0)")
		p.want(`c dbo.a {"id":21,"v":0}`)
		sqlExec(t, server, "USE db\nALTER ROLE readers DROP MEMBER reader")
		change(t, server, "INSERT dbo.a VALUES (22, 0)")
		p.logged("(permission)")
		require.Empty(t, p.rest())
		sqlExec(t, server, "USE db\nALTER ROLE readers ADD MEMBER reader")
		p.want(`c dbo.a {"id":22,"v":0}`)
	})
}
