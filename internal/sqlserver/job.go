package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// DefaultAgentStatusQuery asks whether SQL Server Agent runs. [#db] stands for
// the database. Source: Debezium's documentation,
// database.sqlserver.agent.status.query.
const DefaultAgentStatusQuery = "SELECT CASE WHEN dss.[status]=4 THEN 1 ELSE 0 END AS isRunning FROM [#db].sys.dm_server_services dss WHERE dss.[servicename] LIKE N'SQL Server Agent (%';"

// CaptureStatus is what can be seen of a database's capture job. What the login
// may not see, and what a server does not have, is unknown.
type CaptureStatus struct {
	// Newest is the newest LSN that was captured; zero if there is none yet.
	// It moves while nothing changes too: see [Poll].
	Newest lsn.LSN
	// Age is the time since then, by the server's clock.
	Age time.Duration
	// Azure tells that a scheduler of Azure SQL Database captures, and no Agent.
	Azure bool
	// Replica tells that the database is a read-only copy: its capture job runs
	// elsewhere, and the rest is unknown.
	Replica bool
	// Scan is the latest reading of the log; nil: unknown.
	Scan *LogScan
	// Job is the capture job; nil: unknown. NoJob tells that there is none, as on
	// a replica that has become the primary: jobs belong to a server, not to a
	// database (MS docs, "Replication, change tracking, & change data capture -
	// Always On availability groups"). A published database needs none: there the
	// Log Reader Agent of replication captures.
	Job   *CaptureJob
	NoJob bool
	// Agent is what the status query answers; nil: unknown. AgentErr is why a
	// query of the configuration's own was refused.
	Agent    *bool
	AgentErr error
	// Blind names the rights without which something is unknown.
	Blind []string
}

// LogScan is a session of the capture job.
type LogScan struct {
	ID    int64
	Scans int64     // that found nothing
	Ended time.Time // server-local; zero while it is at work
	// Failed tells that it ended with errors, of which Number and Message are
	// the one that says most, if it is kept.
	Failed  bool
	Number  int64
	Message string
}

// CaptureJob is a job of SQL Server Agent.
type CaptureJob struct {
	Running, Enabled bool
	// Continuous tells that it is meant to run all the time, with a pause of
	// Interval.
	Continuous bool
	Interval   time.Duration
}

// The rights are asked with the rest, so that nothing is asked that would be
// refused: refusals fill audit logs. Those with PERFORMANCE and SECURITY exist
// since SQL Server 2022; see rightsStatement.
// Sources: MS docs, cdc.lsn_time_mapping, DATABASEPROPERTYEX, HAS_PERMS_BY_NAME.
var statusStatement = `SELECT m.start_lsn, m.tran_end_time, SYSUTCDATETIME(), DATEPART(TZOFFSET, SYSDATETIMEOFFSET()),
 CASE WHEN DATABASEPROPERTYEX(DB_NAME(), N'Updateability') = N'READ_ONLY' THEN 1 ELSE 0 END,
 CASE WHEN HAS_PERMS_BY_NAME(NULL, N'DATABASE', N'VIEW DATABASE STATE') = 1
  OR HAS_PERMS_BY_NAME(NULL, N'DATABASE', N'VIEW DATABASE PERFORMANCE STATE') = 1 THEN 1 ELSE 0 END,
 CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE') = 1
  OR HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER SECURITY STATE') = 1 THEN 1 ELSE 0 END,
 ` + mayRead("N'msdb.dbo.cdc_jobs'", "N'OBJECT'") + ` * ` + mayRead("N'msdb.dbo.sysjobs'", "N'OBJECT'") + ` * ` + mayRead("N'msdb.dbo.sysjobactivity'", "N'OBJECT'") + `
FROM (SELECT 1 AS one) AS o LEFT JOIN (SELECT TOP (1) start_lsn, tran_end_time FROM cdc.lsn_time_mapping ORDER BY start_lsn DESC) AS m ON 1 = 1`

// A session that fails has several errors; 22859 says of the others that the
// scan failed. Session 0 sums up the others. On a secondary replica, and after a
// restart of the server, there are none.
// Sources: MS docs, sys.dm_cdc_log_scan_sessions, sys.dm_cdc_errors.
const scanStatement = `SELECT TOP (1) s.session_id, s.empty_scan_count, s.end_time, s.error_count, e.error_number, e.error_message
FROM sys.dm_cdc_log_scan_sessions AS s
OUTER APPLY (SELECT TOP (1) error_number, error_message FROM sys.dm_cdc_errors AS e WHERE e.session_id = s.session_id
 ORDER BY CASE WHEN e.error_number = 22859 THEN 1 ELSE 0 END, e.entry_time DESC) AS e
WHERE s.session_id <> 0 ORDER BY s.session_id DESC`

