package snapshot_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// A writer in the middle of a transaction holds a snapshot up only under READ
// COMMITTED, where each attempt ends with the lock timeout and is made again.
func TestSnapshot_BehindAWriter(t *testing.T) {
	for _, mode := range []snapshot.Isolation{snapshot.IsolationSnapshot, snapshot.IsolationReadCommitted} {
		t.Run(string(mode), func(t *testing.T) {
			s := servertest.Start(t, `ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON;
CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL); EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3);`)
			s.Capture(t)
			writer := s.Connect(t)
			require.NoError(t, writer.Exec(t.Context(), "BEGIN TRANSACTION; UPDATE dbo.t SET v = 20 WHERE id = 2;"))
			conn := s.Connect(t)
			if mode == snapshot.IsolationReadCommitted {
				var committed sync.WaitGroup
				defer committed.Wait()
				committed.Go(func() {
					<-time.After(50 * time.Millisecond)
					assert.NoError(t, writer.Exec(t.Context(), "COMMIT"))
				})
			}
			out := &sink{}
			opts := snapshot.Options{Tables: tablesOf(t, conn), Encoder: encoder, Isolation: mode, FetchSize: 1, LockTimeout: 5 * time.Millisecond}
			require.NoError(t, snapshot.New(conn, opts, nil).Run(t.Context(), out))
			require.Len(t, out.messages, 3)
			want := `{"v":2}`
			if mode == snapshot.IsolationReadCommitted {
				want = `{"v":20}`
			}
			assert.Equal(t, want, after(t, out.messages[1]))
		})
	}
}

// A table without a key is read in one statement, which waits for a writer
// rather than begin again.
func TestSnapshot_ScanBehindAWriter(t *testing.T) {
	s := servertest.Start(t, `CREATE TABLE dbo.heap (v int NULL); EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL;
INSERT dbo.heap VALUES (1), (2), (3);`)
	s.Capture(t)
	writer := s.Connect(t)
	require.NoError(t, writer.Exec(t.Context(), "BEGIN TRANSACTION; UPDATE dbo.heap SET v = 30 WHERE v = 3;"))
	conn := s.Connect(t)
	var committed sync.WaitGroup
	defer committed.Wait()
	committed.Go(func() {
		<-time.After(50 * time.Millisecond)
		assert.NoError(t, writer.Exec(t.Context(), "COMMIT"))
	})
	out := &sink{}
	opts := snapshot.Options{
		Tables: tablesOf(t, conn), Encoder: encoder, Isolation: snapshot.IsolationReadCommitted,
		FetchSize: 1, MaxBatchSize: 1, LockTimeout: 5 * time.Millisecond,
	}
	require.NoError(t, snapshot.New(conn, opts, nil).Run(t.Context(), out))
	var rows []string
	for _, m := range out.messages {
		rows = append(rows, after(t, m))
	}
	assert.Equal(t, []string{`{"v":1}`, `{"v":2}`, `{"v":30}`}, rows, "no row comes twice")
}
