package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// pollStatement is what an idle reader costs. The maximum LSN is taken first:
// rows of change tables and of the mapping are committed together, so all that
// lies at or below it can be seen by the statements after it, while a
// transaction captured in between lies above it.
// Sources: MS docs, sys.fn_cdc_get_max_lsn, cdc.lsn_time_mapping; rows with
// tran_id 0x00 are written while nothing is captured.
const pollStatement = `DECLARE @max binary(10) = sys.fn_cdc_get_max_lsn();
SELECT @max, DATEPART(TZOFFSET, SYSDATETIMEOFFSET()), COUNT_BIG(*), SUM(CONVERT(bigint, object_id)), MAX(create_date), MAX(start_lsn) FROM cdc.change_tables;
SELECT TOP (@p2) start_lsn, tran_begin_time, tran_end_time FROM cdc.lsn_time_mapping WHERE start_lsn >= @p1 AND start_lsn <= @max AND tran_id <> 0x00 ORDER BY start_lsn;`

// Poll is the answer to one poll.
type Poll struct {
	// Max is the newest LSN that the capture job has passed; zero if it has
	// never run.
	Max lsn.LSN
	// Commits are the captured transactions asked for, in order.
	Commits []Commit
	// Instances changes whenever the set of capture instances does.
	Instances Fingerprint
	// HighestStart is the greatest start_lsn of any instance: none has lost
	// changes at or after it.
	HighestStart lsn.LSN
}

// Commit is one captured transaction.
type Commit struct {
	LSN lsn.LSN
	// Begin and End are its times in UTC, by the server's present offset.
	Begin, End time.Time
}

// Fingerprint stands for the set of a database's capture instances.
type Fingerprint struct {
	Count, Sum int64
	Newest     time.Time
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
		err = withGrant(err, "cdc.change_tables and cdc.lsn_time_mapping")
	}
	return Poll{}, fmt.Errorf("polling: %w", err)
}

func (c *Conn) poll(ctx context.Context, from lsn.LSN, limit int) (Poll, error) {
	rows, err := c.Query(ctx, pollStatement, from[:], int64(limit))
	if err != nil {
		return Poll{}, err
	}
	defer rows.Close()
	var (
		p      Poll
		offset time.Duration
	)
	head := make([]driver.Value, rows.Width())
	for rows.Next(head) {
		s := scanner{row: head}
		p.Max, _ = s.lsn()
		offset = time.Duration(s.int()) * time.Minute
		p.Instances = Fingerprint{Count: s.int(), Sum: s.int(), Newest: s.time()}
		p.HighestStart, _ = s.lsn()
		if s.err != nil {
			return Poll{}, s.err
		}
	}
	if rows.NextResult() {
		row := make([]driver.Value, rows.Width())
		for rows.Next(row) {
			s := scanner{row: row}
			commit := Commit{}
			commit.LSN, _ = s.lsn()
			commit.Begin, commit.End = s.time().Add(-offset), s.time().Add(-offset)
			if s.err != nil {
				return Poll{}, s.err
			}
			p.Commits = append(p.Commits, commit)
		}
	}
	return p, rows.Close()
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
	return &ChangedReader{instances: instances, text: strings.Join(parts, " UNION ALL ")}
}

// Instances returns the set.
func (r *ChangedReader) Instances() []*CaptureInstance { return r.instances }

// Changed returns which instances have changes in a range of commit LSNs, both
// ends included, as indexes into the set.
func (c *Conn) Changed(ctx context.Context, r *ChangedReader, from, to lsn.LSN) ([]int, error) {
	var changed []int
	err := Retry(ctx, func() error {
		changed = changed[:0]
		return c.each(ctx, func(row []driver.Value) error {
			s := scanner{row: row}
			changed = append(changed, int(s.int()))
			return s.err
		}, r.text, from[:], to[:])
	})
	if err != nil {
		return nil, fmt.Errorf("asking for changed tables: %w", withGrant(err, "the change tables"))
	}
	return changed, nil
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
