package stream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// countingConn counts what a pass asks its connection for.
type countingConn struct {
	*sqlserver.Conn
	polls, asked, catalogues int
	others                   int   // looks at low ends and times
	commits                  []int // of every poll
	pages                    []sqlserver.ChangePage
}

func (c *countingConn) reset() { *c = countingConn{Conn: c.Conn} }

func (c *countingConn) Poll(ctx context.Context, from lsn.LSN, limit int) (sqlserver.Poll, error) {
	p, err := c.Conn.Poll(ctx, from, limit)
	c.polls++
	c.commits = append(c.commits, len(p.Commits))
	return p, err
}

func (c *countingConn) Changed(ctx context.Context, r *sqlserver.ChangedReader, from, to lsn.LSN) (sqlserver.Changes, error) {
	c.asked++
	return c.Conn.Changed(ctx, r, from, to)
}

func (c *countingConn) ReadChanges(ctx context.Context, r *sqlserver.ChangeReader, q sqlserver.ChangeQuery) (sqlserver.ChangePage, error) {
	page, err := c.Conn.ReadChanges(ctx, r, q)
	c.pages = append(c.pages, sqlserver.ChangePage{Rows: make([]sqlserver.ChangeRow, len(page.Rows)), Bytes: page.Bytes})
	return page, err
}

func (c *countingConn) Catalogue(ctx context.Context, selection sqlserver.Selection) ([]*sqlserver.Table, error) {
	c.catalogues++
	return c.Conn.Catalogue(ctx, selection)
}

func (c *countingConn) LowLSNs(ctx context.Context) (map[int32]lsn.LSN, error) {
	c.others++
	return c.Conn.LowLSNs(ctx)
}

func (c *countingConn) CommitTime(ctx context.Context, commit lsn.LSN) (time.Time, bool, error) {
	c.others++
	return c.Conn.CommitTime(ctx, commit)
}

// batchSink keeps the sizes of batches.
type batchSink struct {
	sink
	batches []int
}

func (s *batchSink) Emit(ctx context.Context, b *event.Batch, upTo stream.Place) error {
	s.batches = append(s.batches, len(b.Messages))
	return s.sink.Emit(ctx, b, upTo)
}

// Each setting bounds what its description says, in both ways of reading.
func TestLimits(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, "SET NOCOUNT ON; DECLARE @i int = 0; WHILE @i < 20 BEGIN "+
		"INSERT dbo.a SELECT 100 * @i + n, 0 FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) AS v (n); INSERT dbo.b VALUES (@i, 0); SET @i += 1 END")
	const events, rowBytes = 20 * 8, 7 * 32 // a row of five columns before two captured ones
	for _, function := range []bool{false, true} {
		for _, test := range []struct {
			name string
			opts stream.Options
		}{
			{"rows of a page", stream.Options{FetchSize: 5}},
			{"bytes of pages", stream.Options{MaxBytes: 4 * 3 * rowBytes}},
			{"transactions of a pass", stream.Options{MaxIterationTransactions: 3}},
			{"messages of a batch", stream.Options{MaxBatchSize: 4}},
			{"all", stream.Options{FetchSize: 2, MaxBytes: 4 * rowBytes, MaxIterationTransactions: 1, MaxBatchSize: 1}},
			{"none", stream.Options{}},
		} {
			t.Run(fmt.Sprintf("%s, function %t", test.name, function), func(t *testing.T) {
				conn, out := &countingConn{Conn: s.Connect(t)}, &batchSink{}
				test.opts.Encoder, test.opts.Function = encoder, function
				drainReader(t, stream.New(conn, out, test.opts, stream.State{}))
				require.Len(t, out.messages, events)
				opts := test.opts
				for _, n := range out.batches {
					assert.LessOrEqual(t, n, atMost(opts.MaxBatchSize))
				}
				for _, n := range conn.commits {
					assert.LessOrEqual(t, n, atMost(opts.MaxIterationTransactions))
				}
				for _, page := range conn.pages {
					assert.LessOrEqual(t, len(page.Rows), atMost(opts.FetchSize))
					// Two pages of two tables, each up to its last row.
					assert.Less(t, page.Bytes, atMost(opts.MaxBytes/4)+2*rowBytes)
				}
			})
		}
	}
}

// atMost is a setting, for which zero is no limit here.
func atMost(limit int) int {
	if limit == 0 {
		return 1 << 40
	}
	return limit
}

func drainReader(t *testing.T, r *stream.Reader) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = r.PollOnce(t.Context())
		require.NoError(t, err)
	}
}

// An idle pass is one statement, whatever the number of tables; one with
// changes is two more than a page for each table that changed, and one alone
// is not asked whether it has.
func TestStatements_OfAPass(t *testing.T) {
	for _, function := range []bool{false, true} {
		for _, count := range []int{1, 2, 40} {
			t.Run(fmt.Sprintf("%d tables, function %t", count, function), func(t *testing.T) {
				script := ""
				for i := range count {
					script += fmt.Sprintf("CREATE TABLE dbo.t%d (id int PRIMARY KEY);\nEXEC sys.sp_cdc_enable_table N'dbo', N't%[1]d', @role_name = NULL;\n", i)
				}
				s := servertest.Start(t, script)
				s.Change(t, "INSERT dbo.t0 VALUES (1);")
				conn, out := &countingConn{Conn: s.Connect(t)}, &batchSink{}
				r := stream.New(conn, out, stream.Options{Encoder: encoder, Function: function}, stream.State{})
				drainReader(t, r)

				conn.reset()
				for range 10 {
					drainReader(t, r)
				}
				assert.Equal(t, 10, conn.polls)
				assert.Zero(t, conn.asked+len(conn.pages)+conn.catalogues+conn.others, "nothing but the poll")

				conn.reset()
				s.Change(t, "INSERT dbo.t0 VALUES (2), (3);")
				drainReader(t, r)
				assert.Equal(t, 1, conn.polls)
				assert.Equal(t, min(count, 2)-1, conn.asked)
				assert.Len(t, conn.pages, 1)
				assert.Zero(t, conn.catalogues+conn.others)
				require.Len(t, out.messages, 3)
			})
		}
	}
}
