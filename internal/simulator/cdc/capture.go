package cdc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// scanner reads the log of one database. mu makes one scan at a time.
type scanner struct {
	agent    *Agent
	database int // its id

	mu       sync.Mutex
	lastIdle time.Time // of the newest mapping row, zero when not known yet

	// sessions has its own lock, for the views.
	sessions sessionHistory
}

// run scans up to maxScans times maxTrans transactions, or until the log is
// empty, as one session of the history.
func (c *scanner) run(ctx context.Context, maxTrans, maxScans int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	db := c.agent.in.DatabaseByID(c.database)
	if db == nil || !db.Options().CDCEnabled {
		return nil
	}
	session := &logSession{start: c.agent.in.Now(), startLSN: db.Storage().LastCommitLSN()}
	err := c.scans(ctx, db, maxTrans, maxScans, session)
	c.sessions.end(session, c.agent.in.Now(), err)
	if err != nil {
		return fmt.Errorf("capturing database %q: %w", db.Name(), err)
	}
	return nil
}

func (c *scanner) scans(ctx context.Context, db *engine.Database, maxTrans, maxScans int, session *logSession) error {
	for range maxScans {
		n, err := c.once(ctx, db, maxTrans, session)
		if err != nil || n < int64(maxTrans) {
			return err
		}
	}
	return nil
}

// once is one scan in one transaction.
func (c *scanner) once(ctx context.Context, db *engine.Database, maxTrans int, session *logSession) (int64, error) {
	store := db.Storage()
	after := capturedUpTo(store)
	transactions := store.ReadLog(after, maxTrans)
	if len(transactions) == 0 {
		return 0, c.idle(ctx, db, after)
	}
	var s *scan
	err := c.agent.in.SystemContext(ctx, db.Name(), func(x *engine.Exec) (err error) {
		if s, err = newScan(x); err != nil {
			return err
		}
		return s.capture(transactions)
	})
	if err != nil {
		return 0, err
	}
	session.add(s)
	if s.commands > 0 {
		c.lastIdle = transactions[len(transactions)-1].CommitTime
	}
	return s.transactions, store.TruncateLog(transactions[len(transactions)-1].CommitLSN)
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
