package sqlserver_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
)

// A catalogue that is read while a transaction makes or drops what it lists is
// that of before or that of after, and nothing in it is hidden.
func TestCatalogue_WhileItChanges(t *testing.T) {
	const disable = "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N't', @capture_instance = N'dbo_t'\n"
	again, second := enable("dbo", "t"), enable("dbo", "t", "@capture_instance = N'second'")
	for _, versions := range []string{"OFF", "ON"} {
		for _, test := range []struct {
			name, change string
			after        []string
		}{
			{"an instance is made", second, []string{"dbo_t", "second"}},
			{"one is dropped", disable, nil},
			{"one is made anew", disable + again, []string{"dbo_t"}},
			{"one takes the place of another", disable + second, []string{"second"}},
			{"another table is made", "CREATE TABLE dbo.u (id int)\n" + enable("dbo", "u"), []string{"dbo_t", "dbo_u"}},
		} {
			t.Run(test.name+", READ_COMMITTED_SNAPSHOT "+versions, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := servertest.Start(t, "ALTER DATABASE "+servertest.Database+" SET READ_COMMITTED_SNAPSHOT "+versions+
						"\nCREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL)\n"+enable("dbo", "t"))
					conn, other := s.Connect(t), s.Connect(t)
					done, hidden := make(chan error, 1), make(chan []string, 1)
					go func() {
						done <- s.Server.Exec("USE " + servertest.Database + "\nBEGIN TRAN\n" + test.change + "WAITFOR DELAY '00:00:05'\nCOMMIT")
					}()
					synctest.Wait()
					go func() {
						names, err := other.HiddenInstances(t.Context())
						assert.NoError(t, err)
						hidden <- names
					}()
					tables, err := conn.Catalogue(t.Context(), nil)
					require.NoError(t, err)
					assert.Empty(t, <-hidden)
					var names []string
					for _, table := range tables {
						require.NoError(t, table.HiddenChangeTable())
						for _, ci := range table.Instances {
							names = append(names, ci.Name)
						}
					}
					assert.Contains(t, [][]string{{"dbo_t"}, test.after}, names)
					require.NoError(t, <-done)
				})
			})
		}
	}
}
