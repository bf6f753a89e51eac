package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// everyType are the types that events carry, each with a value in T-SQL.
// rowversion is not among them: a table has one at most.
var everyType = []struct{ declared, value string }{
	{"bit", "1"},
	{"tinyint", "255"},
	{"smallint", "-32768"},
	{"int", "-2147483648"},
	{"bigint", "-9223372036854775808"},
	{"decimal(38,10)", "1234567890.0123456789"},
	{"numeric(5,2)", "-123.45"},
	{"money", "-922337203685477.5808"},
	{"smallmoney", "214748.3647"},
	{"real", "1.1"},
	{"float", "0.1"},
	{"float(24)", "0.3"},
	{"date", "'0001-01-01'"},
	{"time(0)", "'23:59:59'"},
	{"time(5)", "'12:34:56.12345'"},
	{"time(7)", "'12:34:56.1234567'"},
	{"datetime", "'2024-05-06T07:08:09.003'"},
	{"smalldatetime", "'2024-05-06T07:08:00'"},
	{"datetime2(0)", "'2024-05-06T07:08:09'"},
	{"datetime2(5)", "'2024-05-06T07:08:09.12345'"},
	{"datetime2(7)", "'2024-05-06T07:08:09.1234567'"},
	{"datetimeoffset(3)", "'2024-05-06T07:08:09.123+05:30'"},
	{"char(3)", "'cc'"},
	{"varchar(10)", "'résumé'"},
	{"varchar(5)", "''"},
	{"nchar(3)", "N'注'"},
	{"nvarchar(10)", "N'注文'"},
	{"varchar(max)", "'long'"},
	{"nvarchar(max)", "N'長い'"},
	{"text", "'old'"},
	{"ntext", "N'古い'"},
	{"xml", "'<a>1</a>'"},
	{"binary(4)", "0x01"},
	{"varbinary(10)", "0x"},
	{"varbinary(max)", "0x0102"},
	{"image", "0x0304"},
	{"uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'"},
	{"sysname", "N'alias'"},
	{"hierarchyid", "CONVERT(hierarchyid, 0x5AC0)"},
}

// The same row looks the same in both phases, byte for byte. Each type is
// there nullable and NOT NULL: the server sends the two in different forms, and
// a change table has only the nullable one.
func TestSnapshotAndStream_EqualRows(t *testing.T) {
	var columns, names, values, nulls strings.Builder
	for i, c := range everyType {
		fmt.Fprintf(&columns, ", n%d %s NULL, v%d %s NOT NULL", i, c.declared, i, c.declared)
		fmt.Fprintf(&names, ", n%d, v%d", i, i)
		fmt.Fprintf(&values, ", %s, %s", c.value, c.value)
		fmt.Fprintf(&nulls, ", NULL, %s", c.value)
	}
	s := servertest.Start(t, `CREATE TABLE dbo.t (id int PRIMARY KEY`+columns.String()+`, version rowversion,
computed AS id * 2, persisted AS id + 1 PERSISTED);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;`)
	insert := "INSERT dbo.t (id" + names.String() + ") VALUES "
	s.Change(t, insert+"(1"+values.String()+"), (2"+nulls.String()+");")
	conn := s.Connect(t)
	snapped := &sink{}
	require.NoError(t, snapshot.New(conn, snapshot.Options{Tables: tablesOf(t, conn), Encoder: encoder}, nil).Run(t.Context(), snapped))
	require.True(t, snapped.progress.Done)

	streamed := streamFrom(t, conn, stream.State{})
	require.Len(t, snapped.messages, 2)
	require.Len(t, streamed.messages, 2)
	for i := range snapped.messages {
		assert.Equal(t, after(t, snapped.messages[i]), after(t, streamed.messages[i]))
		assert.Equal(t, snapped.messages[i].Key, streamed.messages[i].Key)
		assert.NotContains(t, string(snapped.messages[i].Value), "computed")
		assert.NotContains(t, string(streamed.messages[i].Value), "persisted")
	}

	s.Change(t, insert+"(3"+values.String()+");")
	next := streamFrom(t, conn, stream.State{Position: snapped.progress.Position()})
	require.Len(t, next.messages, 1, "the rows of the snapshot do not come again")
	assert.True(t, snapped.messages[1].Position.Before(next.messages[0].Position))
}

// streamFrom reads what there is after a state.
func streamFrom(t *testing.T, conn *sqlserver.Conn, start stream.State) *sink {
	t.Helper()
	out := &sink{}
	r := stream.New(conn, streamSink{out}, stream.Options{Encoder: encoder}, start)
	for more := true; more; {
		var err error
		more, err = r.PollOnce(t.Context())
		require.NoError(t, err)
	}
	return out
}
