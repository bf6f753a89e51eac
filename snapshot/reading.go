package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// chunk is what the reading half hands to the emitting half: rows of a table,
// in order, or its end. The page is the emitting half's then.
type chunk struct {
	table  int // index into Options.Tables
	reader *sqlserver.TableReader
	at     time.Time // the server's clock when the table was begun
	first  bool      // the rows begin the table
	taken  *Taken    // with the first ones, if the table was taken up anew
	page   sqlserver.RowPage
}

// reading reads the tables one page ahead of what is being emitted.
type reading struct {
	src      Source
	opts     Options
	progress *Progress
	tx       transaction
	locks    time.Duration // the connection's lock timeout; zero: not known
	taken    map[int]*Taken
	chunks   chan chunk
}

func newReading(src Source, opts Options, progress *Progress, level sqlserver.Isolation) *reading {
	opts.Tables = slices.Clone(opts.Tables)
	return &reading{
		src: src, opts: opts, progress: progress, taken: map[int]*Taken{},
		tx:     transaction{src: src, level: level, logger: opts.Logger},
		chunks: make(chan chunk),
	}
}

// run reads all tables into an emitter.
func (r *reading) run(ctx context.Context, out *emitter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wait    sync.WaitGroup
		readErr error
	)
	wait.Go(func() {
		defer close(r.chunks)
		if readErr = r.tables(ctx); readErr != nil {
			cancel(readErr)
		}
	})
	emitErr := out.drain(ctx, r.chunks)
	if emitErr != nil {
		cancel(emitErr)
	}
	wait.Wait()
	// Whoever failed first made the other fail too.
	if readErr != nil && (emitErr == nil || errors.Is(emitErr, readErr)) {
		return readErr
	}
	if emitErr != nil {
		return emitErr
	}
	return out.finish(ctx)
}

// tables reads every table that is not done.
func (r *reading) tables(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, r.tx.end(ctx))
		if err == nil {
			err = r.limitLocks(ctx, sqlserver.NoLockTimeout)
		}
	}()
	for i, t := range r.opts.Tables {
		from, reason := t.resume(r.progress)
		if reason != "" {
			r.opts.Logger.Warn("reading the table again from its beginning", "table", t.Shape.ID().String(), "reason", reason)
		}
		if from.Done {
			continue
		}
		err := r.table(ctx, i, from.After)
		for errors.Is(err, errTaken) {
			err = r.table(ctx, i, from.After)
		}
		if err != nil {
			return fmt.Errorf("reading snapshot of %s: %w", t.Shape.ID(), err)
		}
	}
	return nil
}

// errNoProgress is a page that ends where the one before it did. Bytes of a
// double-byte code page of which several stand for one character make a key
// that Unicode cannot tell from its neighbour.
var errNoProgress = errors.New("paging by the key does not advance: two of its values cannot be told apart; capture a table with another unique key, or exclude it")

// table reads one table, by pages after a key or in one scan.
func (r *reading) table(ctx context.Context, i int, after []string) error {
	t := r.opts.Tables[i]
	now, err := r.src.Now(ctx)
	if err != nil {
		return err
	}
	c := chunk{table: i, reader: sqlserver.NewTableReader(t.Source, t.Shape), at: now, first: len(after) == 0, taken: r.taken[i]}
	if !c.reader.Paged() {
		return r.scan(ctx, c)
	}
	if err := r.limitLocks(ctx, r.opts.LockTimeout); err != nil {
		return err
	}
	for end := false; !end; {
		if c.page, err = r.page(ctx, &c, after); err != nil {
			return err
		}
		n := len(c.page.Rows)
		end = c.page.End
		if n > 0 {
			last := after
			if after, err = c.reader.Key(c.page.Rows[n-1]); err != nil {
				return err
			}
			if slices.Equal(after, last) {
				return errNoProgress
			}
		}
		if err := r.send(ctx, c); err != nil {
			return err
		}
		c.first, c.taken = c.first && n == 0, nil
	}
	return nil
}

// errTaken ends reading a table that was taken up anew before its first row: it
// is begun again as it is now.
var errTaken = errors.New("the table was taken up anew")

// begin makes sure that a table is read as it is to be. That is looked at before
// the transaction begins that its first row is read in: what was made later is
// not in the rows.
func (r *reading) begin(ctx context.Context, c *chunk) error {
	if r.opts.Begin == nil {
		return nil
	}
	if !r.tx.open && (c.first || r.tx.level == sqlserver.Snapshot) {
		if err := r.opts.Look(ctx); err != nil {
			return err
		}
	}
	if !c.first {
		return nil
	}
	taken, err := r.opts.Begin(ctx, c.table)
	if err != nil || taken == nil {
		return err
	}
	r.opts.Tables[c.table], r.taken[c.table] = taken.Table, taken
	return errTaken
}

// page reads one page, again if a lock or another transaction was in the way.
func (r *reading) page(ctx context.Context, c *chunk, after []string) (sqlserver.RowPage, error) {
	var page sqlserver.RowPage
	err := r.retry(ctx, c, func() (err error) {
		page, err = r.src.ReadRows(ctx, c.reader, after, r.opts.FetchSize, r.pageBytes())
		return err
	})
	return page, err
}

// retry runs a statement in the snapshot's transaction, again in a new one if
// a lock or another transaction was in the way.
func (r *reading) retry(ctx context.Context, c *chunk, statement func() error) error {
	return sqlserver.Retry(ctx, func() error {
		if err := r.begin(ctx, c); err != nil {
			return err
		}
		if err := r.tx.ensure(ctx); err != nil {
			return err
		}
		err := statement()
		if sqlserver.Classify(err) == sqlserver.ClassRetry {
			// The server may have ended the transaction, or will not let it go
			// on.
			return errors.Join(err, r.tx.end(ctx))
		}
		return err
	})
}

// limitLocks sets how long the statements to come wait for each lock.
func (r *reading) limitLocks(ctx context.Context, d time.Duration) error {
	if r.locks == d {
		return nil
	}
	r.locks = 0
	if err := r.src.SetLockTimeout(ctx, d); err != nil {
		return err
	}
	r.locks = d
	return nil
}

// scan reads a table without a key in one statement. It stays open while the
// output is slow: there is no way to go on in the middle. So it waits for a
// lock as long as for any answer: after a lock timeout all rows before the
// lock would come again. It is tried again itself only while none has come;
// after that the error is the caller's, who paces repeats.
func (r *reading) scan(ctx context.Context, c chunk) error {
	if err := r.limitLocks(ctx, sqlserver.NoLockTimeout); err != nil {
		return err
	}
	var failed error // after rows
	err := r.retry(ctx, &c, func() error {
		sent := false
		err := r.src.ScanRows(ctx, c.reader, r.opts.FetchSize, r.pageBytes(), func(page sqlserver.RowPage) error {
			c.page = page
			n := len(page.Rows)
			select {
			case r.chunks <- c:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			sent = true
			c.first, c.taken = c.first && n == 0, nil
			return nil
		})
		if sent {
			failed = err
			return nil
		}
		return err
	})
	return errors.Join(err, failed)
}

// pageBytes bounds a page: one is being emitted while the next is read.
func (r *reading) pageBytes() int { return max(1, r.opts.MaxBytes/2) }

// send hands over a chunk. When the output takes nothing for too long, the
// transaction is closed meanwhile.
func (r *reading) send(ctx context.Context, c chunk) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case r.chunks <- c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	if err := r.tx.end(ctx); err != nil {
		return err
	}
	select {
	case r.chunks <- c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
