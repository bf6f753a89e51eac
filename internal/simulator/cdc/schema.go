package cdc

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"

type metaTable struct{ schema, name, definition string }

// metaTables are the tables that enabling a database makes.
func metaTables(x *engine.Exec) []metaTable {
	if x.Instance().IsAzure() {
		return append(commonTables[:len(commonTables):len(commonTables)], metaTable{"cdc", "cdc_jobs", "CREATE TABLE cdc.cdc_jobs " + jobsColumns})
	}
	return commonTables
}

// stubFunctions are what enabling a database makes for the messages of the range
// functions: errors 229 and 313 name them.
var stubFunctions = []string{
	"fn_cdc_get_all_changes_...", "fn_cdc_get_net_changes_...", "fn_cdc_get_all_changes_ ... ", "fn_cdc_get_net_changes_ ... ",
}

// commonTables are the tables of a database that captures, in the shapes of MS
// docs "Change Data Capture Tables" and, for nullability and keys, of scripted
// schemas of real servers. Readers depend on the order of columns.
var commonTables = []metaTable{
	{"cdc", "change_tables", `CREATE TABLE cdc.change_tables (
	object_id int NOT NULL, version int NULL, source_object_id int NULL, capture_instance sysname NOT NULL,
	start_lsn binary(10) NULL, end_lsn binary(10) NULL, supports_net_changes bit NULL, has_drop_pending bit NULL,
	role_name sysname NULL, index_name sysname NULL, filegroup_name sysname NULL, create_date datetime NULL,
	partition_switch bit NOT NULL DEFAULT ((0)));
CREATE UNIQUE CLUSTERED INDEX change_tables_clustered_idx ON cdc.change_tables (object_id);
CREATE UNIQUE INDEX change_tables_unique_idx ON cdc.change_tables (capture_instance);
CREATE INDEX source_object_id_idx ON cdc.change_tables (source_object_id)`},
	{"cdc", "captured_columns", `CREATE TABLE cdc.captured_columns (
	object_id int NOT NULL, column_name sysname NOT NULL, column_id int NULL, column_type sysname NOT NULL,
	column_ordinal int NOT NULL, is_computed bit NULL, masking_function nvarchar(4000) NULL);
CREATE UNIQUE CLUSTERED INDEX captured_columns_clustered_idx ON cdc.captured_columns (object_id, column_ordinal)`},
	{"cdc", "index_columns", `CREATE TABLE cdc.index_columns (
	object_id int NOT NULL, column_name sysname NOT NULL, index_ordinal tinyint NOT NULL, column_id int NOT NULL);
CREATE UNIQUE CLUSTERED INDEX index_columns_clustered_idx ON cdc.index_columns (object_id, index_ordinal)`},
	{"cdc", "ddl_history", `CREATE TABLE cdc.ddl_history (
	source_object_id int NULL, object_id int NOT NULL, required_column_update bit NULL, ddl_command nvarchar(max) NULL,
	ddl_lsn binary(10) NOT NULL, ddl_time datetime NULL);
CREATE CLUSTERED INDEX ddl_history_clustered_idx ON cdc.ddl_history (object_id, ddl_lsn)`},
	{"cdc", "lsn_time_mapping", `CREATE TABLE cdc.lsn_time_mapping (
	start_lsn binary(10) NOT NULL, tran_begin_time datetime NULL, tran_end_time datetime NULL,
	tran_id varbinary(10) NULL, tran_begin_lsn binary(10) NULL);
CREATE UNIQUE CLUSTERED INDEX lsn_time_mapping_clustered_idx ON cdc.lsn_time_mapping (start_lsn);
CREATE INDEX lsn_time_mapping_nonunique_idx ON cdc.lsn_time_mapping (tran_end_time)`},
	{"dbo", "systranschemas", `CREATE TABLE dbo.systranschemas (
	tabid int NOT NULL, startlsn binary(10) NOT NULL, endlsn binary(10) NOT NULL, typeid int NOT NULL DEFAULT ((52)));
CREATE UNIQUE CLUSTERED INDEX uncsystranschemas ON dbo.systranschemas (startlsn)`},
}

// jobsTable makes msdb.dbo.cdc_jobs, which exists once a database has had a job.
const jobsTable = `IF OBJECT_ID(N'dbo.cdc_jobs') IS NULL CREATE TABLE dbo.cdc_jobs ` + jobsColumns

const jobsColumns = `(
	database_id int NOT NULL, job_type nvarchar(20) NOT NULL, job_id uniqueidentifier NULL, maxtrans int NULL, maxscans int NULL,
	continuous bit NULL, pollinginterval bigint NULL, retention bigint NULL, threshold bigint NULL,
	PRIMARY KEY CLUSTERED (database_id, job_type))`
