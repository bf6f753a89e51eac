package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// played opens a session of sa on an instance that plays a release.
func played(t *testing.T, opts engine.Options) (*engine.Instance, *engine.Session) {
	t.Helper()
	in, err := engine.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, in.Close()) })
	s, err := in.Login(engine.Login{User: "sa", Database: "master"})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return in, s
}

// newerThan tells the versions that come before one in engine.Versions.
func newerThan(t *testing.T, version, since string) bool {
	t.Helper()
	at := map[string]int{}
	for i, v := range engine.Versions() {
		at[v] = i
	}
	return at[version] >= at[since]
}

// TestRelease_Columns holds columns and views to the release that brought them
// (MS docs: the page of each view).
func TestRelease_Columns(t *testing.T) {
	cases := []struct{ view, column, since string }{
		{"sys.databases", "is_temporal_history_retention_enabled", "2017"},
		{"sys.databases", "is_accelerated_database_recovery_on", "2019"},
		{"sys.databases", "physical_database_name", "2019"},
		{"sys.databases", "is_ledger_on", "2022"},
		{"sys.databases", "is_optimized_locking_on", "2025"},
		{"sys.databases", "is_cdc_enabled", "2016SP1"},
		{"sys.tables", "temporal_type", "2016SP1"},
		{"sys.tables", "is_node", "2017"},
		{"sys.tables", "ledger_type", "2022"},
		{"sys.columns", "is_masked", "2016SP1"},
		{"sys.columns", "graph_type", "2017"},
		{"sys.columns", "ledger_view_column_type", "2022"},
		{"sys.columns", "vector_dimensions", "2025"},
		{"sys.computed_columns", "vector_dimensions", "2025"},
		{"sys.indexes", "suppress_dup_key_messages", "2017"},
		{"sys.indexes", "optimize_for_sequential_key", "2019"},
		{"sys.index_columns", "column_store_order_ordinal", "2022"},
		{"sys.sql_modules", "is_inlineable", "2019"},
		{"sys.stats", "has_persisted_sample", "2019"},
		{"sys.stats", "auto_drop", "2022"},
		{"sys.partitions", "xml_compression", "2022"},
		{"sys.key_constraints", "is_enforced", "2019"},
		{"sys.views", "has_snapshot", "2019"},
		{"sys.dm_os_host_info", "host_platform", "2017"},
		{"sys.dm_os_host_info", "host_architecture", "2019"},
		{"sys.dm_os_sys_info", "container_type", "2019"},
		{"sys.column_master_keys", "signature", "2019"},
		{"sys.dm_database_encryption_keys", "encryption_scan_state", "2019"},
		{"sys.availability_groups", "is_contained", "2022"},
	}
	for _, version := range []string{"2016SP1", "2016SP2", "2017", "2019", "2022", "2025"} {
		t.Run(version, func(t *testing.T) {
			_, s := played(t, engine.Options{Version: version})
			for _, c := range cases {
				out := run(t, s, "SELECT "+c.column+" FROM "+c.view)
				if newerThan(t, version, c.since) {
					assert.NotContains(t, out, "Msg", "%s.%s", c.view, c.column)
				} else {
					assert.Regexp(t, "Msg 20[78],", out, "%s.%s", c.view, c.column)
				}
			}
		})
	}
}

// TestRelease_Functions holds functions and syntax to the release that brought
// them (MS docs: the page of each function).
func TestRelease_Functions(t *testing.T) {
	cases := []struct{ query, since string }{
		{"SELECT value FROM STRING_SPLIT('a,b', ',')", "2016SP1"},
		{"SELECT FORMAT(1, 'N0')", "2016SP1"},
		{"SELECT STRING_AGG(name, ',') FROM sys.schemas", "2017"},
		{"SELECT TRIM(' a ')", "2017"},
		{"SELECT CONCAT_WS(',', 1, 2)", "2017"},
		{"SELECT TRANSLATE('abc', 'a', 'b')", "2017"},
		{"SELECT CURRENT_TIMEZONE()", "2019"},
		{"SELECT CURRENT_TIMEZONE_ID()", "2022"},
		{"SELECT GREATEST(1, 2), LEAST(1, 2)", "2022"},
		{"SELECT DATETRUNC(day, GETDATE())", "2022"},
		{"SELECT value FROM GENERATE_SERIES(1, 3)", "2022"},
		{"SELECT 1 WHERE 1 IS DISTINCT FROM 2", "2022"},
	}
	for _, version := range []string{"2016SP1", "2017", "2019", "2022", "2025", "AzureSQLDatabase"} {
		t.Run(version, func(t *testing.T) {
			_, s := played(t, engine.Options{Version: version})
			for _, c := range cases {
				out := run(t, s, c.query)
				if newerThan(t, version, c.since) {
					assert.NotContains(t, out, "Msg", c.query)
				} else {
					assert.Regexp(t, "Msg (195|208|156),", out, c.query)
				}
			}
		})
	}
	_, s := played(t, engine.Options{Version: "2025"})
	assert.Contains(t, run(t, s, "DECLARE @v vector(3)"), "Msg 40000,", "there in 2025, and not played")
	assert.Contains(t, run(t, s, "SELECT REGEXP_COUNT('a', 'a')"), "Msg 40000,")
	_, s = played(t, engine.Options{Version: "2022"})
	assert.Contains(t, run(t, s, "SELECT REGEXP_COUNT('a', 'a')"), "Msg 195,")
}

