package input

import (
	"context"
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// awaiting is a connection that calls back each time there is no LSN.
type awaiting struct {
	*sqlserver.Conn
	waiting func(ctx context.Context) error
}

// MaxLSN is that of the connection.
func (a awaiting) MaxLSN(ctx context.Context) (lsn.LSN, error) {
	newest, err := a.Conn.MaxLSN(ctx)
	if err == nil && newest.IsZero() {
		err = a.waiting(ctx)
	}
	return newest, err
}

// CaptureStatus implements [database].
func (d *serverDatabase) CaptureStatus(ctx context.Context) (sqlserver.CaptureStatus, error) {
	return d.captureStatus(ctx, d.conn)
}

// CaptureStatusApart implements [database].
func (d *serverDatabase) CaptureStatusApart(ctx context.Context) (sqlserver.CaptureStatus, error) {
	conn, err := d.server.Connect(ctx, d.cfg.server.Database)
	if err != nil {
		return sqlserver.CaptureStatus{}, err
	}
	defer conn.Close()
	return d.captureStatus(ctx, conn)
}

func (d *serverDatabase) captureStatus(ctx context.Context, conn *sqlserver.Conn) (sqlserver.CaptureStatus, error) {
	status, err := conn.CaptureStatus(ctx, d.facts, d.cfg.watch.agentQuery)
	if err != nil {
		return status, err
	}
	for _, right := range status.Blind {
		d.notices.Info(d.blind(right))
	}
	if status.AgentErr != nil {
		d.notices.Warn("", fmt.Sprintf("The query of %s is refused, so whether the Agent runs is unknown: %v", fieldAgentStatusQuery, status.AgentErr))
	}
	return status, nil
}

// blind says what is not seen without a right, and how to grant it.
func (d *serverDatabase) blind(right string) string {
	user, login := sqlserver.Quote(d.rights.User), sqlserver.Quote(d.rights.Login)
	switch right {
	case sqlserver.RightDatabaseState:
		if d.facts.HasPerformanceState() {
			right = "VIEW DATABASE PERFORMANCE STATE"
		}
		return fmt.Sprintf("Whether the capture job fails is not seen; to see it, GRANT %s TO %s", right, user)
	case sqlserver.RightServerState:
		if d.facts.HasPerformanceState() {
			right = "VIEW SERVER SECURITY STATE"
		}
		return fmt.Sprintf("Whether SQL Server Agent runs is not seen; to see it, GRANT %s TO %s in master, or set %s", right, login, fieldAgentStatusQuery)
	default:
		grants := make([]string, len(sqlserver.JobTables))
		for i, table := range sqlserver.JobTables {
			grants[i] = fmt.Sprintf("GRANT SELECT ON dbo.%s TO %s", table, login)
		}
		return fmt.Sprintf("Whether the capture job runs is seen only by what it captures; to see it, in msdb CREATE USER %s FOR LOGIN %s; %s", login, login, strings.Join(grants, "; "))
	}
}