// A job is at work from its start to its stop in the Agent's latest session.
// Sources: MS docs, dbo.cdc_jobs, dbo.sysjobs, dbo.sysjobactivity.
const jobStatement = `SELECT TOP (1) CASE WHEN a.start_execution_date IS NOT NULL AND a.stop_execution_date IS NULL THEN 1 ELSE 0 END,
 j.enabled, c.continuous, c.pollinginterval
FROM msdb.dbo.cdc_jobs AS c JOIN msdb.dbo.sysjobs AS j ON j.job_id = c.job_id
LEFT JOIN msdb.dbo.sysjobactivity AS a ON a.job_id = j.job_id AND a.session_id = (SELECT MAX(session_id) FROM msdb.dbo.sysjobactivity)
WHERE c.database_id = DB_ID() AND c.job_type = N'capture'`

// The rights that a [CaptureStatus] may be blind without. In a database of Azure
// SQL Database there is no Agent.
const (
	RightDatabaseState = "VIEW DATABASE STATE"
	RightServerState   = "VIEW SERVER STATE"
	RightJobs          = "SELECT ON JobTables"
)

// JobTables are the tables of msdb that tell of jobs.
var JobTables = []string{"cdc_jobs", "sysjobs", "sysjobactivity"}

// probe is a question that is asked only with the right to the answer.
type probe struct {
	right string
	held  bool
	ask   func(ctx context.Context, s *CaptureStatus) error
}

// CaptureStatus asks how the capture job of the database does. The error is one
// of the connection, or of the database; what is refused is unknown.
func (c *Conn) CaptureStatus(ctx context.Context, facts Facts, agentQuery string) (CaptureStatus, error) {
	status, probes, err := c.captureStatus(ctx, facts, agentQuery)
	if err != nil {
		return CaptureStatus{}, fmt.Errorf("asking for the state of the capture job: %w", err)
	}
	for _, p := range probes {
		if !p.held {
			status.Blind = append(status.Blind, p.right)
			continue
		}
		if err := p.ask(ctx, &status); err != nil && !c.refused(err) {
			return CaptureStatus{}, fmt.Errorf("asking for the state of the capture job: %w", err)
		}
	}
	return status, nil
}

// captureStatus reads what everybody may, and says what can be asked besides.
func (c *Conn) captureStatus(ctx context.Context, facts Facts, agentQuery string) (status CaptureStatus, probes []probe, err error) {
	row, err := c.oneRetried(ctx, statusStatement)
	if err != nil {
		return CaptureStatus{}, nil, err
	}
	s := scanner{row: row}
	status.Newest, _ = s.lsn()
	captured, now, zone := s.time(), s.time(), c.zoneOr(s.int())
	if !captured.IsZero() {
		status.Age = max(0, now.Sub(timezone.Instant(captured, zone)))
	}
	status.Replica = s.bool()
	scans, services, jobs := s.bool(), s.bool(), s.bool()
	if s.err != nil || status.Replica {
		return status, nil, s.err
	}
	probes = []probe{{RightDatabaseState, scans, c.logScan}}
	if facts.EngineEdition == editionAzureDatabase {
		status.Azure = true
		return status, probes, nil
	}
	agent := func(ctx context.Context, s *CaptureStatus) error { return c.agent(ctx, agentQuery, facts.Database, s) }
	return status, append(probes, probe{RightJobs, jobs, c.captureJob}, probe{RightServerState, services || agentQuery != DefaultAgentStatusQuery, agent}), nil
}

// refused reports whether the server answered with an error, and the connection
// is good.
func (c *Conn) refused(err error) bool {
	var server mssql.Error
	return errors.As(err, &server) && c.Usable()
}

func (c *Conn) logScan(ctx context.Context, status *CaptureStatus) error {
	return c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		status.Scan = &LogScan{ID: s.int(), Scans: s.int(), Ended: s.time(), Failed: s.int() > 0, Number: s.int(), Message: s.text()}
		return s.err
	}, scanStatement)
}

func (c *Conn) captureJob(ctx context.Context, status *CaptureStatus) error {
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		status.Job = &CaptureJob{Running: s.bool(), Enabled: s.bool(), Continuous: s.bool(), Interval: time.Duration(s.int()) * time.Second}
		return s.err
	}, jobStatement)
	status.NoJob = err == nil && status.Job == nil
	return err
}

// agent asks the status query, whose first value tells: a bit, a number, or a
// word. No row tells nothing: not every server has the service.
func (c *Conn) agent(ctx context.Context, query, database string, status *CaptureStatus) error {
	err := c.each(ctx, func(row []driver.Value) error {
		if status.Agent != nil || len(row) == 0 {
			return nil
		}
		switch v := row[0].(type) {
		case bool:
			status.Agent = &v
		case int64:
			running := v != 0
			status.Agent = &running
		case string:
			if running, err := strconv.ParseBool(strings.TrimSpace(v)); err == nil {
				status.Agent = &running
			}
		}
		return nil
	}, strings.ReplaceAll(query, "[#db]", Quote(database)))
	if err != nil && query != DefaultAgentStatusQuery {
		status.AgentErr = err
	}
	return err
}
