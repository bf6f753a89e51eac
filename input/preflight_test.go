package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rightsTables are a plain table, one behind a gating role and one of a name
// that needs quotes; all have a row.
const rightsTables = `
CREATE TABLE dbo.plain (id int NOT NULL PRIMARY KEY, v int NULL, w int NULL)
CREATE TABLE dbo.gated (id int NOT NULL PRIMARY KEY)
CREATE TABLE dbo.[o'd]] d] (id int NOT NULL PRIMARY KEY)
INSERT dbo.plain VALUES (1, 1, 1)
INSERT dbo.gated VALUES (1)
INSERT dbo.[o'd]] d] VALUES (1)
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'plain', @role_name = NULL
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'gated', @role_name = N'gate'
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'o''d] d', @role_name = NULL
` + newReader + "CREATE USER reader FOR LOGIN reader\nGRANT VIEW DEFINITION TO reader\n"

// Everything that is missing is named in one error, in statements that grant
// it: run as they are, they are enough.
func TestPreflight_AllAtOnce(t *testing.T) {
	const (
		catalogue = "GRANT SELECT ON cdc.change_tables TO reader\nGRANT SELECT ON cdc.captured_columns TO reader\nGRANT SELECT ON cdc.ddl_history TO reader\n"
		changes   = "GRANT SELECT ON SCHEMA::cdc TO reader\n"
		sources   = "GRANT SELECT ON SCHEMA::dbo TO reader\n"
		select3   = "GRANT SELECT ON [dbo].[gated] TO [reader]; GRANT SELECT ON [dbo].[o'd]] d] TO [reader]; GRANT SELECT ON [dbo].[plain] TO [reader]"
	)
	for name, test := range map[string]struct {
		grants, fields, want string
		cure                 string // if what is said is not enough
	}{
		"nothing": {
			want: "GRANT SELECT ON SCHEMA::cdc TO [reader]; " + select3,
		},
		"nothing, changes only": {
			fields: "snapshot_mode: no_data", want: "GRANT SELECT ON SCHEMA::cdc TO [reader]",
		},
		"nothing, by functions": {
			fields: "data_query_mode: function\nsnapshot_mode: no_data\ntable_include_list: ['dbo\\.plain']",
			want:   "GRANT SELECT ON [cdc].[change_tables] TO [reader]; GRANT SELECT ON [cdc].[captured_columns] TO [reader]; GRANT SELECT ON [cdc].[ddl_history] TO [reader]; GRANT SELECT ON [dbo].[plain] TO [reader]",
		},
		"change tables and rows": {
			grants: catalogue,
			want: "GRANT SELECT ON [cdc].[dbo_gated_CT] TO [reader]; GRANT SELECT ON [cdc].[dbo_o'd]] d_CT] TO [reader]; GRANT SELECT ON [cdc].[dbo_plain_CT] TO [reader]; " +
				select3,
		},
		"rows": {
			grants: changes, want: select3,
		},
		"one change table denied": {
			grants: changes + sources + "DENY SELECT ON cdc.dbo_plain_CT TO reader\n", want: "GRANT SELECT ON [cdc].[dbo_plain_CT] TO [reader]",
		},
		"gating role and rows, by functions": {
			grants: catalogue, fields: "data_query_mode: function",
			want: "ALTER ROLE [gate] ADD MEMBER [reader]; " + select3,
		},
		"a column of many": {
			grants: changes + "GRANT SELECT ON dbo.gated TO reader\nGRANT SELECT ON dbo.[o'd]] d] TO reader\nGRANT SELECT (id, w) ON dbo.plain TO reader\n",
			want:   "GRANT SELECT ON [dbo].[plain] ([v]) TO [reader]",
		},
		"a column denied to a role": {
			grants: changes + sources + "CREATE ROLE hushed\nALTER ROLE hushed ADD MEMBER reader\nDENY SELECT (w) ON dbo.plain TO hushed\n",
			want:   "GRANT SELECT ON [dbo].[plain] ([w]) TO [reader]", cure: "REVOKE SELECT (w) ON dbo.plain FROM hushed",
		},
		"a change table denied to a role": {
			grants: changes + sources + "CREATE ROLE hushed\nALTER ROLE hushed ADD MEMBER reader\nDENY SELECT ON cdc.dbo_plain_CT TO hushed\n",
			want:   "GRANT SELECT ON [cdc].[dbo_plain_CT] TO [reader]", cure: "REVOKE SELECT ON cdc.dbo_plain_CT FROM hushed",
		},
		"the schema of the changes denied": {
			grants: sources + "DENY SELECT ON SCHEMA::cdc TO reader\nGRANT SELECT ON cdc.change_tables TO reader\n",
			want:   "GRANT SELECT ON SCHEMA::cdc TO [reader]",
		},
		"a column denied, by functions": {
			grants: changes + sources + "ALTER ROLE gate ADD MEMBER reader\nDENY SELECT (w) ON dbo.plain TO reader\n", fields: "data_query_mode: function",
			want: "GRANT SELECT ON [dbo].[plain] ([w]) TO [reader]",
		},
		"a column denied, by functions, changes only": {
			grants: changes + sources + "ALTER ROLE gate ADD MEMBER reader\nDENY SELECT (w) ON dbo.plain TO reader\n", fields: "data_query_mode: function\nsnapshot_mode: no_data",
			want: "GRANT SELECT ON [dbo].[plain] ([w]) TO [reader]",
		},
		"a column denied": {
			grants: changes + sources + "DENY SELECT (w) ON dbo.plain TO reader\n",
			want:   "GRANT SELECT ON [dbo].[plain] ([w]) TO [reader]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, rightsTables+test.grants)
				p := startPipeline(t, server, settings{fields: "user: reader\n" + test.fields})
				p.logged("(permission)")
				<-time.After(time.Second)
				_, said, found := strings.Cut(p.logs.String(), "; run ")
				require.True(t, found, "log:\n%s", p.logs)
				said = said[:strings.IndexAny(said, "\"\n")]
				said, _, _ = strings.Cut(said, "; and ")
				said, _, _ = strings.Cut(said, "; if it is still refused then")
				assert.Contains(t, p.logs.String(), "sys.database_permissions WHERE state = 'D'")
				said, _, _ = strings.Cut(said, ", or set ")
				require.Equal(t, sortedStatements(test.want), sortedStatements(said))
				sqlExec(t, server, "USE db\n"+said+"\n"+test.cure)
				p.logged("Going on: permission is cured")
				change(t, server, "INSERT dbo.plain VALUES (7, 7, 7)")
				p.await("the new row", func(all []received) bool {
					return len(all) > 0 && all[len(all)-1].String() == `c dbo.plain {"id":7,"v":7,"w":7}`
				})
			})
		})
	}
}

