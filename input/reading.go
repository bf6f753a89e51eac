package input

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// reading is one goroutine that reads from a connection into a queue, until an
// error ends it, the session ends, or it is stopped.
type reading struct {
	source  *source
	session *session
	queue   *queue
	mark    mark // of what was pushed last; the goroutine's own
	// interval is the goroutine's own too.
	interval pace.Interval

	cancel context.CancelFunc
	ready  chan struct{} // closed by the first sign of success
	once   sync.Once
	done   chan struct{} // closed when the goroutine has ended
	err    error         // why it ended, once done is closed
}

var (
	_ looker      = (*reading)(nil)
	_ stream.Sink = (*reading)(nil)
	_ rowSink     = (*snapshotSink)(nil)
)

// read starts a reading behind a mark.
func (s *source) read(from mark) *reading {
	r := &reading{
		source: s, session: s.session, mark: from.snapshotKnown(),
		queue: newQueue(s.cfg.maxQueueSize, s.cfg.maxQueueBytes),
		ready: make(chan struct{}), done: make(chan struct{}),
		interval: pace.NewInterval(s.cfg.checkpointKey(s.databaseName()), s.cfg.pollInterval, s.cfg.adaptive),
	}
	s.meter.Reads(r.queue, s.session.tracker.Unacknowledged)
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	db := s.db
	go func() {
		defer r.cancel()
		defer close(r.done)
		defer r.queue.close()
		r.err = r.run(ctx, db)
	}()
	return r
}

// run reads until an error: the snapshot if it is not done, then the stream.
func (r *reading) run(ctx context.Context, db database) error {
	r.source.notifier.Begin(r.mark.snapshotted())
	if !r.mark.snapshotted() {
		if err := r.readRows(ctx, db); err != nil {
			return err
		}
	}
	poller := db.Stream(r.mark.start(r.source.keeper.known), r, r.saveInstances, r.source.keeper.savedPlace)
	for {
		r.source.sayReleased()
		if err := r.source.watchCapture(ctx, db); err != nil {
			return err
		}
		more, err := r.poll(ctx, poller)
		if err != nil {
			return err
		}
		if more {
			continue
		}
		if err := r.pause(ctx, r.interval.Next()); err != nil {
			return err
		}
	}
}

// readRows reads the snapshot, and waits before the stream if that is wanted.
func (r *reading) readRows(ctx context.Context, db database) error {
	err := r.watched(ctx, db, func(ctx context.Context) error {
		return db.Snapshot(ctx, r.mark.progress, &snapshotSink{r, db}, r.source.keeper.known, r.saveKnown)
	})
	if err != nil {
		return err
	}
	if err := r.beat(ctx); err != nil {
		return err
	}
	delay := r.source.cfg.streamingDelay
	if delay <= 0 {
		return nil
	}
	r.succeeded() // the snapshot has
	return r.pause(ctx, delay)
}

// poll does one pass of the stream, and what is due after it. That the server is
// behind is neither a success nor a failure yet.
func (r *reading) poll(ctx context.Context, poller poller) (more bool, err error) {
	more, err = poller.PollOnce(ctx)
	behind := errors.Is(err, stream.ErrBehind)
	if err != nil && !behind {
		return false, err
	}
	if !behind {
		r.succeeded()
		if err := r.notify(ctx); err != nil {
			return false, err
		}
	}
	r.source.heartbeats.act(r.source.action)
	if more || behind {
		return more, nil
	}
	r.source.meter.CaughtUp()
	if r.source.heartbeats.due() {
		return false, r.beat(ctx)
	}
	return false, nil
}

