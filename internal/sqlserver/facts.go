package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The database is found by its name: in Azure SQL Database DB_ID may not be the
// database_id of sys.databases.
// Source: MS docs, sys.databases, DB_ID, SERVERPROPERTY, SYSDATETIMEOFFSET.
const factsStatement = `SELECT d.name, d.is_cdc_enabled, d.snapshot_isolation_state, d.is_read_committed_snapshot_on, d.collation_name,
 CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')), CONVERT(int, SERVERPROPERTY('EngineEdition')), DATEPART(TZOFFSET, SYSDATETIMEOFFSET()),
 CASE WHEN DB_ID(N'rdsadmin') IS NULL THEN 0 ELSE 1 END
FROM sys.databases AS d WHERE d.name = DB_NAME()`

const timeZoneStatement = `SELECT CURRENT_TIMEZONE_ID()`

// Facts reads what matters of the connection's database and its server.
func (c *Conn) Facts(ctx context.Context) (Facts, error) {
	var f Facts
	err := Retry(ctx, func() error {
		row, err := c.one(ctx, factsStatement)
		if err != nil {
			return err
		}
		f, err = readFacts(row)
		return err
	})
	if err != nil {
		return Facts{}, fmt.Errorf("reading database facts: %w", err)
	}
	if !f.knowsTimeZone() {
		return f, nil
	}
	row, err := c.one(ctx, timeZoneStatement)
	switch {
	case HasNumber(err, errUnknownFunction):
		return f, nil
	case err != nil:
		return Facts{}, fmt.Errorf("reading time zone: %w", err)
	}
	s := scanner{row: row}
	f.TimeZone = s.text()
	return f, s.err
}

func readFacts(row []driver.Value) (Facts, error) {
	s := scanner{row: row}
	f := Facts{
		Database:   s.text(),
		CDCEnabled: s.bool(),
		// 0 OFF, 1 ON, 2 and 3 on their way from and to ON: in transition to
		// ON a snapshot transaction fails, so only ON counts.
		SnapshotAllowed:       s.int() == 1,
		ReadCommittedSnapshot: s.bool(),
		Collation:             s.text(),
		Version:               s.text(),
		EngineEdition:         s.int(),
		Offset:                time.Duration(s.int()) * time.Minute,
		RDS:                   s.int() == 1,
	}
	return f, s.err
}

// HasPerformanceState reports whether the server has the rights VIEW DATABASE
// PERFORMANCE STATE and VIEW SERVER SECURITY STATE, which are parts of others.
// Source: MS docs, "Permissions (Database Engine)": they came with SQL Server
// 2022, and as CURRENT_TIMEZONE_ID to Azure SQL.
func (f Facts) HasPerformanceState() bool { return f.knowsTimeZone() }

// knowsTimeZone reports whether the server has CURRENT_TIMEZONE_ID.
// Source: MS docs, "Applies to: SQL Server 2022 (16.x)", Azure SQL.
func (f Facts) knowsTimeZone() bool {
	if f.EngineEdition == editionAzureDatabase || f.EngineEdition == editionManagedInstance {
		return true
	}
	major, _, _ := strings.Cut(f.Version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 16
}
