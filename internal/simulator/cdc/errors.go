package cdc

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// raise is an error of severity 16. Numbers and texts are those of MS docs,
// "Database Engine events and errors", 22000 and up.
func raise(number int32, format string, args ...any) *sqltypes.Error {
	return sqltypes.Errorf(number, 1, 16, format, args...)
}

func errNotEnabled(database string) *sqltypes.Error {
	return raise(22901, "The database '%s' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation. "+
		"To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.", database)
}

func errPrivileges(needed string) *sqltypes.Error {
	return raise(22902, "Caller is not authorized to initiate the requested action. %s privileges are required.", needed)
}

func errEdition(edition string) *sqltypes.Error {
	return raise(22988, "This instance of SQL Server is the %s. Change data capture is only available in the Enterprise, Developer, Enterprise Evaluation, and Standard editions.", edition)
}

func errContained(database string) *sqltypes.Error {
	return raise(12839, "Change data capture and change tracking are not supported in the contained database '%s'.", database)
}

func errEmptyParameter(name string) *sqltypes.Error {
	return raise(22963, "Parameter '%s' cannot be null or empty. Specify a value for the named parameter and retry the operation.", name)
}

func errNoFilegroup(filegroup, database string) *sqltypes.Error {
	return raise(22973, "The specified filegroup '%s' is not a valid filegroup for database '%s'. Specify a valid existing filegroup or create the named filegroup, and retry the operation.", filegroup, database)
}

func errTooManyKeys(index, schema, table string) *sqltypes.Error {
	return raise(22865, "The number of columns in the index '%s', used as the unique row identifier to support net changes for table '%s'.'%s', exceeds the limit of 14 columns. "+
		"Set the parameter @supports_net_changes to 0 or use the @index_name parameter to identify a unique index with fewer than 15 columns as the unique row identifier and resubmit the request.", index, schema, table)
}

func errTooManyColumns(instance string, limit int) *sqltypes.Error {
	return raise(22925, "The number of columns captured by capture instance '%s' exceeds the maximum allowed number: %d. "+
		"Use the @captured_columns_list parameter to specify a subset of the columns less than or equal to the maximum allowed and resubmit the request.", instance, limit)
}

// errNotPartitioned is the warning for a table without partitions.
func errNotPartitioned() *sqltypes.Error {
	return sqltypes.Errorf(22857, 1, 10, "Warning: The @allow_partition_switch parameter must be 1 for tables that are not partitioned. The explicit setting of the parameter to 0 was ignored. "+
		"Refer to books online for more information about partition switching behavior when using Change Data Capture.")
}

// errNoMask is the message for a server where 'clr enabled' is off, as it is at
// first.
func errNoMask() *sqltypes.Error {
	return sqltypes.Errorf(22969, 1, 10, "Update mask evaluation will be disabled in net_changes_function because the CLR configuration option is disabled.")
}

// errConstraintInUse is raised for a key constraint, errIndexInUse for an index.
func errConstraintInUse(index, table string) *sqltypes.Error {
	return raise(22979, "The unique index '%s' on table '%s' is used by Change Data Capture. The constraint using this index cannot be dropped or disabled.", index, table)
}

// errSourceDenied names the stub function of a kind, as the real server does.
func errSourceDenied(kind, database string) *sqltypes.Error {
	return sqltypes.Errorf(229, 5, 14, "The SELECT permission was denied on the object 'fn_cdc_get_%s_changes_...', database '%s', schema 'cdc'.", kind, database)
}

func errNotOwner() *sqltypes.Error {
	return raise(22904, "Caller is not authorized to initiate the requested action. DBO privileges are required.")
}

func errScannerRunning(spid int) *sqltypes.Error {
	return raise(22903, "Another connection with session ID %d is already running 'sp_replcmds' for Change Data Capture in the current database.", spid)
}

func errAlreadyEnabled(database string) *sqltypes.Error {
	return sqltypes.Errorf(22905, 1, 10, "Database '%s' is already enabled for Change Data Capture. Ensure that the correct database context is set, and retry the operation. "+
		"To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.", database)
}

