package stream_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// pages notes how many rows were asked for.
type pages struct {
	*sqlserver.Conn
	limits []int
}

func (p *pages) ReadChanges(ctx context.Context, r *sqlserver.ChangeReader, q sqlserver.ChangeQuery) (sqlserver.ChangePage, error) {
	p.limits = append(p.limits, q.Limit)
	return p.Conn.ReadChanges(ctx, r, q)
}

// Pages large enough to be read into each other's memory hold every row once,
// and the two rows of an update that lie on either side of a page's end.
func TestStream_PagesGrow(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int)\nGO\n"+
		"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL")
	const rows = 2001
	s.Change(t, "INSERT dbo.t VALUES (0, 0)\nDECLARE @n int = 1\n"+
		fmt.Sprintf("WHILE @n < %d BEGIN INSERT dbo.t SELECT id + @n, id FROM dbo.t WHERE id + @n < %[1]d SET @n = 2 * @n END", rows))
	src, out := &pages{Conn: s.Connect(t)}, &sink{}
	r := stream.New(src, out, stream.Options{Encoder: encoder}, stream.State{})
	poll := func() {
		_, err := r.PollOnce(t.Context())
		require.NoError(t, err)
	}
	poll()
	assert.Equal(t, []int{1000, 2000}, src.limits)
	assert.Len(t, out.messages, rows)

	src.limits, out.messages = nil, nil
	s.Change(t, "INSERT dbo.t VALUES (-1, 0)\nUPDATE dbo.t SET v = -id WHERE id > 0")
	poll()
	assert.Equal(t, []int{1000, 2000, 4000}, src.limits)
	require.Len(t, out.messages, rows)
	for i, m := range out.messages[1:] {
		require.Contains(t, string(m.Value), fmt.Sprintf(`"after":{"id":%d,"v":%d}`, i+1, -i-1))
	}
}