func TestRelease_Truncation(t *testing.T) {
	const batch = "CREATE TABLE #t (a varchar(2)) INSERT #t VALUES ('abc')"
	_, old := played(t, engine.Options{Version: "2017"})
	assert.Contains(t, run(t, old, batch), "Msg 8152, Level 16, State 30")
	_, current := played(t, engine.Options{Version: "2019"})
	assert.Contains(t, run(t, current, batch), "Msg 2628,")
}

func TestServerProperty(t *testing.T) {
	cases := []struct {
		version, edition, name, engineEdition, build, banner string
		level                                                string
	}{
		{"2016SP1", "Standard", "Standard Edition (64-bit)", "2", "13.0.4001.0", "Microsoft SQL Server 2016 (SP1) (KB3182545) - 13.0.4001.0 (X64) ", "SP1"},
		{"2017", "Express", "Express Edition (64-bit)", "4", "14.0.3456.2", "Microsoft SQL Server 2017 (RTM-CU31) (KB5016884) - 14.0.3456.2 (X64) ", "RTM"},
		{"2019", "Enterprise", "Enterprise Edition (64-bit)", "3", "15.0.4375.4", "Microsoft SQL Server 2019 (RTM-CU27) (KB5037331) - 15.0.4375.4 (X64) ", "RTM"},
		{"", "", "Developer Edition (64-bit)", "3", "16.0.4165.4", "Microsoft SQL Server 2022 (RTM-CU16) (KB5048033) - 16.0.4165.4 (X64) ", "RTM"},
		{"2025", "Developer", "Enterprise Developer Edition (64-bit)", "3", "17.0.1000.7", "Microsoft SQL Server 2025 (RTM) - 17.0.1000.7 (X64) ", "RTM"},
		{"AzureSQLDatabase", "", "SQL Azure", "5", "12.0.2000.8", "Microsoft SQL Azure (RTM) - 12.0.2000.8 ", "RTM"},
		{"ManagedInstance", "", "SQL Azure", "8", "12.0.2000.8", "Microsoft SQL Azure (RTM) - 12.0.2000.8 ", "RTM"},
	}
	for _, c := range cases {
		t.Run(c.version+c.edition, func(t *testing.T) {
			_, s := played(t, engine.Options{Version: c.version, Edition: c.edition})
			out := run(t, s, "SELECT SERVERPROPERTY('Edition'), SERVERPROPERTY('EngineEdition'), SERVERPROPERTY('ProductVersion'), SERVERPROPERTY('ProductLevel')")
			assert.Contains(t, out, c.name+" | "+c.engineEdition+" | "+c.build+" | "+c.level)
			assert.Contains(t, run(t, s, "SELECT @@VERSION"), c.banner)
		})
	}
	_, err := engine.New(engine.Options{Version: "2008"})
	require.ErrorContains(t, err, `"2008": use one of 2016SP1, 2016SP2`)
	_, err = engine.New(engine.Options{Edition: "Ultimate"})
	require.ErrorContains(t, err, "use one of Developer, Enterprise")
	_, err = engine.New(engine.Options{Collation: "Klingon_CI_AS"})
	require.ErrorContains(t, err, `unknown collation "Klingon_CI_AS"`)
}