func sortedStatements(list string) map[string]bool {
	set := map[string]bool{}
	for _, statement := range strings.Split(list, "; ") {
		set[statement] = true
	}
	return set
}

// A column that may not be read is no matter once it is excluded.
func TestPreflight_ExcludedColumn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, rightsTables+"GRANT SELECT ON SCHEMA::cdc TO reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nDENY SELECT (w) ON dbo.plain TO reader\n")
		p := startPipeline(t, server, settings{fields: "user: reader\ntable_include_list: ['dbo\\.plain']\ncolumn_exclude_list: ['dbo\\.plain\\.w']"})
		p.want(`r dbo.plain {"id":1,"v":1}`)
	})
}

// After the snapshot the tables themselves need not be readable any more, only
// known.
func TestPreflight_SourcesAfterTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, rightsTables+"GRANT SELECT ON SCHEMA::cdc TO reader\nGRANT SELECT ON SCHEMA::dbo TO reader\n")
		kept := newStore()
		p := startPipeline(t, server, settings{fields: "user: reader", store: kept})
		p.next(3)
		change(t, server, "INSERT dbo.gated VALUES (2)")
		p.want(`c dbo.gated {"id":2}`)
		p.stop()
		sqlExec(t, server, "USE db\nREVOKE SELECT ON SCHEMA::dbo FROM reader")
		p = startPipeline(t, server, settings{fields: "user: reader", store: kept})
		change(t, server, "INSERT dbo.gated VALUES (3)")
		p.want(`c dbo.gated {"id":3}`)
	})
}

// The rights of a hundred tables are asked in as many statements as those of
// three.
func TestPreflight_Statements(t *testing.T) {
	count := func(tables int) (rights, instances int) {
		synctest.Test(t, func(t *testing.T) {
			var script strings.Builder
			for i := range tables {
				fmt.Fprintf(&script, "CREATE TABLE dbo.t%d (id int NOT NULL PRIMARY KEY)\n%s", i, enable("dbo", fmt.Sprintf("t%d", i)))
			}
			script.WriteString(newReader + "CREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::cdc TO reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nDENY SELECT (id) ON dbo.t1 TO reader\n")
			server := newServer(t, script.String())
			ofTables, ofInstances := counted(server, "select from sys.database_permissions"), counted(server, "select from cdc.change_tables")
			p := startPipeline(t, server, settings{fields: "user: reader"})
			p.logged("run GRANT SELECT ON [dbo].[t1]")
			rights, instances = ofTables.Fired(), ofInstances.Fired()
		})
		return rights, instances
	}
	rights, instances := count(3)
	assert.Equal(t, 1, rights)
	manyRights, manyInstances := count(100)
	assert.Equal(t, rights, manyRights)
	assert.Equal(t, instances, manyInstances)
}
