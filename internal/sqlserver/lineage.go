package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/big"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Lineage tells the history of a database from that of another one, or of an
// earlier backup of itself.
type Lineage struct {
	// Family is what a database has in common with all its backups, Fork its
	// recovery fork: RESTORE begins a new one, and so does a failover that is
	// forced. Both are GUIDs as text, empty if the login may not see them, or the
	// server has none.
	Family string `json:"family,omitempty"`
	Fork   string `json:"fork,omitempty"`
	// Before is the fork that Fork began in, at ForkPoint; zero if it began with
	// the database, or that is not known any more.
	Before    string  `json:"-"`
	ForkPoint lsn.LSN `json:"-"`
}

// Known reports whether a fork is known.
func (l Lineage) Known() bool { return l.Fork != "" }

// Everybody who has VIEW ANY DATABASE, which is granted to public, sees the row,
// and so does the owner of the database.
// Source: MS docs, sys.database_recovery_status (SQL Server, Azure SQL Managed
// Instance).
const lineageStatement = `SELECT CONVERT(nvarchar(36), family_guid), CONVERT(nvarchar(36), recovery_fork_guid),
 CONVERT(nvarchar(36), first_recovery_fork_guid), CONVERT(nvarchar(30), fork_point_lsn)
FROM sys.database_recovery_status WHERE database_id = DB_ID()`

// Lineage asks for that of the database. What is refused, or does not exist, is
// unknown.
func (c *Conn) Lineage(ctx context.Context, facts Facts) (Lineage, error) {
	if facts.EngineEdition == editionAzureDatabase {
		return Lineage{}, nil
	}
	var l Lineage
	err := Retry(ctx, func() error {
		return c.each(ctx, func(row []driver.Value) error {
			s := scanner{row: row}
			l = Lineage{Family: s.text(), Fork: s.text(), Before: s.text()}
			l.ForkPoint = numericLSN(s.text())
			return s.err
		}, lineageStatement)
	})
	switch {
	case err == nil:
	case c.refused(err):
		return Lineage{}, nil
	default:
		return Lineage{}, fmt.Errorf("asking for the recovery fork: %w", err)
	}
	if l.Before == l.Fork {
		l.Before, l.ForkPoint = "", lsn.LSN{}
	}
	return l, nil
}

// numericLSN reads an LSN as numeric(25,0) columns have it: the VLF, then ten
// digits for the block and five for the slot, as in the backup histories that
// people publish (dataplat/dbatools pull request 4431). What is none is zero.
func numericLSN(text string) (l lsn.LSN) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || n.Sign() < 0 {
		return lsn.LSN{}
	}
	rest, slot := new(big.Int).QuoRem(n, big.NewInt(1e5), new(big.Int))
	vlf, block := rest.QuoRem(rest, big.NewInt(1e10), new(big.Int))
	if !vlf.IsUint64() || vlf.Uint64() > 1<<32-1 || block.Uint64() > 1<<32-1 || slot.Uint64() > 1<<16-1 {
		return lsn.LSN{}
	}
	vlf.FillBytes(l[0:4])
	block.FillBytes(l[4:8])
	slot.FillBytes(l[8:10])
	return l
}

// Commits that were captured are recorded in cdc.lsn_time_mapping until the
// cleanup of all instances has passed them.
const recordedStatement = `SELECT (SELECT MIN(start_lsn) FROM cdc.lsn_time_mapping), sys.fn_cdc_get_max_lsn(), m.start_lsn, m.tran_end_time
FROM (SELECT 1 AS one) AS o LEFT JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = @p1`

// Recorded is what a database knows of a commit LSN.
type Recorded struct {
	// Oldest and Newest are the least and the greatest that it knows; zero if it
	// knows none.
	Oldest, Newest lsn.LSN
	// Found tells that the LSN is one that it knows, Ended when the transaction
	// ended: the server's local time as it was recorded, which no later change of
	// clocks or time zones moves. Zero: it was not recorded.
	Found bool
	Ended time.Time
}

// Recorded asks what the database knows of a commit LSN.
func (c *Conn) Recorded(ctx context.Context, commit lsn.LSN) (Recorded, error) {
	row, err := c.oneRetried(ctx, recordedStatement, commit[:])
	if err != nil {
		return Recorded{}, fmt.Errorf("looking for the commit at the position: %w", withGrant(err, "cdc.lsn_time_mapping"))
	}
	var r Recorded
	s := scanner{row: row}
	r.Oldest, _ = s.lsn()
	r.Newest, _ = s.lsn()
	_, absent := s.lsn()
	r.Found, r.Ended = !absent, s.time()
	return r, s.err
}
