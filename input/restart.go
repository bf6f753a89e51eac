package input

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

const (
	// endTimeout is how long a reading may take to notice that its session has
	// ended before its statement is cancelled, and with it the connection.
	endTimeout = 5 * time.Second
	// nackAlarm is the number of rejections in a row at one position after
	// which it is an error and no longer a hiccup.
	nackAlarm = 10
)

// settle deals with how the last reading ended. It returns the error if a
// person or Benthos's own back-off must deal with it, and otherwise waits as
// long as is due.
func (in *input) settle(ctx context.Context) error {
	r := in.reading
	if r == nil {
		return nil
	}
	if err := r.end(ctx); err != nil {
		return err
	}
	in.reading = nil
	if in.session.rejected() != nil {
		return in.settleRejection(ctx)
	}
	return in.settleLoss(ctx, r.err)
}

// settleRejection goes back to the last acknowledged message.
func (in *input) settleRejection(ctx context.Context) error {
	cause := in.session.rejected()
	in.endSession(ctx)
	if !in.db.Usable() {
		in.disconnect()
	}
	committed := in.keeper.committed()
	at, times := committed.position(), in.nacks.next(committed.place())
	switch {
	case times%nackAlarm == 0:
		in.metrics.repeatedNacks.Incr(1, in.keeper.database)
		in.log.Errorf("Messages after position %s were rejected %d times in a row; nothing behind them is delivered until they are accepted: %v", at, times, cause)
	case times == 1:
		in.log.Warnf("Reading again from the last acknowledged position %s: %v", at, cause)
	}
	return in.nacks.pause(ctx)
}

// settleLoss goes on, over a new connection if need be, behind the last
// message handed over.
func (in *input) settleLoss(ctx context.Context, err error) error {
	if sqlserver.Classify(err) != sqlserver.ClassRetry || !in.db.Usable() {
		in.disconnect()
	}
	if reason, _ := diagnose(err, true); reason != "" {
		return err
	}
	if times := in.losses.next(in.session.tracker.HandedOver().place()); times == 1 {
		in.log.Warnf("Reading was interrupted and starts again: %v", err)
	}
	return in.losses.pause(ctx)
}

func (in *input) endSession(ctx context.Context) {
	if in.session == nil {
		return
	}
	in.session.close(nil)
	if err := in.session.batches.close(ctx); err != nil {
		in.log.Debugf("Closing the batching processors: %v", err)
	}
	in.session, in.held = nil, nil
}

func (in *input) disconnect() {
	if in.db == nil {
		return
	}
	if err := in.db.Close(); err != nil {
		in.log.Debugf("Closing the connection: %v", err)
	}
	in.db = nil
}

// end waits until the reading has ended by itself, and after a while makes it.
func (r *reading) end(ctx context.Context) error {
	patience := time.NewTimer(endTimeout)
	defer patience.Stop()
	for {
		select {
		case <-r.done:
			return nil
		case <-patience.C:
			r.cancel()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
