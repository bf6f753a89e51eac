package snapshot_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// sink keeps the messages of snapshot and stream.
type sink struct {
	messages []event.Message
	progress *snapshot.Progress
}

func (s *sink) Save(context.Context, *snapshot.Progress) error { return nil }

func (s *sink) Emit(_ context.Context, b *event.Batch, p *snapshot.Progress) error {
	s.messages = append(s.messages, b.Messages...)
	s.progress = p
	return nil
}

type streamSink struct{ *sink }

func (s streamSink) Emit(_ context.Context, b *event.Batch, _ lsn.Position) error {
	s.messages = append(s.messages, b.Messages...)
	return nil
}

func (s streamSink) Advance(context.Context, lsn.Position) error { return nil }

func encoder(t *schema.Table) (*event.Encoder, error) {
	return event.NewEncoder(t, event.Options{
		TopicPrefix: "p", Tombstones: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return time.Unix(0, 0) },
	})
}

func tablesOf(t *testing.T, conn *sqlserver.Conn) []snapshot.Table {
	t.Helper()
	catalogue, err := conn.Catalogue(t.Context(), nil)
	require.NoError(t, err)
	var tables []snapshot.Table
	for _, table := range catalogue {
		shape := table.Source
		if len(table.Instances) > 0 {
			shape = table.Instances[0].Shape
		}
		tables = append(tables, snapshot.Table{Source: table, Shape: shape})
	}
	return tables
}

// after returns the row in an event, without its key column id.
func after(t *testing.T, m event.Message) string {
	t.Helper()
	var value struct {
		After map[string]json.RawMessage `json:"after"`
	}
	require.NoError(t, json.Unmarshal(m.Value, &value))
	delete(value.After, "id")
	text, err := json.Marshal(value.After)
	require.NoError(t, err)
	return string(text)
}

const everyType = `
CREATE TABLE dbo.t (
	id int PRIMARY KEY, computed AS id * 2, persisted AS id + 1 PERSISTED,
	c_bit bit, c_tiny tinyint, c_small smallint, c_big bigint, c_dec decimal(38,10), c_num numeric(5,2),
	c_money money, c_smallmoney smallmoney, c_real real, c_float float,
	c_date date, c_time0 time(0), c_time7 time(7), c_dt datetime, c_sdt smalldatetime, c_dt20 datetime2(0), c_dt27 datetime2(7), c_dto datetimeoffset(3),
	c_char char(3), c_varchar varchar(10), c_nchar nchar(3), c_nvarchar nvarchar(10), c_vmax varchar(max), c_nmax nvarchar(max),
	c_bin binary(4), c_varbin varbinary(10), c_bmax varbinary(max), c_guid uniqueidentifier, c_empty varchar(5), c_null int
);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
`

const everyValue = `1, 255, -32768, -9223372036854775808, 1234567890.0123456789, -123.45,
 -922337203685477.5808, 214748.3647, 1.1, 0.1,
 '0001-01-01', '23:59:59', '12:34:56.1234567', '2024-05-06T07:08:09.003', '2024-05-06T07:08:00', '2024-05-06T07:08:09', '2024-05-06T07:08:09.1234567', '2024-05-06T07:08:09.123+05:30',
 'cc', 'résumé', N'注', N'注文', 'long', N'長い',
 0x01, 0x, 0x0102, '6F9619FF-8B86-D011-B42D-00C04FC964FF', '', NULL`

// The same row looks the same in both phases, byte for byte.
func TestSnapshotAndStream_EqualRows(t *testing.T) {
	s := servertest.Start(t, everyType)
	s.Change(t, "INSERT dbo.t VALUES (1, "+everyValue+");")
	conn := s.Connect(t)
	out := &sink{}
	require.NoError(t, snapshot.New(conn, snapshot.Options{Tables: tablesOf(t, conn), Encoder: encoder}, nil).Run(t.Context(), out))
	require.Len(t, out.messages, 1)
	require.True(t, out.progress.Done)

	s.Change(t, "INSERT dbo.t VALUES (2, "+everyValue+");")
	r := stream.New(conn, streamSink{out}, stream.Options{Encoder: encoder}, stream.State{Position: out.progress.Position()})
	_, err := r.PollOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, out.messages, 2, "the row of the snapshot does not come again")
	assert.Equal(t, after(t, out.messages[0]), after(t, out.messages[1]))
	assert.NotContains(t, string(out.messages[0].Value), "computed")
	assert.NotContains(t, string(out.messages[1].Value), "persisted")
	assert.True(t, out.messages[0].Position.Before(out.messages[1].Position))
}

func TestSnapshot_IsolationOverTheWire(t *testing.T) {
	script := `CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL); CREATE TABLE dbo.heap (id int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5); INSERT dbo.heap VALUES (1), (1);`
	for _, mode := range []snapshot.Isolation{snapshot.IsolationAuto, snapshot.IsolationReadCommitted, snapshot.IsolationSnapshot} {
		t.Run(string(mode), func(t *testing.T) {
			s := servertest.Start(t, script)
			s.Capture(t)
			conn := s.Connect(t)
			opts := snapshot.Options{Tables: tablesOf(t, conn), Encoder: encoder, Isolation: mode, FetchSize: 2, MaxBatchSize: 3}
			out := &sink{}
			err := snapshot.New(conn, opts, nil).Run(t.Context(), out)
			if mode == snapshot.IsolationSnapshot {
				require.ErrorContains(t, err, "ALTER DATABASE [db] SET ALLOW_SNAPSHOT_ISOLATION ON")
				s.Exec(t, "ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON")
				err = snapshot.New(conn, opts, nil).Run(t.Context(), out)
			}
			require.NoError(t, err)
			assert.Len(t, out.messages, 7)
			require.True(t, out.progress.Done)
			assert.NoError(t, conn.Exec(t.Context(), "IF @@TRANCOUNT > 0 THROW 50000, 'a transaction is open', 1"))
		})
	}
}
