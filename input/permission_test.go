package input_test

import (
	"context"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newReader is a login that may do nothing yet.
const newReader = "CREATE LOGIN reader WITH PASSWORD = N'" + password + "'\n"

// fatalReason finds the reason in "Cannot go on (reason)".
var fatalReason = regexp.MustCompile(`Cannot go on \(([a-z_]+)\)`)

// Each missing right is a final error of its own, which names what is missing
// and what grants it. With what the last case has everything works: SELECT is
// enough, and the views of the server's state are not needed.
func TestPermission_Matrix(t *testing.T) {
	const gated = `
CREATE TABLE dbo.customers (id int NOT NULL PRIMARY KEY, name nvarchar(50) NOT NULL)
INSERT dbo.customers VALUES (1, N'Ada'), (2, N'Bob')
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'customers', @role_name = N'cdc_gate'
`
	const user = newReader + "CREATE USER reader FOR LOGIN reader\n"
	for name, test := range map[string]struct {
		script, fields string
		reason         string // empty: it works
		says           []string
	}{
		"no such database": {
			script: customers + user, fields: "database_names: [ nothing ]",
			reason: "login", says: []string{`Cannot open database \"nothing\"`, "check database_names"},
		},
		"no user of the database": {
			script: customers + newReader,
			reason: "login", says: []string{"the login is no user of it"},
		},
		"wrong password": {
			script: customers + user, fields: "password: wrong",
			reason: "login", says: []string{"Login failed for user 'reader'", "check user and password"},
		},
		"nothing granted": {
			script: customers + user,
			reason: "permission", says: []string{"GRANT SELECT ON SCHEMA::cdc TO"},
		},
		"source cannot be read, gating role given": {
			script: gated + user + "ALTER ROLE cdc_gate ADD MEMBER reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n",
			reason: "permission", says: []string{"GRANT SELECT ON"},
		},
		"change tables cannot be read": {
			script: customers + user + "GRANT SELECT ON SCHEMA::dbo TO reader\n",
			reason: "permission", says: []string{"GRANT SELECT ON SCHEMA::cdc TO"},
		},
		"gating role missing, functions read": {
			script: gated + user + "GRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON cdc.change_tables TO reader\nGRANT SELECT ON cdc.captured_columns TO reader\nGRANT SELECT ON cdc.index_columns TO reader\nGRANT SELECT ON cdc.ddl_history TO reader\nGRANT SELECT ON cdc.lsn_time_mapping TO reader\n",
			fields: "data_query_mode: function",
			reason: "permission", says: []string{"cdc_gate", "ALTER ROLE [cdc_gate] ADD MEMBER"},
		},
		"what is documented": {
			script: customers + user + "GRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, test.script)
				require.NoError(t, server.CaptureNow("db"))
				p := startPipeline(t, server, settings{fields: "user: reader\n" + test.fields})
				if test.reason == "" {
					p.next(2)
					change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
					p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
					require.NotContains(t, p.logs.String(), "Cannot go on")
					return
				}
				<-time.After(time.Minute)
				change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
				<-time.After(10 * time.Minute)
				log := p.logs.String()
				match := fatalReason.FindStringSubmatch(log)
				require.NotNil(t, match, "log:\n%s", log)
				assert.Equal(t, test.reason, match[1])
				for _, part := range test.says {
					assert.Contains(t, log, part)
				}
			})
		})
	}
}

// A right that is taken away while the stream runs is said for its table, and
// the stream goes on when it is given back.
func TestPermission_RevokedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers+newReader+"CREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n")
		p := startPipeline(t, server, settings{fields: "user: reader"})
		p.next(2)
		sqlExec(t, server, "USE db\nDENY SELECT ON cdc.dbo_customers_CT TO reader")
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		<-time.After(10 * time.Minute)
		require.Empty(t, shorts(p.rest()))
		require.Contains(t, p.logs.String(), "dbo_customers")
		require.Contains(t, p.logs.String(), "GRANT SELECT ON")
		sqlExec(t, server, "USE db\nREVOKE SELECT ON cdc.dbo_customers_CT FROM reader")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
	})
}

// The same while rows are read: what is still to come of the table waits for the
// right, whichever it is, and every row and change comes in the end.
func TestPermission_RevokedInTheSnapshot(t *testing.T) {
	for _, mode := range []string{"direct", "function"} {
		for _, object := range []string{"dbo.b", "cdc.dbo_b_CT", "cdc.change_tables", "cdc.captured_columns", "cdc.lsn_time_mapping"} {
			t.Run(mode+" "+object, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t, pagedTables+newReader+"CREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n"+
						enable("dbo", "a")+enable("dbo", "b"))
					taken := 0
					s := settings{fields: "user: reader\nmax_batch_size: 1\nsnapshot_fetch_size: 1\nmax_queue_size: 2\npoll_interval: 5s\ndata_query_mode: " + mode}
					s.output = func(context.Context, []received) error {
						if taken++; taken == 2 {
							sqlExec(t, server, "USE db\nDENY SELECT ON "+object+" TO reader")
						}
						<-time.After(time.Second)
						return nil
					}
					p := startPipeline(t, server, s)
					<-time.After(time.Minute)
					change(t, server, "INSERT dbo.a VALUES (4, 4)\nINSERT dbo.b VALUES (4, 4)")
					<-time.After(2 * time.Minute)
					if len(p.rest()) < 8 { // functions do not need the change tables
						assert.Contains(t, p.logs.String(), "GRANT SELECT ON", "log:\n%s", p.logs)
					}
					sqlExec(t, server, "USE db\nREVOKE SELECT ON "+object+" FROM reader")
					<-time.After(3 * time.Minute)
					assert.ElementsMatch(t, []string{
						`r dbo.a {"id":1,"v":1}`, `r dbo.a {"id":2,"v":2}`, `r dbo.a {"id":3,"v":3}`, `c dbo.a {"id":4,"v":4}`,
						`r dbo.b {"id":1,"v":1}`, `r dbo.b {"id":2,"v":2}`, `r dbo.b {"id":3,"v":3}`, `c dbo.b {"id":4,"v":4}`,
					}, unique(shorts(p.everything())), "log:\n%s", p.logs)
				})
			})
		}
	}
}
