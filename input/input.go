package input

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"golang.org/x/sync/semaphore"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

const (
	// closeTimeout bounds Close, because Benthos does not.
	closeTimeout = 4 * time.Second
	// fatalWait is the pause between two attempts in a fatal state.
	fatalWait = time.Minute
)

// input implements [service.BatchInput].
//
// Benthos calls Connect, ReadBatch and Close one after the other; only
// acknowledgements come from other goroutines, and they touch nothing here but
// the session they belong to and the committer.
// Should Close come while another call is running, it ends that call first.
type input struct {
	cfg     config
	mgr     *service.Resources
	log     *service.Logger
	metrics metrics
	maker   *messageMaker
	cache   checkpoint.Cache
	open    func(ctx context.Context) (database, error)
	onStop  func(error) // told why on_fatal stopped the stream

	// ctx ends with Close, which thereby ends whatever else is running.
	ctx  context.Context
	stop context.CancelCauseFunc

	busy   *semaphore.Weighted // held by the call that is running
	db     database            // nil: not connected
	keeper *keeper             // nil before the first connection
	// heartbeats are the reading's while one runs; nil: none.
	heartbeats *heartbeats
	session    *session // nil: the next begins at the committed mark
	reading    *reading // nil: none runs
	held       *handover
	fatal      fatalState
	nacks      pace // restarts after rejections
	losses     pace // restarts after errors of the source
}

// errClosed is why everything ends after Close.
var errClosed = errors.New("the input is closed")

var (
	_ service.BatchInput         = (*input)(nil)
	_ service.ConnectionTestable = (*input)(nil)
)

// newInput returns an input that has not connected yet.
func newInput(parsed *service.ParsedConfig, mgr *service.Resources, opts options) (*input, error) {
	cfg, err := parseConfig(parsed)
	if err != nil {
		return nil, err
	}
	cfg.server.Dial = opts.dial
	if !mgr.HasCache(cfg.cache) {
		return nil, fmt.Errorf("field %s: there is no cache resource with the label %q", fieldCheckpointCache, cfg.cache)
	}
	if err := checkBatching(cfg.batching, mgr); err != nil {
		return nil, err
	}
	in := &input{
		cfg:     cfg,
		mgr:     mgr,
		log:     mgr.Logger(),
		metrics: newMetrics(mgr.Metrics()),
		maker:   newMessageMaker(cfg.structured, cfg.metadata),
		cache:   cacheResource{mgr: mgr, name: cfg.cache},
		onStop:  opts.onStop,
		busy:    semaphore.NewWeighted(1),
	}
	if cfg.extendedHeaders {
		in.maker.context = newContextHeaders(cfg.topics.Prefix)
	}
	if in.heartbeats, err = newHeartbeats(cfg.heartbeatInterval, in.eventOptions()); err != nil {
		return nil, err
	}
	in.ctx, in.stop = context.WithCancelCause(context.Background())
	log := slog.New(logHandler{in.log})
	notices := newNotices(log)
	in.open = func(ctx context.Context) (database, error) {
		return openDatabase(ctx, cfg, in.eventOptions(), notices, log)
	}
	return in, nil
}

func (in *input) eventOptions() event.Options {
	return event.Options{
		Topics:        in.cfg.topics,
		SchemaNames:   in.cfg.schemaNames,
		SkipUnchanged: in.cfg.skipUnchanged,
		KeySchemas:    in.cfg.keySchemas,
		ValueSchemas:  in.cfg.valueSchemas,
		Tombstones:    in.cfg.tombstones,
		Structured:    in.cfg.structured,
		Modes:         in.cfg.modes,
		Failures:      in.cfg.failures,
		OnNull:        in.warnNull,
		OnValue:       in.warnValue,
	}
}

// warnNull reports a NULL that change data capture recorded where the table
// has none: once for each column in the log, always in the metrics.
func (in *input) warnNull(n event.NullNotice) {
	in.metrics.unexpectedNulls.Incr(1, n.Table.Database)
	if n.First && in.cfg.failures != event.FailuresSkip {
		in.log.Warnf("Column %q of %s is NOT NULL, but the change at %s has no value for it; it is null in the event and optional in the schema from now on", n.Column, n.Table.ID(), n.Position)
	}
}

// warnValue reports a value for which null is written: once for each column in
// the log, always in the metrics.
func (in *input) warnValue(n event.ValueNotice) {
	in.metrics.unconvertedValues.Incr(1, n.Table.Database)
	if n.First && in.cfg.failures != event.FailuresSkip {
		in.log.Warnf("A value is null in the event at %s: %v", n.Position, n.Err)
	}
}