// pause waits before the next look for changes.
func (r *reading) pause(ctx context.Context, d time.Duration) error {
	ctx, release := r.session.bind(ctx)
	defer release()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// worked reports whether there was a success.
func (r *reading) worked() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// succeeded tells whoever waits that the reading works.
func (r *reading) succeeded() { r.once.Do(func() { close(r.ready) }) }

// Emit implements [stream.Sink].
func (r *reading) Emit(ctx context.Context, b *event.Batch, upTo stream.Place) error {
	r.interval.Saw()
	if err := r.notify(ctx); err != nil {
		return err
	}
	if r.source.heartbeats.due() {
		if err := r.source.heartbeats.beat(b, r.source.keeper.database, upTo.Position); err != nil {
			return err
		}
	}
	r.source.meter.Read(b, upTo.Position)
	return r.push(ctx, item{batch: b, mark: r.mark.at(upTo)})
}

// Advance implements [stream.Sink].
func (r *reading) Advance(ctx context.Context, to stream.Place) error {
	return r.push(ctx, item{mark: r.mark.at(to)})
}

// looker is told what each look for changes finds, before anything of it.
type looker interface{ looked(p sqlserver.Poll) }

// looked implements [looker].
func (r *reading) looked(p sqlserver.Poll) {
	r.mark.seen = newSeen(p)
	r.source.capture.captured(p.Max)
}

// beat hands over a heartbeat alone, if there are any.
func (r *reading) beat(ctx context.Context) error {
	if r.source.heartbeats == nil {
		return nil
	}
	b := event.NewBatch(1)
	if err := r.source.heartbeats.beat(b, r.source.keeper.database, r.mark.position()); err != nil {
		return err
	}
	return r.pushAside(ctx, b)
}

// notify hands over what there is to tell, if anything.
func (r *reading) notify(ctx context.Context) error {
	b, err := r.source.notifier.Take(r.source.keeper.database, r.mark.position())
	if b == nil || err != nil {
		return err
	}
	return r.pushAside(ctx, b)
}

// pushAside hands over messages that move nothing.
func (r *reading) pushAside(ctx context.Context, b *event.Batch) error {
	if len(b.Messages) == 0 {
		return nil
	}
	r.source.meter.CountBatch(b)
	return r.push(ctx, item{batch: b, mark: r.mark})
}

// push hands an item to the queue. Messages are a success of the reading even
// while the queue is full; that there are none is not one yet.
func (r *reading) push(ctx context.Context, i item) error {
	if messages, _ := i.size(); messages > 0 {
		r.succeeded()
	}
	ctx, release := r.session.bind(ctx)
	defer release()
	if err := r.queue.push(ctx, i); err != nil {
		return err
	}
	r.mark = i.mark
	return nil
}

// saveInstances stores the capture instances before the first event that was
// read with them.
func (r *reading) saveInstances(ctx context.Context, byCommand bool, known stream.Known) error {
	if err := r.saveKnown(ctx, known); err != nil {
		return err
	}
	r.mark.state.ByCommand = byCommand
	return nil
}

// saveKnown stores what is known of the tables.
func (r *reading) saveKnown(ctx context.Context, known stream.Known) error {
	return r.source.keeper.saveKnown(ctx, known)
}

// snapshotSink is a reading as the snapshot sees it.
type snapshotSink struct {
	r  *reading
	db database
}

// Waiting implements [rowSink]: that there is no LSN is a reason to look after
// the capture job.
func (s *snapshotSink) Waiting(ctx context.Context) error { return s.r.source.watchCapture(ctx, s.db) }

// Save implements [snapshot.Sink]. Only the start and the ordinals are taken
// from p: its tables may be ahead, when it goes on behind messages that are
// still under way.
func (s *snapshotSink) Save(ctx context.Context, p *snapshot.Progress) error {
	if err := s.r.source.keeper.begin(ctx, s.db, p); err != nil {
		return err
	}
	s.r.source.sayBegins(p.Start)
	return nil
}

// Emit implements [snapshot.Sink].
func (s *snapshotSink) Emit(ctx context.Context, b *event.Batch, p *snapshot.Progress) error {
	s.r.source.meter.CountBatch(b)
	m := s.r.mark
	m.progress = p
	if n := len(b.Messages); n > 0 {
		m.ordinal = b.Messages[n-1].Position.Ordinal
	}
	return s.r.push(ctx, item{batch: b, mark: m})
}