// TestSystemViews_Rows reads every system view of every product, so that no row
// names a column that its view has not.
func TestSystemViews_Rows(t *testing.T) {
	for _, version := range engine.Versions() {
		t.Run(version, func(t *testing.T) {
			_, s := played(t, engine.Options{Version: version})
			if version == "2022" {
				require.NotContains(t, run(t, s, "CREATE DATABASE d COLLATE Latin1_General_CI_AS"), "Msg")
				run(t, s, "USE d")
				require.NotContains(t, run(t, s, "CREATE TABLE p (id int IDENTITY PRIMARY KEY, v varchar(max) DEFAULT 'x', c AS id * 2, CHECK (id > 0))"), "Msg")
				require.NotContains(t, run(t, s, "CREATE TABLE f (id int REFERENCES p(id)); EXEC sp_addextendedproperty 'n', N'v', 'SCHEMA', 'dbo', 'TABLE', 'p', 'COLUMN', 'v'"), "Msg")
				require.NotContains(t, run(t, s, "CREATE TYPE dbo.money2 FROM decimal(20, 2)"), "Msg")
				require.NotContains(t, run(t, s, "CREATE FUNCTION dbo.f1 (@a int) RETURNS int AS BEGIN RETURN @a END"), "Msg")
			}
			names := run(t, s, "SELECT s.name + '.' + v.name AS n FROM sys.all_views v JOIN sys.schemas s ON s.schema_id = v.schema_id ORDER BY 1")
			lines := strings.Split(names, "\n")
			require.Greater(t, len(lines), 90)
			for _, name := range lines {
				if strings.HasPrefix(name, "sys.") || strings.HasPrefix(name, "INFORMATION_SCHEMA.") {
					assert.NotContains(t, run(t, s, "SELECT * FROM "+name), "Msg", name)
				}
			}
		})
	}
}

func TestProtectedColumns(t *testing.T) {
	_, s := played(t, engine.Options{})
	run(t, s, "CREATE DATABASE vault")
	run(t, s, "USE vault")
	require.NotContains(t, run(t, s, `CREATE TABLE t (id int, mail varchar(50) MASKED WITH (FUNCTION = 'email()'),
		ssn char(11) COLLATE Latin1_General_BIN2 ENCRYPTED WITH (COLUMN_ENCRYPTION_KEY = CEK1, ENCRYPTION_TYPE = DETERMINISTIC, ALGORITHM = 'AEAD_AES_256_CBC_HMAC_SHA_256'))`), "Msg")
	assert.Contains(t, run(t, s, "SELECT name, masking_function FROM sys.masked_columns"), "mail | email()")
	require.NotContains(t, run(t, s, "ALTER TABLE t ALTER COLUMN id ADD MASKED WITH (FUNCTION = 'default()'); ALTER TABLE t ALTER COLUMN mail DROP MASKED"), "Msg")
	assert.Contains(t, run(t, s, "SELECT name, masking_function FROM sys.masked_columns"), "id | default()")
	assert.Contains(t, run(t, s, "SELECT name, encryption_type, encryption_type_desc, encryption_algorithm_name FROM sys.columns WHERE encryption_type IS NOT NULL"),
		"ssn | 1 | DETERMINISTIC | AEAD_AES_256_CBC_HMAC_SHA_256")
}

func TestConfigurations(t *testing.T) {
	in, s := played(t, engine.Options{})
	assert.Contains(t, run(t, s, "EXEC sp_configure 'xp_cmdshell'"), "Msg 15123,", "an advanced option")
	assert.Contains(t, run(t, s, "EXEC sp_configure 'max text repl size', 100"), "changed from 65536 to 100. Run the RECONFIGURE statement to install.")
	assert.EqualValues(t, 65536, in.ServerSetting("max text repl size (B)"))
	run(t, s, "RECONFIGURE")
	assert.EqualValues(t, 100, in.ServerSetting("max text repl size (B)"))
	assert.Contains(t, run(t, s, "EXEC sp_configure 'clr enabled', 2"), "Msg 15129,")
}

func TestAzure_OneDatabase(t *testing.T) {
	_, s := played(t, engine.Options{Version: "AzureSQLDatabase"})
	run(t, s, "CREATE DATABASE other")
	assert.Contains(t, run(t, s, "USE other"), "Msg 40508,")
	assert.Contains(t, run(t, s, "SELECT * FROM other.sys.tables"), "Msg 40515,")
	assert.NotContains(t, run(t, s, "USE master"), "Msg 40508,", "the database that it is in")
	_, s = played(t, engine.Options{Version: "ManagedInstance"})
	run(t, s, "CREATE DATABASE other")
	assert.NotContains(t, run(t, s, "USE other"), "Msg 40508,")
}

