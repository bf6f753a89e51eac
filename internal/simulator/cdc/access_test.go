package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A reader meets 313 outside the gating role, 229 without SELECT on the source
// (MS docs: cdc.fn_cdc_get_all_changes_<capture_instance>), and rows with both; a
// grant on the change table opens direct reads alone (measured on 2022 CU27 by
// emanuel-luis/mssql-cdc-pyspark).
func TestRangeFunctions_Access(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.exec("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate'")
	s.exec("INSERT t VALUES (1, 1)")
	s.capture()
	reader := s.reader()
	const read = "DECLARE @a binary(10) = (SELECT MIN(start_lsn) FROM cdc.lsn_time_mapping), @b binary(10) = sys.fn_cdc_get_max_lsn(); "
	all, net := read+"SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(@a, @b, N'all')", read+"SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(@a, @b, N'all')"
	ordinal := "SELECT sys.fn_cdc_get_column_ordinal('dbo_t', 'v')"

	e := batch(t, reader, all).errors
	require.NotEmpty(t, e)
	assert.Equal(t, int32(313), e[0].Number, "outside the role")
	assert.Equal(t, "NULL", show(onlyValue(t, reader, ordinal)))

	s.exec("ALTER ROLE gate ADD MEMBER reader")
	e = batch(t, reader, all).errors
	require.NotEmpty(t, e)
	assert.Equal(t, "The SELECT permission was denied on the object 'fn_cdc_get_all_changes_...', database 'shop', schema 'cdc'.", e[0].Message)
	assert.Equal(t, []any{int32(229), uint8(14), uint8(5)}, []any{e[0].Number, e[0].Class, e[0].State})
	e = batch(t, reader, net).errors
	require.NotEmpty(t, e)
	assert.Contains(t, e[0].Message, "'fn_cdc_get_net_changes_...'")

	s.exec("GRANT SELECT (id) ON dbo.t TO reader")
	e = batch(t, reader, all).errors
	require.NotEmpty(t, e)
	assert.Equal(t, int32(229), e[0].Number, "one captured column is not enough")
	s.exec("GRANT SELECT (v) ON dbo.t TO reader")
	assert.Len(t, batch(t, reader, all).rows, 1)
	assert.Len(t, batch(t, reader, net).rows, 1)
	assert.Equal(t, "2", show(onlyValue(t, reader, ordinal)))

	direct := "SELECT * FROM cdc.dbo_t_CT"
	require.NotEmpty(t, batch(t, reader, direct).errors)
	s.exec("ALTER ROLE gate DROP MEMBER reader; GRANT SELECT ON cdc.dbo_t_CT TO reader")
	assert.Len(t, batch(t, reader, direct).rows, 1, "past the role")
	require.NotEmpty(t, batch(t, reader, all).errors)
}
