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

// The question which tables have changed is sent to the server once for each
// set of instances, whatever happens in between.
func TestChanged_IsPreparedOnce(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY);\nCREATE TABLE dbo.u (id int PRIMARY KEY);\n"+enable("dbo", "t")+enable("dbo", "u"))
	s.Change(t, "INSERT dbo.t VALUES (1)")
	conn := s.Connect(t)
	tables := catalogue(t, conn)
	first, second := tables["dbo.t"].Instances[0], tables["dbo.u"].Instances[0]
	both := sqlserver.NewChangedReader([]*sqlserver.CaptureInstance{first, second})
	one := sqlserver.NewChangedReader([]*sqlserver.CaptureInstance{first})
	sent := s.Control(simulator.Fault{On: "declare", Keep: true})
	asked := func(r *sqlserver.ChangedReader) ([]int, error) {
		changes, err := conn.Changed(t.Context(), r, lsn.LSN{}, lsn.Max)
		return changes.Instances, err
	}
	for _, r := range []*sqlserver.ChangedReader{both, both, one, one, both} {
		changed, err := asked(r)
		require.NoError(t, err)
		assert.Equal(t, []int{0}, changed)
	}
	assert.Equal(t, 3, sent.Fired())

	s.Exec(t, "EXEC sys.sp_cdc_disable_table N'dbo', N'u', N'dbo_u'")
	_, err := asked(both)
	require.Error(t, err)
	assert.Equal(t, sqlserver.ClassMissing, sqlserver.Classify(err))
	_, err = asked(sqlserver.NewChangedReader([]*sqlserver.CaptureInstance{second}))
	require.Error(t, err, "it cannot be prepared")
	for range 2 {
		changed, err := asked(one)
		require.NoError(t, err, "the connection is sound")
		assert.Equal(t, []int{0}, changed)
	}
}
