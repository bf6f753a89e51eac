package cdc

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

func errMaxScans() *sqltypes.Error {
	return raise(22970, "The value for parameter @maxscans specified for the Change Data Capture job must be greater than 0.")
}

func errPollingInterval() *sqltypes.Error {
	return raise(22990, "The value specified for the parameter @pollinginterval must be greater than or equal to 0 and less than 24 hours(Max: 86399 seconds). "+
		"Specify a polling interval (in seconds) that is less than 24 hours (86,400 seconds).")
}

func errMaxTrans() *sqltypes.Error {
	return raise(22991, "The value specified for the parameter @maxtrans must be greater than 0.")
}

func errJobType(jobType string) *sqltypes.Error {
	return raise(22992, "The specified @job_type, %s, is not supported. The value specified for the parameter @job_type must be N'capture' to indicate a capture job, or N'cleanup' to indicate a cleanup job.", jobType)
}

func errRetention() *sqltypes.Error {
	return raise(22994, "The retention value specified for the Change Data Capture cleanup process must be greater than 0 and less than or equal to 52594800. "+
		"When creating or modifying the cleanup job, specify a retention value (in minutes) that is within that range. "+
		"If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, "+
		"reset the retention value associated with the job to a non-negative value less than 52594800 by using the sp_cdc_change_job stored procedure.")
}

func errRetentionOfCapture() *sqltypes.Error {
	return raise(22995, "A value for the parameter @retention cannot be specified when the job type is 'capture'. Specify NULL for the parameter, or omit the parameter from the statement.")
}

func errScanOfCleanup() *sqltypes.Error {
	return raise(22996, "When adding or modifying the CDC cleanup job, @pollinginterval, @maxtrans, @maxscans, and @continuous may not be assigned non-null values.")
}

func errNoJob(jobType string) *sqltypes.Error {
	return raise(22997, "The Change Data Capture '%s' job does not exist in the system table 'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the Change Data Capture job.", jobType)
}

func errScanPolling() *sqltypes.Error {
	return raise(22999, "The value specified for the parameter @pollinginterval must be null or 0 when the stored procedure 'sys.sp_cdc_scan' is not being run in continuous mode.")
}

// errJobExists is what adding a second job of a kind answers: the job's name is
// taken in SQL Server Agent.
func errJobExists(job string) *sqltypes.Error {
	return raise(14261, "The specified @name ('%s') already exists.", job)
}

func errNoJobTable(database string) *sqltypes.Error {
	return raise(22993, "The Change Data Capture job table containing job information for database '%s' cannot be found in the msdb system database. "+
		"Run the stored procedure 'sys.sp_cdc_add_job' to create the appropriate CDC capture or cleanup job. The stored procedure will create the required job table.", database)
}

func errContinuous() *sqltypes.Error {
	return raise(22998, "The value specified for the parameter @continuous must be 0 or 1.")
}

// errNotPublisher is sp_cdc_scan's own check of the caller.
func errNotPublisher() *sqltypes.Error {
	return raise(21050, "Only members of the sysadmin fixed server role or db_owner fixed database role can perform this operation. Contact an administrator with sufficient permissions to perform this operation.")
}

const agentDown = "SQLServerAgent is not currently running so it cannot be notified of this action."

// The agent answers requests with one number.
func errAgentDown() *sqltypes.Error { return raise(22022, agentDown) }

func errJobRunning(job string) *sqltypes.Error {
	return raise(22022, "SQLServerAgent Error: Request to run job %s (from User sa) refused because the job is already running from a request by User sa.", job)
}

func errJobIdle(job string) *sqltypes.Error {
	return raise(22022, "SQLServerAgent Error: Request to stop job %s (from User sa) refused because the job is not currently running.", job)
}

func errCleanupFailed(database string) *sqltypes.Error {
	return raise(22924, "Could not clean up change tables for database '%s'. A failure occurred when attempting to clean up the database change tables based upon the current retention time. "+
		"Refer to previous errors in the current session to identify the cause and correct any associated problems.", database)
}
