package input

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/metrics"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/notice"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
)

// source reads one database: over a connection of its own, with its own
// position, acknowledgements, pauses and fatal state. One goroutine does it,
// until the input is closed; only acknowledgements come from others, and they
// touch nothing here but the session they belong to and the committer.
type source struct {
	in  *input
	cfg config // the input's, with the name of the database
	log *service.Logger

	maker      *messages.Maker
	heartbeats *heartbeats      // nil: none
	action     *heartbeatAction // nil: none
	observers
	capture captureWatch

	db       database // nil: not connected
	keeper   *keeper  // nil before the first connection
	session  *session // nil: the next begins at the committed mark
	reading  *reading // nil: none runs
	fatal    fatalState
	nacks    pace.Streak // restarts after rejections
	losses   pace.Streak // restarts after errors of the database
	failures pace.Streak // attempts to begin reading

	// The input's lock guards these.
	state     state
	exactName string // of the database, once connected

	// held says by name why each table is held; released are those that were, until
	// that is said. Both are the reading's.
	held     map[string]string
	released map[string]bool

	ended    chan struct{} // closed when the goroutine has ended
	closing  sync.Once
	closed   chan struct{} // closed when everything is released
	closeErr error         // of that, once closed is closed
}

// newSource returns a source that does not run yet; an empty name is the
// connection's database.
func (in *input) newSource(database string) (*source, error) {
	s := &source{
		in:     in,
		cfg:    in.cfg,
		log:    in.log,
		maker:  messages.NewMaker(in.cfg.structured, in.cfg.metadata, in.context),
		ended:  make(chan struct{}),
		closed: make(chan struct{}),
		held:   map[string]string{}, released: map[string]bool{},
	}
	s.cfg.server.Database = database
	if in.cfg.databases.several() {
		s.log = s.log.With("database", database)
	}
	s.notices, s.meter = notice.NewOnce(s.slog()), metrics.NewMeter(in.metrics, max(in.cfg.pollInterval, in.cfg.adaptive.Ceiling))
	s.altered = notice.NewStructures(s.notices)
	s.link = &link{gauge: in.metrics.Connected, log: s.log, timeout: s.cfg.server.QueryTimeout}
	var err error
	if s.notifier, err = newNotifier(s.cfg, s.eventOptions(), s.log); err != nil {
		return nil, err
	}
	if s.cfg.heartbeatAction != "" {
		s.action = newHeartbeatAction(s)
	}
	if s.heartbeats, err = newHeartbeats(s.cfg.heartbeatInterval, s.eventOptions()); err != nil {
		return nil, err
	}
	return s, nil
}

// openSource connects to the database of a source.
func openSource(ctx context.Context, s *source) (database, error) {
	return openDatabase(ctx, s.in.server, s.cfg, s.eventOptions(), s.observers, s.slog())
}

func (s *source) slog() *slog.Logger { return notice.Logger(s.log) }

func (s *source) eventOptions() event.Options {
	opts := event.Options{
		Topics:        s.cfg.topics,
		SchemaNames:   s.cfg.schemaNames,
		SkipUnchanged: s.cfg.skipUnchanged,
		KeySchemas:    s.cfg.keySchemas,
		ValueSchemas:  s.cfg.valueSchemas,
		Tombstones:    s.cfg.tombstones,
		Structured:    s.cfg.structured,
		Modes:         s.cfg.modes,
		Failures:      s.cfg.failures,
		OnNull:        s.warnNull,
		OnValue:       s.warnValue,
	}
	if s.cfg.processingFailures != processingFail {
		opts.OnFailure = s.leaveOut
	}
	return opts
}

// run reads until the input is closed, through whatever happens.
func (s *source) run() {
	defer close(s.ended)
	var background sync.WaitGroup
	background.Go(func() { s.meter.Run(s.in.ctx) })
	defer background.Wait()
	for s.in.ctx.Err() == nil {
		err := s.start(s.in.ctx)
		var rejected *rejectedError
		switch {
		case err == nil:
			s.succeed()
			s.deliver()
			s.interrupt()
		case errors.As(err, &rejected), s.in.ctx.Err() != nil:
		default:
			s.fail(s.in.ctx, err)
		}
	}
}