func errCDCNameTaken(database string) *sqltypes.Error {
	return raise(22906, "The database '%s' cannot be enabled for Change Data Capture because a database user named 'cdc' or a schema named 'cdc' already exists in the current database. "+
		"These objects are required exclusively by Change Data Capture. Drop or rename the user or schema and retry the operation.", database)
}

func errEmptyRole() *sqltypes.Error {
	return raise(22907, "Parameter @role_name cannot be empty. Specify a value for @role_name and retry the operation. "+
		"Supply null as the value if no role is to be used to gate access to captured change data.")
}

func errSystemDatabase(database string) *sqltypes.Error {
	return raise(22989, "Could not enable Change Data Capture for database '%s'. Change data capture is not supported on system databases, or on a distribution database.", database)
}

func errCleanupDisabled(database string) *sqltypes.Error {
	return raise(22910, "The cleanup request for database '%s' failed. The database is not enabled for Change Data Capture.", database)
}

func errNotDDLAdmin() *sqltypes.Error {
	return raise(22914, "Only members of the sysadmin or db_owner or db_ddladmin roles can perform this operation when Change Data Capture is enabled for a database.")
}

func errUnknownCapture(instance, database string) *sqltypes.Error {
	return raise(22920, "The named capture instance %s does not exist for database %s.", instance, database)
}

func errInstanceTaken(instance string) *sqltypes.Error {
	return raise(22926, "Could not create a capture instance because the capture instance name '%s' already exists in the current database. Specify an explicit unique name for the parameter @capture_instance.", instance)
}

func errInstanceTooLong(instance string) *sqltypes.Error {
	return raise(22927, "Capture instance name '%s' exceeds the length limit of 100 characters. Specify a name that satisfies the length constraint.", instance)
}

func errNoSuchIndex(index, schema, table string) *sqltypes.Error {
	return raise(22928, "Index name '%s' is not an index for table '%s.%s'. Specify a valid index name for the table.", index, schema, table)
}

func errIndexNotUnique(index, schema, table string) *sqltypes.Error {
	return raise(22929, "Index '%s' must be either a primary key or a unique index for table '%s.%s'. Specify an index that meets at least one of these requirements.", index, schema, table)
}

func errIndexNullable(index, schema, table string) *sqltypes.Error {
	return raise(22838, "All columns of a CDC unique index must be defined as NOT NULL. Index '%s' selected as the CDC unique index for source table '%s.%s' does not meet this requirement. "+
		"Define all columns of the selected index as NOT NULL or select another unique index as the CDC index and resubmit the request.", index, schema, table)
}

func errColumnList(schema, table string) *sqltypes.Error {
	return raise(22942, "Columns specified in the captured column list could not be mapped to columns in source table '%s.%s'. "+
		"Verify that the columns specified in the parameter @captured_column_list are delimited properly and match columns in the source table.", schema, table)
}

func errColumnQuoting() *sqltypes.Error {
	return raise(22965, "A quoted column in the column list is not properly terminated. Verify that columns are correctly delimited and retry the operation. "+
		"For more information, see 'Delimited Identifiers' in Books Online.")
}

func errNoSourceTable(schema, table string) *sqltypes.Error {
	return raise(22931, "Source table '%s.%s' does not exist in the current database. Ensure that the correct database context is set. Specify a valid schema and table name for the database.", schema, table)
}

func errNoNetKey() *sqltypes.Error {
	return raise(22939, "The parameter @supports_net_changes is set to 1, but the source table does not have a primary key defined and no alternate unique index has been specified.")
}

func errKeyNotListed() *sqltypes.Error {
	return raise(22943, "Columns used to uniquely identify a row for net change tracking must be included in the list of captured columns. "+
		"Add either the primary key columns of the source table, or the columns defined for the index specified in the parameter @index_name to the list of captured columns and retry the operation.")
}

