package simulator

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scan that must alter a change table waits until nobody reads it, and another
// scan waits for that one. Time goes on meanwhile, also where it is virtual.
func TestServer_ScansWaitInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{Logins: map[string]string{"sa": "x"}})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		s.StopAgent()
		require.NoError(t, s.Exec(`
CREATE DATABASE inventory
GO
USE inventory
EXEC sys.sp_cdc_enable_db
CREATE TABLE t (id int NOT NULL PRIMARY KEY, v nvarchar(10))
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL
INSERT INTO t VALUES (1, N'a'), (2, N'b')
`))
		require.NoError(t, s.CaptureNow("inventory"))
		require.NoError(t, s.Exec("USE inventory\nALTER TABLE t ALTER COLUMN v nvarchar(20)"))

		began := time.Now()
		s.Control(Fault{On: "select from cdc.dbo_t_ct", AfterRows: 1, Do: Delay(10 * time.Second)})
		done := make(chan error, 3)
		go func() { done <- s.Exec("USE inventory\nSELECT * FROM cdc.dbo_t_CT") }()
		synctest.Wait()
		for range 2 {
			go func() { done <- s.CaptureNow("inventory") }()
		}
		for range 3 {
			require.NoError(t, <-done)
		}
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}