// Connect starts reading, or starts it again after ReadBatch has returned
// [service.ErrNotConnected]. It returns once the first read has succeeded.
func (in *input) Connect(ctx context.Context) error {
	_ = in.busy.Acquire(context.Background(), 1)
	defer in.busy.Release(1)
	ctx, release := bind(ctx, in.ctx)
	defer release()
	err := in.start(ctx)
	if err == nil {
		in.leaveFatal()
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	reason, err := in.diagnose(err)
	if reason == "" {
		return err
	}
	in.enterFatal(reason, err)
	if in.cfg.stopOnFatal {
		if in.onStop != nil {
			in.onStop(err)
		}
		return service.ErrEndOfInput
	}
	return service.NewErrBackOff(err, fatalWait)
}

// start goes from whatever there is to a reading that works.
func (in *input) start(ctx context.Context) error {
	if in.ctx.Err() != nil {
		return errClosed
	}
	if err := in.settle(ctx); err != nil {
		return err
	}
	if err := in.connect(ctx); err != nil {
		return err
	}
	if in.session == nil {
		s, err := in.newSession(in.keeper.committed())
		if err != nil {
			return err
		}
		in.session = s
	}
	in.reading = in.read(in.db, in.session, in.session.tracker.HandedOver())
	select {
	case <-in.reading.ready:
		return nil
	case <-in.reading.done:
		err := in.reading.err
		if err := in.settle(ctx); err != nil {
			return err
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// connect opens the database and, the first time, loads its position.
func (in *input) connect(ctx context.Context) error {
	if in.db == nil {
		db, err := in.open(ctx)
		if err != nil {
			return err
		}
		in.db = db
	}
	if in.keeper == nil {
		k, err := in.newKeeper(ctx, in.db.Name())
		if err != nil {
			return err
		}
		in.keeper = k
	}
	return nil
}

// ReadBatch returns the next messages.
func (in *input) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	_ = in.busy.Acquire(context.Background(), 1)
	defer in.busy.Release(1)
	if in.reading == nil {
		return nil, nil, service.ErrNotConnected
	}
	s := in.session
	ctx, release := s.bind(ctx)
	defer release()
	for {
		if in.held == nil {
			h, err := s.batches.take(ctx, in.reading.queue)
			if err != nil {
				return nil, nil, in.readError(s, err)
			}
			if len(h.messages) == 0 {
				s.tracker.Advance(h.mark)
				continue
			}
			in.held = &h
		}
		messages, ack, err := in.handOver(ctx, s, *in.held)
		if err != nil {
			return nil, nil, in.readError(s, err)
		}
		in.held = nil
		return messages, ack, nil
	}
}

// readError tells Benthos to connect again when a session or a reading has
// ended.
func (in *input) readError(s *session, err error) error {
	var rejected *rejectedError
	if errors.As(err, &rejected) {
		s.close(rejected)
	}
	if rejected != nil || errors.Is(err, errDrained) || errors.Is(err, checkpoint.ErrClosed) {
		return service.ErrNotConnected
	}
	return err
}

// Close stops reading, saves the last acknowledged position and closes the
// connection. It returns in time even if something takes no notice of being
// ended; what is left to do is then done once that has come back.
func (in *input) Close(ctx context.Context) error {
	in.stop(errClosed)
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	if in.busy.Acquire(ctx, 1) != nil {
		go func() {
			defer cancel()
			_ = in.busy.Acquire(context.Background(), 1)
			_ = in.close(ctx)
		}()
		return errors.New("closing the input: a call does not end in time; messages since the last saved position will be repeated")
	}
	defer cancel()
	return in.close(ctx)
}

// close is Close once no other call is running.
func (in *input) close(ctx context.Context) error {
	defer in.busy.Release(1)

	// The position comes first: a dead server must not use up its time.
	if in.reading != nil {
		in.reading.cancel()
	}
	in.endSession(ctx)
	var err error
	if in.keeper != nil {
		err = in.keeper.committer.Close(ctx)
	}
	if in.reading != nil {
		select {
		case <-in.reading.done:
		case <-ctx.Done():
		}
		in.reading = nil
	}
	in.disconnect()
	if err != nil {
		in.log.Warnf("Messages since the last saved position will be repeated: %v", err)
	}
	return err
}

// ConnectionTest connects and looks at the tables, without reading anything.
func (in *input) ConnectionTest(ctx context.Context) service.ConnectionTestResults {
	db, err := in.open(ctx)
	if err != nil {
		_, err = diagnose(err, false)
		return service.ConnectionTestFailed(err).AsList()
	}
	if err := db.Close(); err != nil {
		return service.ConnectionTestFailed(err).AsList()
	}
	return service.ConnectionTestSucceeded().AsList()
}

// databaseName is the label of metrics: the exact name once it is known.
func (in *input) databaseName() string {
	if in.keeper != nil {
		return in.keeper.database
	}
	return in.cfg.server.Database
}
