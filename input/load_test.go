package input_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// queryModes are the fields of both ways of reading changes.
var queryModes = map[string]string{"direct": "data_query_mode: direct\n", "function": "data_query_mode: function\n"}

// cachedPlans are the texts that the server's plan cache holds: one for each
// text, with its parameters' types, that it was ever sent.
func cachedPlans(t *testing.T, server *simulator.Server) []string {
	t.Helper()
	sets, err := server.Query("SELECT t.text FROM sys.dm_exec_cached_plans AS p CROSS APPLY sys.dm_exec_sql_text(p.plan_handle) AS t")
	require.NoError(t, err)
	var texts []string
	for _, row := range sets[0].Rows {
		// What a login or a test sends is none of ours.
		if text := row[0].Str(); strings.Contains(text, "@p1") || strings.Contains(text, "cdc.") {
			texts = append(texts, text)
		}
	}
	return texts
}

// The texts of statements and the types of their parameters never change with
// LSNs, times or sizes: in a thousand polls with changes, large transactions
// and idle times the server compiles nothing twice.
func TestLoad_ConstantStatements(t *testing.T) {
	for mode, fields := range queryModes {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, pagedTables+enable("dbo", "a")+enable("dbo", "b"))
				p := startPipeline(t, server, settings{fields: fields + pageSizes(3)})
				defer p.stop()
				work := func(from, rows int) {
					for id := from; id < from+rows; id++ {
						sqlExec(t, server, fmt.Sprintf("USE db\nINSERT dbo.a VALUES (%d, 0)", id))
					}
					change(t, server, fmt.Sprintf("UPDATE dbo.a SET v = v + 1 WHERE id >= %d\nINSERT dbo.b VALUES (%[1]d, %[2]d)\nDELETE dbo.b WHERE id = %[1]d", from, rows))
				}
				p.settled()
				work(1000, 10)
				p.settled()
				before := cachedPlans(t, server)
				require.NotEmpty(t, before)
				for i := range 20 {
					work(2000+100*i, 1+i)
					<-time.After(25 * time.Second) // fifty polls
				}
				require.NotEmpty(t, p.rest())
				assert.ElementsMatch(t, before, cachedPlans(t, server))
			})
		})
	}
}

// rowsRead is how many rows the statements on a table have returned.
func rowsRead(t *testing.T, server *simulator.Server, object string) (rows, statements int64) {
	t.Helper()
	sets, err := server.Query("SELECT t.text, SUM(s.total_rows), SUM(s.execution_count) FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.plan_handle) AS t GROUP BY t.text")
	require.NoError(t, err)
	for _, row := range sets[0].Rows {
		if strings.Contains(row[0].Str(), object) {
			rows += row[1].Int64()
			statements += row[2].Int64()
		}
	}
	return rows, statements
}

// While the output takes nothing, what is read ahead is bounded by settings,
// and the server holds neither a transaction nor a statement of ours.
func TestLoad_OutputStalled(t *testing.T) {
	const rows = 4000
	for mode, fields := range queryModes {
		for _, test := range []struct {
			name, fields string
			most         int64 // rows read: what may wait, and two pages
		}{
			{"messages", "max_queue_size: 40\nmax_batch_size: 10\ncheckpoint_limit: 10\n" + pageSizes(30), 40 + 10 + 10 + 10 + 2*30},
			{"bytes", "max_queue_size_in_bytes: 20000\nmax_batch_size: 10\ncheckpoint_limit: 10\n" + pageSizes(30), 40 + 10 + 10 + 10 + 2*30},
		} {
			t.Run(mode+", "+test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, pagedTables+enable("dbo", "a")+enable("dbo", "b"))
					release := make(chan struct{})
					p := startPipeline(t, server, settings{
						fields: fields + "snapshot_mode: no_data\n" + test.fields,
						output: func(ctx context.Context, _ []received) error {
							select {
							case <-release:
							case <-ctx.Done():
							}
							return nil
						},
					})
					defer p.stop()
					<-time.After(time.Minute)
					change(t, server, fmt.Sprintf("SET NOCOUNT ON\nDECLARE @i int = 0\nWHILE @i < %d BEGIN INSERT dbo.a VALUES (1000 + @i, @i); INSERT dbo.b VALUES (1000 + @i, @i); SET @i += 1 END", rows/2))
					<-time.After(30 * time.Minute)
					read, _ := rowsRead(t, server, "__$seqval")
					assert.Positive(t, read)
					assert.LessOrEqual(t, read, 2*test.most, "of two tables")
					assert.Empty(t, openWork(t, server))
					close(release)
					require.Len(t, p.next(rows), rows)
				})
			})
		}
	}
}

// openWork are the sessions of the input with an open transaction or a running
// statement.
func openWork(t *testing.T, server *simulator.Server) []string {
	t.Helper()
	sets, err := server.Query("SELECT s.session_id, s.status, s.open_transaction_count, (SELECT COUNT(*) FROM sys.dm_exec_requests AS r WHERE r.session_id = s.session_id) " +
		"FROM sys.dm_exec_sessions AS s WHERE s.program_name = N'sqlserver-cdc'")
	require.NoError(t, err)
	require.NotEmpty(t, sets[0].Rows, "the input has a session")
	var open []string
	for _, row := range sets[0].Rows {
		if row[2].Int64() != 0 || row[3].Int64() != 0 {
			open = append(open, fmt.Sprint(row))
		}
	}
	return open
}
