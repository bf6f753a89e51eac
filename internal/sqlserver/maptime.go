package sqlserver

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// mapTimeStatement takes the time as text, which has no zone that the server
// would convert from: the times of the mapping are its local ones.
// Source: MS docs, sys.fn_cdc_map_time_to_lsn.
const mapTimeStatement = `DECLARE @at datetime = CONVERT(datetime, @p1, 126);
SELECT sys.fn_cdc_map_time_to_lsn('largest less than', @at), sys.fn_cdc_map_time_to_lsn('smallest greater than or equal', @at)`

const offsetStatement = "SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET())"

// ClockSkew is how far this machine's clock may be from the server's.
const ClockSkew = 10 * time.Minute

// CommitsAround returns the LSNs of the last transaction that ended before a
// time and of the first that ended at it or later, of those the server still
// knows; zero where there is none. In the hour that clocks repeat the earlier
// moment is taken.
func (c *Conn) CommitsAround(ctx context.Context, at time.Time) (before, from lsn.LSN, err error) {
	zone := c.zone
	if zone == nil {
		row, err := c.oneRetried(ctx, offsetStatement)
		if err != nil {
			return lsn.LSN{}, lsn.LSN{}, fmt.Errorf("asking for the server's offset from UTC: %w", err)
		}
		s := scanner{row: row}
		zone = c.zoneOr(s.int())
		if s.err != nil {
			return lsn.LSN{}, lsn.LSN{}, s.err
		}
	}
	row, err := c.oneRetried(ctx, mapTimeStatement, at.In(zone).Format("2006-01-02T15:04:05.000"))
	if err != nil {
		return lsn.LSN{}, lsn.LSN{}, fmt.Errorf("mapping a time to an LSN: %w", err)
	}
	s := scanner{row: row}
	before, _ = s.lsn()
	from, _ = s.lsn()
	return before, from, s.err
}

// timeUpToStatement reads when the newest transaction up to an LSN ended.
// Source: MS docs, cdc.lsn_time_mapping.
const timeUpToStatement = `SELECT (SELECT TOP (1) m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn <= @p1 ORDER BY m.start_lsn DESC),
 DATEPART(TZOFFSET, SYSDATETIMEOFFSET())`

// TimeUpTo returns when the newest transaction up to an LSN ended, in UTC; zero
// where the server knows none.
func (c *Conn) TimeUpTo(ctx context.Context, upTo lsn.LSN) (time.Time, error) {
	row, err := c.oneRetried(ctx, timeUpToStatement, upTo[:])
	if err != nil {
		return time.Time{}, fmt.Errorf("asking for the time of an LSN: %w", err)
	}
	s := scanner{row: row}
	ended, offset := s.time(), s.int()
	if s.err != nil || ended.IsZero() {
		return time.Time{}, s.err
	}
	return timezone.Instant(ended, c.zoneOr(offset)).UTC(), nil
}
