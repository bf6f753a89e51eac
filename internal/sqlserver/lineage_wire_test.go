package sqlserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// A restore begins a new recovery fork of the same family, and takes the
// commits behind the backup away.
func TestLineage_Restore(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY)\n"+enable("dbo", "t")+"INSERT dbo.t VALUES (1)")
	s.Capture(t)
	look := func() (sqlserver.Lineage, sqlserver.Poll) {
		conn := s.Connect(t)
		defer conn.Close()
		lineage, err := conn.Lineage(t.Context(), sqlserver.Facts{})
		require.NoError(t, err)
		poll, err := conn.Poll(t.Context(), lsn.LSN{}, 100)
		require.NoError(t, err)
		return lineage, poll
	}
	recorded := func(at lsn.LSN) sqlserver.Recorded {
		conn := s.Connect(t)
		defer conn.Close()
		r, err := conn.Recorded(t.Context(), at)
		require.NoError(t, err)
		return r
	}
	before, backed := look()
	require.True(t, before.Known())
	assert.Len(t, before.Fork, 36)
	assert.Empty(t, before.Before)
	assert.Zero(t, before.ForkPoint)
	kept := backed.Commits[len(backed.Commits)-1]
	assert.Equal(t, sqlserver.Recorded{Oldest: kept.LSN, Newest: backed.Max, Found: true, Ended: kept.Recorded}, recorded(kept.LSN))
	assert.Equal(t, backed.MaxRecorded, recorded(backed.Max).Ended)
	assert.False(t, recorded(kept.LSN.Next()).Found)

	s.Exec(t, "BACKUP DATABASE db TO DISK = N'db.bak'\nINSERT dbo.t VALUES (2)")
	s.Capture(t)
	_, later := look()
	lost := later.Commits[len(later.Commits)-1]
	require.True(t, recorded(lost.LSN).Found)

	s.Exec(t, "USE master\nALTER DATABASE db SET SINGLE_USER WITH ROLLBACK IMMEDIATE\nRESTORE DATABASE db FROM DISK = N'db.bak' WITH REPLACE\nALTER DATABASE db SET MULTI_USER")
	after, _ := look()
	assert.Equal(t, before.Family, after.Family)
	assert.NotEqual(t, before.Fork, after.Fork)
	assert.Equal(t, before.Fork, after.Before)
	assert.False(t, after.ForkPoint.Before(kept.LSN), "the backup holds what was captured before it")
	assert.True(t, after.ForkPoint.Before(lost.LSN))
	assert.Equal(t, kept.Recorded, recorded(kept.LSN).Ended)
	assert.False(t, recorded(lost.LSN).Found)
	assert.WithinDuration(t, time.Now().UTC(), kept.Recorded, time.Hour)
}

// Where it may not be asked, or does not exist, it is unknown.
func TestLineage_Unknown(t *testing.T) {
	s := servertest.Start(t, "")
	conn := s.Connect(t)
	defer conn.Close()
	refused := s.Control(simulator.Fault{On: "select from sys.database_recovery_status", Do: simulator.Fail(208, 16, 1, "Invalid object name 'sys.database_recovery_status'.")})
	lineage, err := conn.Lineage(t.Context(), sqlserver.Facts{})
	require.NoError(t, err)
	assert.False(t, lineage.Known())
	assert.Equal(t, 1, refused.Fired())
	lineage, err = conn.Lineage(t.Context(), sqlserver.Facts{EngineEdition: 5})
	require.NoError(t, err)
	assert.False(t, lineage.Known(), "Azure SQL Database has no such view")
	lineage, err = conn.Lineage(t.Context(), sqlserver.Facts{})
	require.NoError(t, err)
	assert.True(t, lineage.Known())
}
