package sqlserver

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// pollStatement is what an idle reader costs. The order of its three reads is
// what makes the answer whole. The maximum LSN comes first: rows of change
// tables and of the mapping are committed together, so all that lies at or
// below it can be seen by the statements after it, while a transaction captured
// in between lies above it. The instances' start LSNs come last: cleanup moves
// them before it takes rows of the mapping, so an answer that lacks a
// transaction tells of the cleanup.
// Sources: MS docs, sys.fn_cdc_get_max_lsn, cdc.lsn_time_mapping,
// sys.fn_cdc_map_lsn_to_time, cdc.change_tables, cdc.ddl_history,
// sys.sp_cdc_cleanup_change_table; rows with tran_id 0x00 are written while
// nothing is captured. start_lsn may be NULL, and was seen all zero, for an
// instance that capture has not reached.
const pollStatement = `DECLARE @max binary(10) = sys.fn_cdc_get_max_lsn();
SELECT TOP (@p2) start_lsn, tran_begin_time, tran_end_time FROM cdc.lsn_time_mapping WHERE start_lsn >= @p1 AND start_lsn <= @max AND (tran_id IS NULL OR tran_id <> 0x00) ORDER BY start_lsn;
SELECT @max, DATEPART(TZOFFSET, SYSDATETIMEOFFSET()), MAX(start_lsn),
 COUNT_BIG(*), SUM(CONVERT(bigint, object_id)), MAX(create_date), COUNT_BIG(NULLIF(start_lsn, 0x00000000000000000000)),
 (SELECT MAX(ddl_lsn) FROM cdc.ddl_history WHERE required_column_update = 1),
 sys.fn_cdc_map_lsn_to_time(@max), SYSUTCDATETIME() FROM cdc.change_tables;`

// Poll is the answer to one poll.
type Poll struct {
	// Max is the newest LSN that the capture job has passed; zero if it has
	// never run.
	Max lsn.LSN
	// MaxTime is when the transaction at Max ended, or when the capture job noted
	// that there was none; zero if unknown. Now is the server's clock. Both are
	// in UTC.
	MaxTime, Now time.Time
	// MaxRecorded is MaxTime as it is recorded; see [Recorded].
	MaxRecorded time.Time
	// Commits are the captured transactions asked for, in order.
	Commits []Commit
	// Instances changes whenever the set of capture instances does, or the
	// columns of one.
	Instances Fingerprint
	// HighestStart is the greatest start_lsn of any instance, read after
	// Commits: none had lost changes at or after it.
	HighestStart lsn.LSN
}

// Commit is one captured transaction.
type Commit struct {
	LSN lsn.LSN
	// Begin and End are its times in UTC, by the time zone of the connection.
	// The mapping allows NULL for both: then one stands for the other, and
	// both are zero if it has neither.
	Begin, End time.Time
	// Recorded is its end as it is recorded; see [Recorded].
	Recorded time.Time
}

// Fingerprint stands for the set of a database's capture instances and for the
// columns of their change tables.
type Fingerprint struct {
	Count, Sum int64
	Newest     time.Time
	// Started counts the instances that have a start LSN: one may get it some
	// time after it was made.
	Started int64
	// Altered is the newest change of a column's type that the capture job has
	// brought to the change tables.
	Altered lsn.LSN
}

// Poll asks for the transactions from an LSN on, at most limit, and for the
// maximum LSN. If fewer than limit come back, there are no others up to Max.
func (c *Conn) Poll(ctx context.Context, from lsn.LSN, limit int) (Poll, error) {
	var p Poll
	err := Retry(ctx, func() (err error) {
		p, err = c.poll(ctx, from, limit)
		return err
	})
	switch {
	case err == nil:
		return p, nil
	case HasNumber(err, errInvalidObject):
		err = cdcDisabled(c.database, err)
	default:
		err = withGrant(err, "cdc.change_tables, cdc.ddl_history and cdc.lsn_time_mapping")
	}
	return Poll{}, fmt.Errorf("polling: %w", err)
}

func (c *Conn) poll(ctx context.Context, from lsn.LSN, limit int) (Poll, error) {
	rows, err := c.Query(ctx, pollStatement, from[:], int64(limit))
	if err != nil {
		return Poll{}, err
	}
	defer rows.Close()
	var p Poll
	row := make([]driver.Value, rows.Width())
	for rows.Next(row) {
		s := scanner{row: row}
		commit := Commit{}
		commit.LSN, _ = s.lsn()
		commit.Begin, commit.End = s.time(), s.time()
		commit.Recorded = commit.End
		if s.err != nil {
			return Poll{}, cmp.Or(rows.Close(), s.err)
		}
		p.Commits = append(p.Commits, commit)
	}
	if rows.NextResult() {
		row := make([]driver.Value, rows.Width())
		for rows.Next(row) {
			s := scanner{row: row}
			p.Max, _ = s.lsn()
			offset := s.int()
			p.HighestStart, _ = s.lsn()
			p.Instances = Fingerprint{Count: s.int(), Sum: s.int(), Newest: s.time(), Started: s.int()}
			p.Instances.Altered, _ = s.lsn()
			p.MaxTime, p.Now = s.time(), s.time()
			p.MaxRecorded = p.MaxTime
			if s.err != nil {
				return Poll{}, s.err
			}
			zone := c.zoneOr(offset)
			for i := range p.Commits {
				p.Commits[i].toUTC(zone)
			}
			if !p.MaxTime.IsZero() {
				p.MaxTime = timezone.Instant(p.MaxTime, zone).UTC()
			}
		}
	}
	return p, rows.Close()
}

