package input

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// keeper keeps the marks of one database for the life of an input: loaded
// once, then known here and written by the committer.
type keeper struct {
	database  string
	positions *positions
	committer *checkpoint.Committer[mark]

	mu           sync.Mutex
	acknowledged mark // everything up to it is; at first what was loaded
	saved        mark // everything up to it is, and a restart goes on from it

	// ctx ends with the input, or once nothing can be saved any more because
	// another input has taken over: then that is its cause.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// known is what is known of the tables: the reading's while one runs.
	known stream.Known
	// saysStart is the LSN at which the log says that this life starts; zero: it has
	// not said so yet.
	saysStart lsn.LSN
}

// newKeeper loads the mark of a database.
func (s *source) newKeeper(ctx context.Context, database string) (*keeper, error) {
	k := &keeper{database: database}
	k.positions = newPositions(s.in.cache, s.cfg.checkpointKey(database), s.in.owner, func(key string, problem error) {
		s.log.Warnf("Key %q of cache %q is damaged (%v); its other copy is sound and is used", key, s.cfg.cache, problem)
	})
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	loaded, known, err := loadWithin(ctx, k.positions)
	if err != nil {
		return nil, err
	}
	k.known = known
	for _, d := range k.positions.gone {
		s.log.Warnf("Cache %q has lost key %q, .a and .b of it, unless somebody removed it: %s", s.cfg.cache, d.under(k.positions.key), d.withoutIt)
	}
	if !s.cfg.snapshotResume {
		loaded.progress = loaded.progress.Afresh()
	}
	k.acknowledged, k.saved = loaded, loaded
	k.ctx, k.cancel = context.WithCancelCause(s.in.ctx)
	k.committer = checkpoint.NewCommitter(checkpoint.CommitterOptions[mark]{
		Save:   k.save,
		Before: mark.before,
		Final:  isProblem,
		OnError: func(err error, failures int) {
			if isProblem(err) {
				k.cancel(err)
				return
			}
			s.in.metrics.CheckpointFailures.Incr(1, database)
			if failures == 1 {
				s.log.Warnf("Saving the position failed and is tried again; messages since the last saved one would be repeated after a restart: %v", err)
			}
		},
		OnRecover: func(failures int) {
			s.log.Infof("The position is saved again, after %d failures", failures)
		},
	})
	return k, nil
}

// isProblem reports whether a person must deal with an error.
func isProblem(err error) bool {
	var problem sqlserver.Problem
	return errors.As(err, &problem)
}

// lost returns why nothing can be saved any more; nil: it can.
func (k *keeper) lost() error {
	if cause := context.Cause(k.ctx); isProblem(cause) {
		return cause
	}
	return nil
}

// close saves the newest mark within ctx, and ends the keeper.
func (k *keeper) close(ctx context.Context) error {
	err := k.committer.Close(ctx)
	if k.lost() != nil {
		return nil //nolint:nilerr // whoever has taken over goes on from its own
	}
	k.cancel(errClosed)
	return err
}

// saveKnown saves what is known of the tables.
func (k *keeper) saveKnown(ctx context.Context, known stream.Known) error {
	err := k.positions.saveKnown(ctx, known)
	switch {
	case err == nil:
		k.known = known
	case isProblem(err):
		k.cancel(err)
	}
	return err
}

// loadTimeout bounds loading the position.
const loadTimeout = 30 * time.Second

// loadWithin loads marks until ctx ends, even from a cache that takes no notice
// of it: such a call is left behind, and with it the positions.
func loadWithin(ctx context.Context, p *positions) (mark, stream.Known, error) {
	type result struct {
		mark  mark
		known stream.Known
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.mark, r.known, r.err = p.load(ctx)
		done <- r
	}()
	select {
	case r := <-done:
		return r.mark, r.known, r.err
	case <-ctx.Done():
		return mark{}, stream.Known{}, fmt.Errorf("loading the position: %w", context.Cause(ctx))
	}
}

// witnessOf returns the newest witness of a mark that is known.
func (k *keeper) witnessOf(m mark) witness {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.witness.known() || k.saved.witness.Commit.After(m.position().Commit) {
		return m.witness
	}
	return k.saved.witness
}

// saveLineage saves what is known of the database's lineage, if that is new.
// Nothing may be reading.
func (k *keeper) saveLineage(ctx context.Context, l sqlserver.Lineage) error {
	if !l.Known() || l.Family == k.positions.lineage.Family && l.Fork == k.positions.lineage.Fork {
		return nil
	}
	k.positions.lineage = l
	return k.saveKnown(ctx, k.known)
}

// save saves a mark.
func (k *keeper) save(ctx context.Context, m mark) error {
	m.witness = k.witnessOf(m)
	if err := k.positions.save(ctx, m); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.saved = m
	return nil
}

// savedPlace returns the place from which a restart would go on.
func (k *keeper) savedPlace() stream.Place {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.saved.streamed()
}

// committed returns the mark up to which everything is acknowledged.
func (k *keeper) committed() mark {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.acknowledged
}

// acknowledge takes the mark up to which a session is acknowledged, and has it
// saved. It may have been handed over before the snapshot was begun again and
// reserved more ordinals: those stay reserved.
func (k *keeper) acknowledge(m mark) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.before(k.acknowledged) {
		return
	}
	if before := k.acknowledged.progress; before != nil && m.progress != nil {
		m = m.reserving(before.Start, before.NextOrdinal)
	}
	k.acknowledged = m
	k.committer.Offer(m)
}

// begin saves where the stream will begin, with its witness, and reserves ordinals:
// a database that is restored while rows are read, or before the first change, is
// found out too.
func (k *keeper) begin(ctx context.Context, db lineageReader, p *snapshot.Progress) error {
	w, err := k.witnessOfStart(ctx, db, p.Start)
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.acknowledged = k.acknowledged.beginning(p.Start)
	k.acknowledged.witness = w
	k.mu.Unlock()
	return k.reserve(ctx, p)
}

// witnessOfStart returns the witness of the LSN at which the stream will begin.
func (k *keeper) witnessOfStart(ctx context.Context, db lineageReader, start lsn.LSN) (witness, error) {
	k.mu.Lock()
	saved := k.saved.witness
	k.mu.Unlock()
	if saved.known() && saved.Commit == start {
		return saved, nil
	}
	recorded, err := db.Recorded(ctx, start)
	return witnessAt(start, recorded), err
}

// reserve saves the ordinals that rows may use, beside the tables as far as they
// are acknowledged.
func (k *keeper) reserve(ctx context.Context, p *snapshot.Progress) error {
	k.mu.Lock()
	k.acknowledged = k.acknowledged.reserving(p.Start, p.NextOrdinal)
	m := k.acknowledged
	k.mu.Unlock()
	return k.committer.Save(ctx, m)
}
