package input

import (
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
)

// setTimeZone tells the connection in which time zone the server records the
// times of transactions: the one configured, else its own, which it names from
// SQL Server 2022 on.
func (d *serverDatabase) setTimeZone(facts sqlserver.Facts) {
	if d.cfg.timeZone != nil {
		d.conn.SetTimeZone(d.cfg.timeZone)
		return
	}
	zone, err := timezone.Load(facts.TimeZone)
	switch {
	case facts.TimeZone == "":
		d.warnTimeZone("does not tell its time zone, as SQL Server does from 2022 on")
	case err != nil:
		d.warnTimeZone(fmt.Sprintf("is in the time zone %q, which is not known here", facts.TimeZone))
	case !hasOffset(zone, facts.Offset):
		d.warnTimeZone(fmt.Sprintf("says that its time zone is %q, but its clock is %v from UTC", facts.TimeZone, facts.Offset))
	default:
		d.conn.SetTimeZone(zone)
	}
}

// hasOffset reports whether a time zone has an offset at present.
func hasOffset(zone *time.Location, offset time.Duration) bool {
	now := time.Now()
	for _, at := range []time.Time{now.Add(-sqlserver.ClockSkew), now, now.Add(sqlserver.ClockSkew)} {
		if _, seconds := at.In(zone).Zone(); time.Duration(seconds)*time.Second == offset {
			return true
		}
	}
	return false
}

func (d *serverDatabase) warnTimeZone(what string) {
	d.notices.Warn("", fmt.Sprintf("The server %s: source times are made from its local ones with its present offset, which is an hour wrong across a change of clocks; set %s",
		what, fieldDatabaseServerTimezone))
}
