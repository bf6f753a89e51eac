package input_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A table that is altered under its capture instance is read on, with the columns
// that are captured, and said to be altered once, with the statement
// (wintersrd/pipelinewise-tap-mssql#72, airbytehq/airbyte#30283).
func TestCases_TableAlteredUnderItsInstance(t *testing.T) {
	const seen, rare = "The table was last changed by: ", "poll_interval: 20s"
	for _, test := range []struct {
		name, alter, insert string
		row                 string
		says                []string
	}{
		{
			"column added", "ALTER TABLE dbo.t ADD c int NULL", "INSERT dbo.t VALUES (2, 2, 2, 7)",
			`{"id":2,"a":2,"b":2}`,
			[]string{`instance \"dbo_t\" does not have 1 of the table's columns`, seen + "ALTER TABLE dbo.t ADD c int NULL"},
		},
		{
			"column dropped", "ALTER TABLE dbo.t DROP COLUMN a", "INSERT dbo.t VALUES (2, 2)",
			`{"id":2,"a":null,"b":2}`,
			[]string{`instance \"dbo_t\" has 1 that the table has no more`, seen + "ALTER TABLE dbo.t DROP COLUMN a"},
		},
		{
			"column dropped and added again", "ALTER TABLE dbo.t DROP COLUMN a\nALTER TABLE dbo.t ADD a int NULL", "INSERT dbo.t VALUES (2, 2, 2)",
			`{"id":2,"a":null,"b":2}`,
			[]string{"does not have 1 of the table's columns", "and has 1 that the table has no more", seen + "ALTER TABLE dbo.t ADD a int NULL"},
		},
		{
			"type of a column", "ALTER TABLE dbo.t ALTER COLUMN b bigint", "INSERT dbo.t VALUES (2, 2, 5000000000)",
			`{"id":2,"a":2,"b":5000000000}`,
			[]string{"its events follow: ALTER TABLE dbo.t ALTER COLUMN b bigint"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NULL, b int NULL)\nINSERT dbo.t VALUES (1, 1, 1)\n"+enable("dbo", "t"))
				kept := newStore()
				p := startPipeline(t, server, settings{store: kept, fields: rare})
				p.want(`r dbo.t {"id":1,"a":1,"b":1}`)
				<-time.After(5 * time.Minute)
				assert.NotContains(t, p.logs.String(), "level=WARN")
				change(t, server, test.alter)
				change(t, server, test.insert)
				p.want("c dbo.t " + test.row)
				<-time.After(10 * time.Minute)
				assert.Equal(t, 1, countLines(p, test.says[len(test.says)-1]), "log:\n%s", p.logs)
				for _, part := range test.says {
					assert.Contains(t, p.logs.String(), part)
				}
				p.stop()

				p = startPipeline(t, server, settings{store: kept, fields: rare})
				<-time.After(10 * time.Minute)
				again := 0
				if strings.Contains(test.says[len(test.says)-1], seen) {
					again = 1 // what is not recorded is said to each process
				}
				assert.Equal(t, again, countLines(p, test.says[len(test.says)-1]), "log:\n%s", p.logs)
				p.stop()

				fresh := startPipeline(t, server, settings{fields: rare})
				row := strings.NewReplacer(`"id":2`, `"id":1`, `:2,`, `:1,`, `:2}`, `:1}`, `5000000000`, `1`).Replace(test.row)
				assert.Equal(t, "r dbo.t "+row, fresh.next(1)[0].String(), "a snapshot has the columns of the stream")
			})
		})
	}
}

// An instance of some columns only, and one whose table has another of today's
// columns, are as they should be.
func TestCases_PartOfTheColumnsIsNoAlteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NULL)\nCREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+
			"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id'\n"+enable("dbo", "u"))
		change(t, server, "ALTER TABLE dbo.u ADD a int NULL")
		change(t, server, enableAs("dbo", "u", "second"))
		p := startPipeline(t, server, settings{fields: "poll_interval: 20s"})
		<-time.After(10 * time.Minute)
		assert.NotContains(t, p.logs.String(), "last changed by")
	})
}
