package input

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
)

// setTimeZone tells the connection in which time zone the server records the
// times of transactions: the one configured, else its own, which it names from
// SQL Server 2022 on.
func (d *serverDatabase) setTimeZone(facts sqlserver.Facts) {
	switch zone, err := timezone.Load(facts.TimeZone); {
	case d.cfg.timeZone != nil:
		d.conn.SetTimeZone(d.cfg.timeZone)
	case err == nil:
		d.conn.SetTimeZone(zone)
	case facts.TimeZone != "":
		d.warnTimeZone(fmt.Sprintf("is in the time zone %q, which is not known here", facts.TimeZone))
	default:
		d.warnTimeZone("does not tell its time zone, as SQL Server does from 2022 on")
	}
}

func (d *serverDatabase) warnTimeZone(what string) {
	d.notices.warn("", fmt.Sprintf("The server %s: source times are made from its local ones with its present offset, which is an hour wrong across a change of clocks; set %s",
		what, fieldDatabaseServerTimezone))
}
