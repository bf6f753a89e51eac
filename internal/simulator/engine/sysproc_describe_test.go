package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// TestDescribeFirstResult follows MS docs: sp_describe_first_result_set.
func TestDescribeFirstResult(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE t (id int IDENTITY PRIMARY KEY, name nvarchar(20) NULL, price decimal(9, 2) NOT NULL, doc xml)")
	must(t, s, "CREATE PROCEDURE p @n int AS IF @n = 1 SELECT name FROM t ELSE DELETE t")
	const columns = "SELECT column_ordinal, name, is_nullable, system_type_name, max_length, precision, scale, is_identity_column FROM sys.dm_exec_describe_first_result_set"
	assert.Contains(t, run(t, s, columns+"(N'DELETE t; SELECT id, name, price * @p, doc FROM t; SELECT 1', N'@p int', 0)"),
		"1 | id | 0 | int | 4 | 10 | 0 | 1\n2 | name | 1 | nvarchar(20) | 40 | 0 | 0 | 0\n3 | NULL | 1 | numeric(20,2) | 13 | 20 | 2 | 0\n4 | doc | 1 | xml | -1 | 0 | 0 | 0\n(4)")
	assert.Contains(t, run(t, s, "SELECT name, error_number FROM sys.dm_exec_describe_first_result_set_for_object(OBJECT_ID('p'), 0)"), "\nname | NULL\n(1)")
	assert.Contains(t, run(t, s, "SELECT error_type_desc FROM sys.dm_exec_describe_first_result_set_for_object(OBJECT_ID('t'), 0)"), "OBJECT_TYPE_NOT_SUPPORTED")
	assert.Contains(t, run(t, s, "SELECT error_number, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'SELECT FROM', NULL, 0)"), " | SYNTAX\n")
	assert.Contains(t, run(t, s, "SELECT error_number FROM sys.dm_exec_describe_first_result_set(N'SELECT x FROM t', NULL, 0)"), "\n207\n")
	assert.Contains(t, run(t, s, "SELECT * FROM sys.dm_exec_describe_first_result_set(N'DELETE t', NULL, 0)"), "(0)")

	wire := must(t, s, "EXEC sp_describe_first_result_set N'SELECT id, name FROM t'").out.String()
	assert.Contains(t, wire, "0 | 1 | id | 0 | 56 | int | 4 | 10 | 0 | NULL |")
	assert.Contains(t, wire, "| 56 | 4 | NULL | NULL\n")
	assert.Contains(t, wire, "| 231 | 40 | 13632521 | 52\n")
	assert.Contains(t, run(t, s, "SELECT COUNT(*) FROM t; EXEC sp_describe_first_result_set N'SELECT nosuch FROM t'"), "Msg 207,")
	assert.Contains(t, run(t, s, "EXEC sp_describe_first_result_set N'SELECT 1', NULL, 1"), "Msg 40000,")
	assert.Contains(t, run(t, s, "EXEC sp_describe_undeclared_parameters N'SELECT @p'"), "Msg 40000,")
	assert.Contains(t, run(t, s, "EXEC sp_help t"), "Msg 40000,")
	assert.NotContains(t, run(t, s, "SELECT 1"), "Msg", "the session runs statements again")
}

func TestCatalogProcedures_ByRelease(t *testing.T) {
	for version, known := range map[string]bool{"2016SP1": false, "2022": false, "2025": true, "AzureSQLDatabase": true} {
		_, s := played(t, engine.Options{Version: version})
		out := run(t, s, "EXEC sp_columns_170 'nosuch'")
		assert.Equal(t, known, !strings.Contains(out, "Msg 2812,"), version)
	}
}

func TestDatatypeInfo(t *testing.T) {
	_, s := shop(t)
	require.Contains(t, run(t, s, "EXEC sp_datatype_info_100 -9, 3"), "nvarchar | -9 | 4000 | N' | ' | max length | 1 | 0 | 3 | NULL | 0 | NULL | nvarchar | NULL | NULL | -9 | NULL | NULL | NULL | 0\n")
	all := run(t, s, "EXEC sp_datatype_info")
	assert.Contains(t, all, "int identity | 4 | 10 | NULL | NULL | NULL | 0 | 0 | 2 | 0 | 0 | 1 | int identity | 0 | 0 | 4 | NULL | 10 | NULL | 7\n")
	assert.Contains(t, all, "money | 3 | 19 | $ | NULL | NULL | 1 | 0 | 2 | 0 | 1 | 0 | money | 4 | 4 | 3 | NULL | 10 | NULL | 11\n")
	assert.Contains(t, run(t, s, "EXEC xp_msver 'ProductVersion'"), "2 | ProductVersion | 1048576 | 16.0.4165.4\n")
	assert.Contains(t, run(t, s, "EXEC sp_sproc_columns_100 'nosuch'"), "SS_TYPE_SCHEMA_NAME")
	assert.NotContains(t, run(t, s, "EXEC sp_sproc_columns 'nosuch'"), "SS_TYPE_SCHEMA_NAME")
}

func TestIsPrimaryReplica(t *testing.T) {
	in, s := shop(t)
	assert.Contains(t, run(t, s, "SELECT sys.fn_hadr_is_primary_replica('shop')"), "NULL", "no availability group")
	r, err := in.AddReplica(engine.ReplicaOptions{Name: "second"})
	require.NoError(t, err)
	assert.Contains(t, run(t, s, "SELECT sys.fn_hadr_is_primary_replica('shop')"), "\n1\n")
	second, err := in.Login(engine.Login{User: "sa", Database: "shop", Replica: r})
	require.NoError(t, err)
	t.Cleanup(second.Close)
	assert.Contains(t, run(t, second, "SELECT sys.fn_hadr_is_primary_replica('shop')"), "\n0\n")
}
