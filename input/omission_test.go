package input_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A type of no common form is bytes, as SQL Server stores its values, or left
// out with one warning for each column; never a silent null
// (airbytehq/airbyte#4542, #14411). sql_variant is left out whatever it holds.
func TestCases_TypesOfNoCommonForm(t *testing.T) {
	const north, origin = "0xE6100000010C00000000008056400000000000000000", "0x00000000010C00000000000000000000000000000000"
	for mode, want := range map[string][3]string{
		"bytes": {`"W0A="`, `"5hAAAAEMAAAAAACAVkAAAAAAAAAAAA=="`, `"AAAAAAEMAAAAAAAAAAAAAAAAAAAAAA=="`},
		"hex":   {`"5b40"`, `"e6100000010c00000000008056400000000000000000"`, `"00000000010c00000000000000000000000000000000"`},
	} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, `CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY,
  v sql_variant NULL, h hierarchyid NULL, g geography NULL, m geometry NULL, rv rowversion)
`+enable("dbo", "t"))
				sqlExec(t, server, `USE db
INSERT dbo.t (id, v, h, g, m) VALUES (1, 42, '/1/2/', CAST(`+north+` AS geography), CAST(`+origin+` AS geometry))
INSERT dbo.t (id, v) VALUES (2, N'text')
INSERT dbo.t (id, v) VALUES (3, NULL)`)
				p := startPipeline(t, server, settings{fields: "binary_handling_mode: " + mode})
				rows := p.settled()
				require.NoError(t, server.CaptureNow("db"))
				rows = append(rows, p.settled()...)
				require.Len(t, rows, 6)
				for i, m := range rows {
					var row map[string]json.RawMessage
					require.NoError(t, json.Unmarshal([]byte(after(t, m)), &row))
					assert.NotContains(t, row, "v")
					if mode == "hex" {
						assert.Regexp(t, `^"[0-9a-f]{16}"$`, string(row["rv"]))
					}
					spatial := [3]string{"null", "null", "null"}
					if i%3 == 0 {
						spatial = want
					}
					assert.Equal(t, spatial, [3]string{string(row["h"]), string(row["g"]), string(row["m"])}, "row %d", i+1)
				}
				assert.Equal(t, after(t, rows[0]), after(t, rows[3]), "both phases")
				assert.Equal(t, 1, strings.Count(p.logs.String(), "is left out of events"), "one column, one warning:\n%s", p.logs)
			})
		})
	}
}
