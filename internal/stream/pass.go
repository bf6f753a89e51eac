package stream

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// batchBytes ends a batch of large events before it has its number.
const batchBytes = 4 << 20

// firstPage is the greatest number of rows of a pass's first page. Pages double
// from there, so that in a pass of a few thousand rows too, most are decoded
// while others are encoded, and the first event does not wait for all.
const firstPage = 1000

// pass reads the changes of a range of transactions and emits their events.
type pass struct {
	*Reader
	from, to lsn.LSN
	commits  []sqlserver.Commit // the transactions from, to; consumed in order
	resume   lsn.Position       // what was delivered when the pass began
	last     lsn.Position       // of the event before
	batch    *event.Batch

	transactions *transactions
}

// run emits every event of the range after the reader's position. Whatever
// ends it early, the events before the failure have been emitted, if the sink
// took them, and none after.
func (p *pass) run(ctx context.Context) error {
	changed, err := p.changed(ctx, p.from, p.to)
	if err != nil || len(changed) == 0 {
		return err
	}
	p.serials.Reset()
	err = p.merge(ctx, changed)
	if flushErr := p.flush(ctx); err == nil {
		err = flushErr
	}
	return err
}

// merge takes the next event in the order of positions until none is left.
func (p *pass) merge(ctx context.Context, changed []*tracked) error {
	fetch := startFetcher(ctx, p.conn, len(changed), p.opts.FetchSize)
	defer fetch.stop()
	q, rows, err := begin(ctx, p.feeds(changed, fetch))
	if err != nil {
		return err
	}
	p.batch = event.NewBatch(min(rows, p.opts.MaxBatchSize))
	for len(q) > 0 {
		f := q[0]
		if err := p.add(ctx, f.tracked, &f.head); err != nil {
			return err
		}
		more, err := f.advance(ctx)
		switch {
		case err != nil:
			return err
		case more:
			q.fix()
		default:
			q.pop()
		}
	}
	// What is behind a whole transaction comes after its end.
	if err := p.tell(p.batch, lsn.EndOf(p.last.Commit)); err != nil {
		return err
	}
	return p.transactions.end(p.batch)
}

// feeds returns those of the tables with changes, each with its first page asked
// for.
func (p *pass) feeds(changed []*tracked, fetch *fetcher) []*feed {
	feeds := make([]*feed, 0, len(changed))
	for _, t := range changed {
		low, to := lowerBound(t.id.FirstStart, p.from), p.to
		if !t.until.IsZero() && !t.until.After(to) {
			to = t.until.Prev()
		}
		if low.After(to) {
			continue // another instance of the table holds all of the range
		}
		f := &feed{
			tracked: t, fetch: fetch, low: low, to: to,
			// Two pages of each feed are held: one read, one ahead.
			share: max(1, p.opts.MaxBytes/(2*len(changed))), limit: min(p.opts.FetchSize, firstPage),
			reply: make(chan fetched, 1),
		}
		f.request(nil)
		feeds = append(feeds, f)
	}
	return feeds
}

// begin waits for the first page of each feed, and returns those that have an
// event, and the number of rows there are.
func begin(ctx context.Context, feeds []*feed) (q queue, rows int, err error) {
	for _, f := range feeds {
		more, err := f.advance(ctx)
		if err != nil {
			return nil, 0, err
		}
		if more {
			q.push(f)
		}
		rows += len(f.page.Rows)
	}
	return q, rows, nil
}