func errUnknownInstance(instance, schema, table string) *sqltypes.Error {
	return raise(22960, "Change data capture instance '%s' has not been enabled for the source table '%s.%s'. "+
		"Use sys.sp_cdc_help_change_data_capture to verify the capture instance name and retry the operation.", instance, schema, table)
}

func errTwoInstances(schema, table string) *sqltypes.Error {
	return raise(22962, "Two capture instances already exist for source table '%s.%s'. A table can have at most two capture instances. "+
		"If the current tracking options are not appropriate, disable change tracking for the obsolete instance by using sys.sp_cdc_disable_table and retry the operation.", schema, table)
}

// errAlter is what the capture job fails with when a change table cannot follow
// its source.
func errAlter(column, table, source string) *sqltypes.Error {
	return raise(22976, "Could not alter column '%s' of change table '%s' in response to a data type change in the corresponding column of the source table '%s'. "+
		"The Change Data Capture meta data for source table '%s' no longer accurately reflects the source table. "+
		"Refer to previous errors in the current session to identify the cause and correct any associated problems.", column, table, source, source)
}

// errScanFailed follows the error that made a scan fail.
func errScanFailed() *sqltypes.Error {
	return raise(22859, "Log Scan process failed in processing log records. Refer to previous errors in the current session to identify the cause and correct any associated problems.")
}

func errBadMark(mark string) *sqltypes.Error {
	return raise(22964, "LSN %s, specified as the new low end point for change table cleanup must represent the start_lsn value of a current entry in the cdc.lsn_time_mapping table. "+
		"Choose an LSN value that satisfies this requirement.", mark)
}

func errBothOrNone() *sqltypes.Error {
	return raise(22972, "When calling stored procedure [sys].sp_cdc_help_change_data capture, if either @source_schema or @source_name is non-null and non-empty, "+
		"the other parameter must also be non-null and non-empty.")
}

func errOwnSchema() *sqltypes.Error {
	return raise(22974, "Tables contained in the cdc schema cannot be enabled for Change Data Capture.")
}

func errReservedColumns(table string) *sqltypes.Error {
	return raise(22975, "Source table '%s' contains one of the following reserved column names: __$start_lsn, __$end_lsn, __$seqval, __$operation, and __$update_mask. "+
		"To enable Change Data Capture for this table, specify a captured column list and ensure that these columns are excluded from the list.", table)
}

func errExtendedDDL() *sqltypes.Error {
	return raise(22874, "Cannot set @enable_extended_ddl_handling parameter to 1 as this feature is not enabled.")
}

func errNoAccess() *sqltypes.Error {
	return raise(22981, "Object does not exist or access is denied.")
}

func errIndexInUse(index, table string) *sqltypes.Error {
	return raise(22983, "The unique index '%s' on source table '%s' is used by Change Data Capture. To alter or drop the index, you must first disable Change Data Capture on the table.", index, table)
}

func errTableNotEnabled(schema, table string) *sqltypes.Error {
	return raise(22985, "Change data capture has not been enabled for source table '%s.%s'. Specify the name of a table enabled for Change Data Capture. "+
		"To report on the tables enabled for Change Data Capture, query the is_tracked_by_cdc column in the sys.tables catalog view.", schema, table)
}

func errBadThreshold() *sqltypes.Error {
	return raise(22850, "The threshold value specified for the Change Data Capture cleanup process must be greater than 0. "+
		"When creating or modifying the cleanup job, specify a positive threshold value. "+
		"If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, "+
		"reset the threshold value associated with the job to a non-negative value by using the sp_cdc_change_job stored procedure.")
}

func errTruncate(table string) *sqltypes.Error {
	return raise(4711, "Cannot truncate table '%s' because it is published for replication or enabled for Change Data Capture.", table)
}

func errRename(column string) *sqltypes.Error {
	return raise(4928, "Cannot alter column '%s' because it is 'REPLICATED'.", column)
}

// errRange is what a range function raises for a bad range. The three dots are
// part of the text: the real server reports a stub function of that name.
func errRange(kind string) *sqltypes.Error {
	return sqltypes.Errorf(313, 3, 16, "An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_%s_changes_ ... .", kind)
}
