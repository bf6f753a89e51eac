package input

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// keeper keeps the marks of one database for the life of an input: loaded
// once, then known here and written by the committer.
type keeper struct {
	database  string
	positions *positions
	committer *checkpoint.Committer[mark]
	loaded    mark

	// instances are the capture instances read last: the reading's while one
	// runs.
	instances []stream.InstanceIdentity
}

// newKeeper loads the mark of a database.
func (in *input) newKeeper(ctx context.Context, database string) (*keeper, error) {
	k := &keeper{database: database}
	k.positions = newPositions(in.cache, in.cfg.checkpointKey(database), checkpoint.StoreOptions{
		OnDamage: func(key string, problem error) {
			in.log.Warnf("Key %q of cache %q is damaged (%v); its other copy is sound and is used", key, in.cfg.cache, problem)
		},
	})
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	loaded, instances, err := k.positions.load(ctx)
	if err != nil {
		return nil, err
	}
	k.instances = instances
	if !in.cfg.snapshotResume && !loaded.snapshotted() && loaded.progress != nil {
		// Its start and its ordinals are used up; its tables are read again.
		loaded.progress = &snapshot.Progress{Start: loaded.progress.Start, NextOrdinal: loaded.progress.NextOrdinal}
	}
	k.loaded = loaded
	k.committer = checkpoint.NewCommitter(checkpoint.CommitterOptions[mark]{
		Save:   k.positions.save,
		Before: mark.before,
		OnError: func(err error, failures int) {
			in.metrics.checkpointFailures.Incr(1, database)
			if failures == 1 {
				in.log.Warnf("Saving the position failed and is tried again; messages since the last saved one would be repeated after a restart: %v", err)
			}
		},
		OnRecover: func(failures int) {
			in.log.Infof("The position is saved again, after %d failures", failures)
		},
	})
	return k, nil
}

// loadTimeout bounds loading the position.
const loadTimeout = 30 * time.Second

// committed returns the mark up to which everything is acknowledged.
func (k *keeper) committed() mark {
	if m, ok := k.committer.Newest(); ok {
		return m
	}
	return k.loaded
}
