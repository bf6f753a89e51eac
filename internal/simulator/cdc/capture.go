package cdc

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// scanner reads the log of one database.
type scanner struct {
	agent    *Agent
	database int // its id

	// turn is full while a scan runs. Who waits for a scan that waits for a lock
	// waits for time to pass: behind a mutex, virtual time would stand still.
	turn     chan struct{}
	lastIdle time.Time // of the newest mapping row, zero when not known yet

	// manual is the session that runs sys.sp_cdc_scan, 0 for none. It has the
	// agent's lock.
	manual int

	// sessions has its own lock, for the views.
	sessions sessionHistory
}

// runJob is a round of the capture job, which fails while a session of its own
// reads the log.
func (c *scanner) runJob(ctx context.Context, maxTrans, maxScans int) error {
	c.agent.mu.Lock()
	manual := c.manual
	c.agent.mu.Unlock()
	if manual == 0 {
		return c.run(ctx, maxTrans, maxScans)
	}
	now := c.agent.in.Now()
	err := errScannerRunning(manual)
	c.sessions.end(&logSession{start: now}, now, err)
	return err
}

// claim makes a session the only scanner until release; it answers the session
// that is it already, 0 for none.
func (c *scanner) claim(spid int) (other int) {
	c.agent.mu.Lock()
	defer c.agent.mu.Unlock()
	if c.manual != 0 {
		return c.manual
	}
	c.manual = spid
	return 0
}

func (c *scanner) release() {
	c.agent.mu.Lock()
	defer c.agent.mu.Unlock()
	c.manual = 0
}

// run scans up to maxScans times maxTrans transactions, or until the log is
// empty. Each scan is a session of the history, the last one that finds nothing
// included.
func (c *scanner) run(ctx context.Context, maxTrans, maxScans int) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.turn }()
	for range maxScans {
		db := c.agent.in.DatabaseByID(c.database)
		if db == nil || !db.Options().CDCEnabled {
			return nil
		}
		session := &logSession{start: c.agent.in.Now()}
		err := c.agent.scanFault(db.Name())
		if err == nil {
			err = c.once(ctx, db, maxTrans, session)
		}
		c.sessions.end(session, c.agent.in.Now(), err)
		if err != nil {
			return fmt.Errorf("capturing database %q: %w", db.Name(), err)
		}
		if session.transactions == 0 {
			return nil
		}
	}
	return nil
}

// once is one scan in one transaction.
func (c *scanner) once(ctx context.Context, db *engine.Database, maxTrans int, session *logSession) error {
	store := db.Storage()
	after := capturedUpTo(store)
	transactions := store.ReadLog(after, maxTrans)
	if len(transactions) == 0 {
		return c.idle(ctx, db, after)
	}
	session.startLSN = transactions[0].BeginLSN
	var s *scan
	err := c.agent.in.SystemContext(ctx, db.Name(), func(x *engine.Exec) (err error) {
		if s, err = newScan(x); err != nil {
			return err
		}
		return s.capture(transactions)
	})
	if err != nil {
		return err
	}
	session.add(s)
	if s.commands > 0 {
		c.lastIdle = transactions[len(transactions)-1].CommitTime
	}
	return store.TruncateLog(transactions[len(transactions)-1].CommitLSN)
}

// idle adds a mapping row of its own when nothing was captured for long, so
// that readers see time pass. The first scan of a database finds no row at all
// and adds one.
func (c *scanner) idle(ctx context.Context, db *engine.Database, after storage.LSN) error {
	now := c.agent.in.Now()
	if c.lastIdle.IsZero() {
		last, err := c.newestMapping(ctx, db, now)
		if err != nil {
			return err
		}
		c.lastIdle = last
	}
	if now.Sub(c.lastIdle) <= idleInterval {
		return nil
	}
	lsn := db.Storage().AllocLSN()
	if pending := db.Storage().ReadLog(after, 1); len(pending) > 0 && pending[0].CommitLSN.Compare(lsn) < 0 {
		return nil // a commit came between; the next scan has it
	}
	err := c.agent.in.SystemContext(ctx, db.Name(), func(x *engine.Exec) error {
		s, err := newScan(x)
		if err != nil {
			return err
		}
		return s.mapIdle(lsn, now)
	})
	if err == nil {
		c.lastIdle = now
	}
	return err
}

// newestMapping is the time of the newest mapping row, long ago when there is
// none.
func (c *scanner) newestMapping(ctx context.Context, db *engine.Database, now time.Time) (last time.Time, err error) {
	last = now.Add(-2 * idleInterval)
	err = c.agent.in.SystemContext(ctx, db.Name(), func(x *engine.Exec) error {
		row, err := one(x, `SELECT DATEDIFF(second, MAX(tran_end_time), @now) FROM cdc.lsn_time_mapping`,
			arg("now", typed{datetimeType, localTime(now, x.Location())}))
		if err == nil && row != nil && !row[0].IsNull() {
			last = now.Add(-time.Duration(row[0].Int64()) * time.Second)
		}
		return err
	})
	return last, err
}