// toUTC turns the times of the mapping, which are the server's local ones,
// into those of a [Commit].
func (c *Commit) toUTC(zone *time.Location) {
	if c.Begin.IsZero() {
		c.Begin = c.End
	}
	if c.End.IsZero() {
		c.End = c.Begin
	}
	if !c.End.IsZero() {
		c.Begin, c.End = timezone.Instant(c.Begin, zone).UTC(), timezone.Instant(c.End, zone).UTC()
	}
}

// MaxLSN returns sys.fn_cdc_get_max_lsn(): zero if the capture job has never
// run.
func (c *Conn) MaxLSN(ctx context.Context) (lsn.LSN, error) {
	row, err := c.oneRetried(ctx, "SELECT sys.fn_cdc_get_max_lsn()")
	if HasNumber(err, errInvalidObject) {
		err = cdcDisabled(c.database, err)
	}
	if err != nil {
		return lsn.LSN{}, fmt.Errorf("reading the maximum LSN: %w", err)
	}
	s := scanner{row: row}
	l, _ := s.lsn()
	return l, s.err
}

// ChangedReader holds the statement that tells which of a set of instances
// have changes. It is immutable.
type ChangedReader struct {
	instances []*CaptureInstance
	text      string
}

// NewChangedReader prepares asking for the instances given.
func NewChangedReader(instances []*CaptureInstance) *ChangedReader {
	parts := make([]string, len(instances))
	for i, ci := range instances {
		parts[i] = "SELECT " + strconv.Itoa(i) + " WHERE EXISTS (SELECT 1 FROM [cdc]." + Quote(ci.ChangeTable) +
			" WHERE [__$start_lsn] >= @p1 AND [__$start_lsn] <= @p2)"
	}
	return &ChangedReader{instances: instances, text: strings.Join(parts, " UNION ALL ") + "; SELECT MAX(start_lsn) FROM cdc.change_tables;"}
}

// Instances returns the set.
func (r *ChangedReader) Instances() []*CaptureInstance { return r.instances }

// Changes tells which of a set of instances have changes in a range.
type Changes struct {
	// Instances are indexes into the set.
	Instances []int
	// HighestStart is the greatest start_lsn of any instance, read after the
	// change tables were looked at: if it does not lie beyond the range's
	// beginning, cleanup has taken nothing of it.
	HighestStart lsn.LSN
}

// Changed tells which instances have changes in a range of commit LSNs, both
// ends included.
func (c *Conn) Changed(ctx context.Context, r *ChangedReader, from, to lsn.LSN) (Changes, error) {
	var changes Changes
	err := Retry(ctx, func() (err error) {
		changes, err = c.changed(ctx, r, from, to)
		return err
	})
	if err != nil {
		return Changes{}, fmt.Errorf("asking for changed tables: %w", withGrant(err, "the change tables"))
	}
	return changes, nil
}

func (c *Conn) changed(ctx context.Context, r *ChangedReader, from, to lsn.LSN) (Changes, error) {
	rows, err := c.queryKept(ctx, r.text, from[:], to[:])
	if err != nil {
		return Changes{}, err
	}
	defer rows.Close()
	var changes Changes
	row := make([]driver.Value, 1)
	for rows.Next(row) {
		s := scanner{row: row}
		changes.Instances = append(changes.Instances, int(s.int()))
		if s.err != nil {
			// After an error the batch goes on with its next statement, whose
			// rows come first.
			return Changes{}, cmp.Or(rows.Close(), s.err)
		}
	}
	if rows.NextResult() {
		for rows.Next(row) {
			s := scanner{row: row}
			changes.HighestStart, _ = s.lsn()
			if s.err != nil {
				return Changes{}, s.err
			}
		}
	}
	return changes, rows.Close()
}

// LowLSNs returns the present start_lsn of every capture instance of the
// database, by the change table's object id.
func (c *Conn) LowLSNs(ctx context.Context) (map[int32]lsn.LSN, error) {
	lows := map[int32]lsn.LSN{}
	err := Retry(ctx, func() error {
		return c.each(ctx, func(row []driver.Value) error {
			s := scanner{row: row}
			id := int32(s.int())
			lows[id], _ = s.lsn()
			return s.err
		}, "SELECT object_id, start_lsn FROM cdc.change_tables")
	})
	if err != nil {
		return nil, fmt.Errorf("reading low LSNs: %w", withGrant(err, "cdc.change_tables"))
	}
	return lows, nil
}

// CommitTime returns the end of the transaction that committed at an LSN, in
// the server's local time; found is false for an LSN that is no commit.
func (c *Conn) CommitTime(ctx context.Context, commit lsn.LSN) (t time.Time, found bool, err error) {
	row, err := c.oneRetried(ctx, "SELECT sys.fn_cdc_map_lsn_to_time(@p1)", commit[:])
	if err != nil {
		return time.Time{}, false, fmt.Errorf("mapping an LSN to its time: %w", err)
	}
	s := scanner{row: row}
	t = s.time()
	return t, !t.IsZero(), s.err
}