// add encodes one event unless it was delivered before.
func (p *pass) add(ctx context.Context, t *tracked, c *change) error {
	row := c.last()
	// Events that are not emitted count too: their successors' numbers depend
	// on them.
	serial := p.serials.Next(row.Commit, row.Change, c.rows)
	if !p.last.Before(c.at) {
		return fmt.Errorf("reading changes of instance %q: %s comes after %s", t.id.Name, c.at, p.last)
	}
	p.last = c.at
	at, err := p.sourceTime(row.Commit)
	if err != nil {
		return err
	}
	if err := p.transactions.reach(p.batch, row.Commit, at); err != nil {
		return err
	}
	if err := p.tell(p.batch, c.at); err != nil {
		return err
	}
	e := event.Change{
		Op: c.op, Before: values(c.before), After: values(c.after), UpdateMask: mask(c),
		Position: c.at, CommitLSN: row.Commit, ChangeLSN: row.Change, SourceTime: at, Serial: serial,
	}
	if deliveredRow(c.at, p.resume) {
		return p.countDelivered(t, e)
	}
	e.Transaction = p.transactions.order(t)
	had := len(p.batch.Messages)
	if err := t.encoder.Row(p.batch, e); err != nil {
		return &EventError{Table: t.name(), Position: c.at, Err: err}
	}
	if had, err = p.tellOptional(ctx, t, c.at, had); err != nil {
		return err
	}
	if err := p.transactions.emitted(p.batch, t, had); err != nil {
		return err
	}
	if len(p.batch.Messages) > had {
		p.previous = previous{t.shape.ID(), row.Commit, row.Change, serial, at}
	}
	if row.Commit == p.resume.Commit {
		p.dropDelivered(had)
	}
	if len(p.batch.Messages) >= p.opts.MaxBatchSize || p.batch.Bytes() >= batchBytes {
		return p.flush(ctx)
	}
	return nil
}

// countDelivered counts the events of a row that were delivered before, since
// the numbers of those after it in the transaction go on from theirs.
func (p *pass) countDelivered(t *tracked, e event.Change) error {
	if p.transactions == nil {
		return nil
	}
	n, err := t.encoder.Events(e)
	if err != nil {
		return &EventError{Table: t.name(), Position: e.Position, Err: err}
	}
	p.transactions.count(t, n)
	return nil
}

// dropDelivered takes the messages that were delivered out of a row's, which
// begin at had: of a delete and its tombstone, or of the halves of a key
// change, the first may have been delivered alone.
func (p *pass) dropDelivered(had int) {
	kept := slices.DeleteFunc(p.batch.Messages[had:], func(m event.Message) bool {
		return delivered(m.Position, p.resume)
	})
	p.batch.Messages = p.batch.Messages[:had+len(kept)]
}

func values(row *sqlserver.ChangeRow) []driver.Value {
	if row == nil {
		return nil
	}
	return row.Values
}

func mask(c *change) []byte {
	if c.op != event.OpUpdate {
		return nil
	}
	return c.after.Mask
}

// sourceTime returns the time of a transaction that events show: by default
// its end, when its changes came to be. (Debezium reports the begin in direct
// mode, the end in function mode.) Transactions are asked for in order.
func (p *pass) sourceTime(commit lsn.LSN) (time.Time, error) {
	if p.opts.SourceTime == TimeProcessing {
		return time.Now(), nil
	}
	for len(p.commits) > 0 && p.commits[0].LSN.Before(commit) {
		p.commits = p.commits[1:]
	}
	if len(p.commits) == 0 || p.commits[0].LSN != commit {
		return time.Time{}, fmt.Errorf("reading changes: commit LSN %s has no row in cdc.lsn_time_mapping", commit)
	}
	if p.commits[0].End.IsZero() {
		return time.Time{}, fmt.Errorf("reading changes: commit LSN %s has no time in cdc.lsn_time_mapping", commit)
	}
	if p.opts.SourceTime == TimeBegin {
		return p.commits[0].Begin, nil
	}
	return p.commits[0].End, nil
}

// flush hands over the events collected and moves the position behind them.
func (p *pass) flush(ctx context.Context) error {
	n := len(p.batch.Messages)
	if n == 0 {
		return nil
	}
	upTo := p.batch.Messages[n-1].Position
	batch := p.batch
	// The next batch is likely to be like this one.
	p.batch = event.NewBatch(n)
	if err := p.sink.Emit(ctx, batch, p.placeAt(upTo)); err != nil {
		p.loaded = false // changes of structure in it are still to be told
		return err
	}
	p.position = upTo
	return nil
}
