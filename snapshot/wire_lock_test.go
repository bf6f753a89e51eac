package snapshot_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// commitLater ends a writer's transaction once a reader has waited for a while.
func commitLater(t *testing.T, writer *sqlserver.Conn) (ended func()) {
	var committed sync.WaitGroup
	committed.Go(func() {
		<-time.After(50 * time.Millisecond)
		assert.NoError(t, writer.Exec(t.Context(), "COMMIT"))
	})
	return committed.Wait
}

// A writer in the middle of a transaction holds a snapshot up only under READ
// COMMITTED, where each attempt ends with the lock timeout and is made again.
func TestSnapshot_BehindAWriter(t *testing.T) {
	for mode, test := range map[snapshot.Isolation]struct {
		second string
		waits  bool
	}{
		snapshot.IsolationSnapshot:      {`{"v":2}`, false},
		snapshot.IsolationReadCommitted: {`{"v":20}`, true},
	} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := servertest.Start(t, `ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON;
CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL); EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3);`)
				s.Capture(t)
				writer := s.Connect(t)
				require.NoError(t, writer.Exec(t.Context(), "BEGIN TRANSACTION; UPDATE dbo.t SET v = 20 WHERE id = 2;"))
				conn, out := s.Connect(t), &sink{}
				opts := snapshot.Options{Tables: tablesOf(t, conn), Encoder: encoder, Isolation: mode, FetchSize: 1, LockTimeout: 5 * time.Millisecond}
				begin := time.Now()
				defer commitLater(t, writer)()
				require.NoError(t, snapshot.New(conn, opts, nil).Run(t.Context(), out))
				assert.Equal(t, test.waits, time.Since(begin) >= 50*time.Millisecond)
				require.Len(t, out.messages, 3)
				assert.Equal(t, test.second, after(t, out.messages[1]))
			})
		})
	}
}

// A table without a key is read in one statement, which waits for a writer
// rather than begin again.
func TestSnapshot_ScanBehindAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, `CREATE TABLE dbo.heap (v int NULL); EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL;
INSERT dbo.heap VALUES (1), (2), (3);`)
		s.Capture(t)
		writer := s.Connect(t)
		require.NoError(t, writer.Exec(t.Context(), "BEGIN TRANSACTION; UPDATE dbo.heap SET v = 30 WHERE v = 3;"))
		conn, out := s.Connect(t), &sink{}
		opts := snapshot.Options{
			Tables: tablesOf(t, conn), Encoder: encoder, Isolation: snapshot.IsolationReadCommitted,
			FetchSize: 1, MaxBatchSize: 1, LockTimeout: 5 * time.Millisecond,
		}
		begin := time.Now()
		defer commitLater(t, writer)()
		require.NoError(t, snapshot.New(conn, opts, nil).Run(t.Context(), out))
		assert.GreaterOrEqual(t, time.Since(begin), 50*time.Millisecond)
		var rows []string
		for _, m := range out.messages {
			rows = append(rows, after(t, m))
		}
		assert.Equal(t, []string{`{"v":1}`, `{"v":2}`, `{"v":30}`}, rows, "no row comes twice")
	})
}
