package snapshot

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// patience is how long a snapshot transaction stays open while the output
// takes nothing: the server keeps every row version since its beginning.
const patience = time.Minute

// endTimeout bounds ending a transaction after the snapshot was cancelled.
const endTimeout = 5 * time.Second

// transaction spans the pages of a snapshot under SNAPSHOT isolation, so that
// they show one point in time. Under READ COMMITTED there is none.
type transaction struct {
	src    Source
	level  sqlserver.Isolation
	logger *slog.Logger

	open   bool
	used   bool // a row may have been read in an earlier one
	closed bool // said that it is no longer one point in time
}

// ensure opens the transaction if it is not.
func (t *transaction) ensure(ctx context.Context) error {
	if t.level != sqlserver.Snapshot || t.open {
		return nil
	}
	if t.used && !t.closed {
		t.closed = true
		t.logger.Warn("the snapshot goes on in a new transaction: it is no longer one point in time")
	}
	// One that was cancelled may have begun on the server all the same.
	t.open = true
	if err := t.src.Begin(ctx, t.level); err != nil {
		return errors.Join(err, t.end(ctx))
	}
	t.used = true
	return nil
}

// end closes the transaction if it is open, also after ctx has ended.
func (t *transaction) end(ctx context.Context) error {
	if !t.open {
		return nil
	}
	t.open = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return t.src.End(ctx)
}