// Azure SQL Database versions rows from the start, and has no statements for its
// backups (MS docs: T-SQL differences between SQL Server and Azure SQL Database).
func TestAzure_Databases(t *testing.T) {
	in, s := played(t, engine.Options{Version: "AzureSQLDatabase"})
	run(t, s, "CREATE DATABASE other; ")
	assert.Contains(t, run(t, s, "SELECT is_read_committed_snapshot_on, snapshot_isolation_state_desc FROM sys.databases WHERE name = 'other'"), "\n1 | ON\n")
	assert.Contains(t, run(t, s, "BACKUP DATABASE other TO DISK = 'other'"), "Msg 40510,")
	assert.Contains(t, run(t, s, "RESTORE DATABASE other FROM DISK = 'other'"), "Msg 40510,")

	writer, err := in.Login(engine.Login{User: "sa", Database: "other"})
	require.NoError(t, err)
	t.Cleanup(writer.Close)
	reader, err := in.Login(engine.Login{User: "sa", Database: "other"})
	require.NoError(t, err)
	t.Cleanup(reader.Close)
	must(t, writer, "CREATE TABLE t (id int); INSERT t VALUES (1); BEGIN TRAN; UPDATE t SET id = 2")
	assert.Contains(t, run(t, reader, "SET LOCK_TIMEOUT 0; SELECT id FROM t"), "\n1\n")
	assert.Contains(t, run(t, reader, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT id FROM t"), "\n1\n")
}

// TestUserWithPassword: only databases that hold their own logins have such users.
func TestUserWithPassword(t *testing.T) {
	_, s := played(t, engine.Options{})
	assert.Contains(t, run(t, s, "CREATE USER bob WITH PASSWORD = 'Abcdef.1!'"), "Msg 33233,")
	_, s = played(t, engine.Options{Version: "AzureSQLDatabase"})
	assert.Contains(t, run(t, s, "CREATE USER bob WITH PASSWORD = 'Abcdef.1!'"), "Msg 40000,")
}

// TestRelease_Collations: _UTF8 came with 2019, version 140 with 2017 (MS docs:
// Collation and Unicode support).
func TestRelease_Collations(t *testing.T) {
	for version, want := range map[string][2]bool{"2016SP2": {false, false}, "2017": {true, false}, "2019": {true, true}, "AzureSQLDatabase": {true, true}} {
		_, s := played(t, engine.Options{Version: version})
		for i, name := range []string{"Japanese_XJIS_140_CI_AS", "Latin1_General_100_CI_AS_SC_UTF8"} {
			for _, statement := range []string{"SELECT 'a' COLLATE " + name, "CREATE TABLE #" + name[:5] + " (a varchar(9) COLLATE " + name + ")"} {
				assert.Equal(t, want[i], !strings.Contains(run(t, s, statement), "Msg 448,"), "%s in %s", statement, version)
			}
		}
	}
	_, s := played(t, engine.Options{Version: "2017"})
	assert.Contains(t, run(t, s, "CREATE DATABASE d COLLATE Latin1_General_100_BIN2_UTF8"), "Msg 448,")
	_, err := engine.New(engine.Options{Version: "2017", Collation: "Latin1_General_100_BIN2_UTF8"})
	require.ErrorContains(t, err, "Latin1_General_100_BIN2_UTF8")
}

func TestRelease_StringSplit(t *testing.T) {
	_, s := played(t, engine.Options{Version: "2022"})
	assert.Contains(t, run(t, s, "SELECT * FROM STRING_SPLIT('a,b', ',', 1)"), "value nvarchar(max) | ordinal bigint\na | 1\nb | 2\n")
	assert.Contains(t, run(t, s, "SELECT * FROM STRING_SPLIT('a,b', ',', 0)"), "value nvarchar(max)\na\nb\n")
	assert.Contains(t, run(t, s, "SELECT * FROM STRING_SPLIT('a,b', ',,')"), "Msg 214,")
	assert.Contains(t, run(t, s, "SELECT * FROM GENERATE_SERIES(3, 1)"), "\n3\n2\n1\n")
	assert.Contains(t, run(t, s, "SELECT * FROM GENERATE_SERIES(1, 8, 3)"), "\n1\n4\n7\n(3)")
	assert.Contains(t, run(t, s, "SELECT * FROM GENERATE_SERIES(1, 8, 0)"), "Msg 4199,")
	_, s = played(t, engine.Options{Version: "2019"})
	assert.Contains(t, run(t, s, "SELECT * FROM STRING_SPLIT('a,b', ',', 1)"), "Msg 8144,")
	assert.Contains(t, run(t, s, "SELECT * FROM STRING_SPLIT('a,b', ',')"), "\na\nb\n")
}

func TestRelease_JoinOperator(t *testing.T) {
	_, s := played(t, engine.Options{Version: "2022"})
	assert.Contains(t, run(t, s, "SELECT 'a' || 'b'"), "Msg 102,")
	_, s = played(t, engine.Options{Version: "2025"})
	assert.Contains(t, run(t, s, "SELECT 'a' || 'b'"), "Msg 40517, Level 16, State 1, Line 1: Keyword or statement option '||' is not supported")
	assert.Contains(t, run(t, s, "SELECT 1 | 2"), "\n3\n")
}