// start goes from whatever there is to a reading that works.
func (s *source) start(ctx context.Context) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	if err := s.lost(ctx); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if s.session == nil {
		session, err := s.newSession(s.keeper.committed())
		if err != nil {
			return err
		}
		s.session = session
	}
	s.reading = s.read(s.place())
	select {
	case <-s.reading.ready:
		return nil
	case <-s.reading.done:
		if s.reading.worked() {
			return nil // what it has read is delivered first
		}
		err := s.reading.err
		if err := s.settle(ctx); err != nil {
			return err
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lost returns why nothing can be saved any more, for good, and leaves the
// database to whoever has taken over.
func (s *source) lost(ctx context.Context) error {
	if s.keeper == nil || s.keeper.lost() == nil {
		return nil
	}
	s.endSession(ctx)
	s.disconnect()
	return s.keeper.lost()
}

// place returns the mark behind which the session is to be read: that of the
// last message handed over. Before the first one, a reading may have stored
// where the stream will begin, and been lost: the next one must not begin later,
// unless it reads all rows anew, which hold what was changed in between.
func (s *source) place() mark {
	m := s.session.tracker.HandedOver()
	if !m.begun() && s.cfg.snapshotMode != snapshotInitial {
		return s.keeper.committed()
	}
	return m
}

// connect provides what reading needs: a connection, the position, which must be
// of this database, and rights.
func (s *source) connect(ctx context.Context) error {
	recognised := s.db != nil && s.keeper != nil
	if err := s.open(ctx); err != nil {
		return err
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	if !recognised {
		if err := s.recognise(ctx); err != nil {
			s.disconnect()
			return err
		}
		s.sayGoesOn()
	}
	return s.checkRights()
}

// open opens the database, unless it is open, and makes sure that no other source
// reads it under another name.
func (s *source) open(ctx context.Context) error {
	if s.db != nil {
		return nil
	}
	s.share()
	db, err := s.in.open(ctx, s)
	if err != nil {
		return err
	}
	s.db = db
	if err := s.in.assign(s, db.Name()); err != nil {
		s.disconnect()
		return err
	}
	s.meter.Connected(db.Name(), s.keeper != nil)
	return nil
}

// load loads the position of the database, once.
func (s *source) load(ctx context.Context) error {
	if s.keeper != nil {
		return nil
	}
	k, err := s.newKeeper(ctx, s.db.Name())
	if err != nil {
		return err
	}
	s.keeper = k
	return nil
}

// checkRights fails if rights are missing before the stream has begun. While it
// runs, the tables that cannot be read are held, each with its own right.
func (s *source) checkRights() error {
	err := s.db.MissingRights()
	switch {
	case err == nil:
		return nil
	case s.cfg.watch.strict, !s.keeper.committed().snapshotted():
		s.disconnect()
		return err
	default:
		s.notices.Warn("", err.Error())
		return nil
	}
}

// deliver hands over what is read until the reading or the session has ended.
func (s *source) deliver() {
	for {
		h, err := s.session.batches.take(s.session.ctx, s.reading.queue)
		if err == nil {
			err = s.handOver(h)
		}
		if err != nil {
			var rejected *rejectedError
			if errors.As(err, &rejected) {
				s.session.close(rejected)
			}
			return
		}
	}
}

// beginClose releases everything once the goroutine has ended, however late
// that is.
func (s *source) beginClose() {
	s.closing.Do(func() {
		go func() {
			defer close(s.closed)
			<-s.ended
			s.closeErr = s.release()
		}()
	})
}

// awaitClose returns when everything is released, or when that takes too long:
// the goroutine may take as long as ending lasts, and saving the position as
// long as saving does.
func (s *source) awaitClose(ending, saving context.Context) error {
	select {
	case <-s.ended:
	case <-ending.Done():
		return errHangs
	}
	select {
	case <-s.closed:
		return s.closeErr
	case <-saving.Done():
		return errHangs
	}
}

// errHangs is what Close returns of a source whose release goes on behind it.
var errHangs = errors.New("closing the input: a call does not end in time; messages since the last saved position may be repeated")

// release ends what a source holds. The position comes first: a dead server
// must not use up its time.
func (s *source) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	saving, cancelSaving := context.WithTimeout(context.Background(), saveTimeout)
	defer cancelSaving()
	if s.reading != nil {
		s.reading.cancel()
	}
	s.endSession(ctx)
	var err error
	if s.keeper != nil {
		err = s.keeper.close(saving)
	}
	if s.reading != nil {
		select {
		case <-s.reading.done:
		case <-ctx.Done():
		}
		s.reading = nil
	}
	s.disconnect()
	s.action.close(ctx)
	s.instances.close(ctx)
	if err != nil {
		s.log.Warnf("Messages since the last saved position will be repeated: %v", err)
	}
	return err
}

// databaseName is the label of metrics: the exact name once it is known.
func (s *source) databaseName() string {
	if s.keeper != nil {
		return s.keeper.database
	}
	return s.cfg.server.Database
}
