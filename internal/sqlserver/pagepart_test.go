package sqlserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// lockTimeout fails the nth statement on an object, and that statement alone:
// those after it in its batch run.
func lockTimeout(on string, nth int) simulator.Fault {
	return simulator.Fault{On: on, Nth: nth, Do: simulator.Fail(1222, 16, 51, "Lock request time out period exceeded.")}
}

// Of a page whose first part fails, the second part must not pass for the whole,
// not even if it fills the page.
func TestReadChanges_PartFails(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL);\n"+enable("dbo", "t"))
	s.Change(t, "INSERT dbo.t SELECT value, 0 FROM GENERATE_SERIES(1, 20)")
	s.Change(t, "UPDATE dbo.t SET v = 1")
	conn := s.Connect(t)
	reader := sqlserver.NewChangeReader(catalogue(t, conn)["dbo.t"].Instances[0], true, nil)
	for statement := 1; statement <= 8; statement++ {
		s.Control(lockTimeout("select from cdc.dbo_t_ct", statement))
		query := sqlserver.ChangeQuery{To: lsn.Max, Limit: 100, MaxBytes: 2000}
		rows := 0
		for end := false; !end; {
			page, err := conn.ReadChanges(t.Context(), reader, query)
			require.NoError(t, err)
			rows += len(page.Rows)
			if end = page.End; !end {
				last := page.Rows[len(page.Rows)-1].Position()
				query.After = &last
			}
		}
		assert.Equal(t, 20+2*20, rows, "lock timeout in statement %d", statement)
	}
}

func TestReadRows_PartFails(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (a int, b int, v int NULL, PRIMARY KEY (a, b));\n"+enable("dbo", "t")+
		"INSERT dbo.t SELECT value / 10, value, 0 FROM GENERATE_SERIES(1, 40)")
	conn := s.Connect(t)
	table := catalogue(t, conn)["dbo.t"]
	reader := sqlserver.NewTableReader(table, table.Instances[0].Shape)
	for statement := 1; statement <= 8; statement++ {
		s.Control(lockTimeout("select from dbo.t", statement))
		var (
			rows  int
			after []string
		)
		for end := false; !end; {
			page, err := conn.ReadRows(t.Context(), reader, after, 100, 500)
			if err != nil {
				require.Equal(t, sqlserver.ClassRetry, sqlserver.Classify(err))
				continue
			}
			rows += len(page.Rows)
			if end = page.End; !end {
				after, err = reader.Key(page.Rows[len(page.Rows)-1])
				require.NoError(t, err)
			}
		}
		assert.Equal(t, 40, rows, "lock timeout in statement %d", statement)
	}
}
