package input_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

// A column that events leave out is named once for each version of its table,
// however often the connection is made anew, and also when the version turns up
// while the stream runs.
func TestOmittedColumns_AreNamedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, `
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, any_value sql_variant NULL)
GO
USE db
INSERT dbo.t VALUES (1, 1)
`+enable("dbo", "t"))
		p := startPipeline(t, server, settings{})
		named := func(column string) int {
			return strings.Count(p.logs.String(), `column \"`+column+`\" is left out of events: sql_variant has no type of its own`)
		}
		p.want(`r dbo.t {"id":1}`)
		assert.Equal(t, 1, named("any_value"))

		server.Restart()
		change(t, server, "INSERT dbo.t VALUES (2, N'two')")
		p.want(`c dbo.t {"id":2}`)
		assert.Equal(t, 1, named("any_value"), "a new connection is no news")

		change(t, server, `ALTER TABLE dbo.t ADD another sql_variant NULL
EXEC sys.sp_cdc_enable_table N'dbo', N't', @capture_instance = N'dbo_t_2', @role_name = NULL`)
		change(t, server, "INSERT dbo.t VALUES (3, NULL, 3)")
		p.want(`c dbo.t {"id":3}`)
		p.quiet()
		change(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N't', @capture_instance = N'dbo_t'")
		change(t, server, "INSERT dbo.t VALUES (4, NULL, 4)")
		p.want(`c dbo.t {"id":4}`)
		assert.Equal(t, 1, named("another"), "log:\n%s", p.logs)
		assert.Equal(t, 1, named("any_value"))
	})
}
