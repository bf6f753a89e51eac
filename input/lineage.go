package input

import (
	"context"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// reasonRestored is the reason of the problem that the database is not the one,
// or not in the state, that the stored position is of.
const reasonRestored = "restored"

// lineageReader tells whose history a database has.
type lineageReader interface {
	// Lineage returns the database's family and recovery fork, if they are known.
	Lineage(ctx context.Context) (sqlserver.Lineage, error)
	// Recorded returns what the database knows of a commit LSN.
	Recorded(ctx context.Context, commit lsn.LSN) (sqlserver.Recorded, error)
}

// recognise makes sure that the database just connected to has the history that
// the position is of, and notes its recovery fork. A database that was restored
// goes on at the LSNs of the backup: once it has passed the stored position,
// nothing else would tell that the changes in between were never read.
func (s *source) recognise(ctx context.Context) error {
	m := s.keeper.committed()
	if s.session != nil {
		m = s.place()
	}
	now, err := s.db.Lineage(ctx)
	if err != nil {
		return err
	}
	if !m.begun() {
		s.keeper.positions.lineage = now
		return nil
	}
	h := histories{at: m.position().Commit, witness: s.keeper.witnessOf(m), stored: s.keeper.positions.lineage, now: now}
	at := h.at
	if h.witness.known() {
		at = h.witness.Commit
	}
	if h.recorded, err = s.db.Recorded(ctx, at); err != nil {
		return err
	}
	if problem := h.problem(); problem != "" {
		return sqlserver.NewProblem(reasonRestored, fmt.Sprintf("database %q %s", s.db.Name(), problem),
			"if this is the wrong server or database, connect to the right one; if the database was restored, or a failover lost transactions, "+
				"what consumers have may never have happened, and changes since cannot be told from those that were read: start afresh, with a new snapshot", nil)
	}
	if h.forked() {
		s.log.Infof("The database is on another recovery fork, %s, since a failover or a restore, and holds everything up to position %s: going on", now.Fork, m.position())
	}
	return s.keeper.saveLineage(ctx, now)
}

// histories are what is known of the history that a position is of, and of the
// history of the database that it is to be read on in.
type histories struct {
	at          lsn.LSN // the position's
	witness     witness
	stored, now sqlserver.Lineage
	// recorded is what the database knows of the witness, or else of at.
	recorded sqlserver.Recorded
}

// forked reports whether the database is known to be on another recovery fork.
func (h histories) forked() bool {
	return h.stored.Known() && h.now.Known() && h.stored.Fork != h.now.Fork
}

// problem says in which way the database has another history; empty: in none
// that is known.
//
// What it has recorded of the commit at the position decides, where that is known
// on both sides: it finds out copies of files and of machines too, which keep
// their fork. Else one fork is one history: that a replica has not got all of it
// yet is for the reader to see. A restore to any point begins another fork, and so
// does a failover that was forced; whether others do is not documented. Then the
// position must be proven to lie before that.
// Sources: MS docs, sys.database_recovery_status, "Recovery paths", "Perform a
// forced manual failover of an Always On availability group".
func (h histories) problem() string {
	switch {
	case h.denied() != "":
		return h.denied()
	case !h.forked():
		return ""
	case h.stored.Family != h.now.Family:
		return fmt.Sprintf("is another one than the position %s is of: it belongs to family %s, and not to %s", h.at, h.now.Family, h.stored.Family)
	case h.proven(), h.now.Before == h.stored.Fork && !h.now.ForkPoint.Before(h.at):
		return ""
	default:
		return fmt.Sprintf("was restored, or failed over with a loss: it is on recovery fork %s%s, the position %s is of fork %s, and the newest captured LSN is %s",
			h.now.Fork, since(h.now.ForkPoint), h.at, h.stored.Fork, h.recorded.Newest)
	}
}

func since(point lsn.LSN) string {
	if point.IsZero() {
		return ""
	}
	return ", which began at LSN " + point.String()
}

// proven reports whether the commit at the position itself is the same.
func (h histories) proven() bool {
	return h.witness.known() && h.witness.Commit == h.at && h.recorded.Found && h.ended() == h.witness.Ended
}

// denied says how the witness is contradicted; empty: it is not. What cleanup
// has taken, and what a replica has not got yet, contradicts nothing.
func (h histories) denied() string {
	w := h.witness
	switch {
	case !w.known():
		return ""
	case h.recorded.Found && h.ended() != w.Ended:
		return fmt.Sprintf("is another one than the position %s is of, or was restored: its transaction at %s ended at %s, the one that was read at %s (server's time)",
			h.at, w.Commit, h.ended(), w.Ended)
	case unknown(h.recorded, w.Commit):
		return fmt.Sprintf("is another one than the position %s is of, or was restored: it knows transactions from %s to %s, but not the one at %s that was read",
			h.at, h.recorded.Oldest, h.recorded.Newest, w.Commit)
	default:
		return ""
	}
}

// unknown reports whether a database that has recorded commits on both sides of an
// LSN has none at it.
func unknown(r sqlserver.Recorded, commit lsn.LSN) bool {
	return !r.Found && !r.Oldest.IsZero() && r.Oldest.Before(commit) && commit.Before(r.Newest)
}

func (h histories) ended() string { return h.recorded.Ended.Format(recordedLayout) }

// Lineage implements [lineageReader].
func (d *serverDatabase) Lineage(ctx context.Context) (sqlserver.Lineage, error) {
	l, err := d.conn.Lineage(ctx, d.facts)
	if err == nil && !l.Known() {
		d.notices.Info("The database's recovery fork is not seen, so a restore is noticed only by the transactions that the database has recorded; " +
			"in SQL Server, GRANT VIEW ANY DATABASE TO the login shows it")
	}
	return l, err
}

// Recorded implements [lineageReader].
func (d *serverDatabase) Recorded(ctx context.Context, commit lsn.LSN) (sqlserver.Recorded, error) {
	return d.conn.Recorded(ctx, commit)
}
