package input

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/metrics"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/notice"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Bounds of Close, because Benthos sets none.
const (
	// closeTimeout is for everything but saving the position.
	closeTimeout = 4 * time.Second
	// saveTimeout is for that: a cache may be slow, and what is not saved is
	// repeated. By default Benthos gives a stream 20 seconds to end.
	saveTimeout = 15 * time.Second
)

// input implements [service.BatchInput] over the sources of all databases.
//
// Each source reads, fails, waits and goes on by itself. The input passes on
// what they have and tells Benthos whether anything works: Connect fails only
// if no source does.
type input struct {
	cfg     config
	mgr     *service.Resources
	log     *service.Logger
	metrics *metrics.Set
	context *messages.Context // nil: without
	cache   checkpoint.Cache
	// owner is who keeps the positions of this input, holders all inputs of the
	// process that do.
	owner   checkpoint.Owner
	holders *keyHolders
	// server is one for all connections, since it keeps what they log in with.
	server  *sqlserver.Server
	open    func(ctx context.Context, s *source) (database, error)
	list    func(ctx context.Context, server *sqlserver.Server) ([]sqlserver.DatabaseEntry, error)
	notices *notice.Once
	// unmatched is about the lists, which all databases share.
	unmatched *notice.Unmatched
	onStop    func(error) // told why on_fatal stopped the stream

	// ctx ends with Close, which thereby ends whatever is running.
	ctx  context.Context
	stop context.CancelCauseFunc

	demand demand
	// offers are what the sources have, one batch each at a time. Who waits is
	// served in the order of coming: sources that have something take turns.
	offers chan offer

	unknown   fatalState     // of a search for databases that found none
	searching sync.WaitGroup // the goroutine that looks for more

	mu      sync.Mutex
	sources []*source
	changed chan struct{} // closed and replaced when the state of a source changes
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
	cfg.server.Dial, cfg.server.NewCredential = opts.dial, opts.newCredential
	server, err := sqlserver.NewServer(cfg.server)
	if err != nil {
		return nil, err
	}
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
		metrics: metrics.NewSet(mgr.Metrics()),
		cache:   cacheResource{mgr: mgr, name: cfg.cache},
		owner:   checkpoint.NewOwner(),
		holders: holdersOf(mgr),
		server:  server,
		open:    openSource,
		list:    listDatabases,
		notices: notice.NewOnce(notice.Logger(mgr.Logger())),
		onStop:  opts.onStop,
		demand:  newDemand(),
		offers:  make(chan offer),
		changed: make(chan struct{}),
	}
	if cfg.extendedHeaders {
		in.context = messages.NewContext(cfg.topics.Prefix)
	}
	in.unmatched = notice.NewUnmatched(in.notices, in.databases)
	in.ctx, in.stop = context.WithCancelCause(context.Background())
	if _, err := in.newSource(cfg.server.Database); err != nil {
		return nil, err
	}
	if err := in.holdKeys(); err != nil {
		return nil, err
	}
	return in, nil
}

// Connect starts reading, or starts it again after ReadBatch has returned
// [service.ErrNotConnected]. It returns once the first read has succeeded in
// any database, or has failed in all.
func (in *input) Connect(ctx context.Context) error {
	if in.ctx.Err() != nil {
		return errClosed
	}
	ctx, release := bind(ctx, in.ctx)
	defer release()
	if failed := in.begin(ctx); failed != nil {
		return in.giveUp(failed)
	}
	in.rouse()
	for {
		outcome, changed := in.outcome()
		switch {
		case outcome.working:
			return nil
		case outcome.failed != nil:
			return in.giveUp(outcome.failed)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ReadBatch returns the next messages, of one database.
func (in *input) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	ctx, release := bind(ctx, in.ctx)
	defer release()
	defer in.demand.raise(ctx)()
	for {
		working, changed := in.working()
		if !working {
			return nil, nil, service.ErrNotConnected
		}
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		select {
		case o := <-in.offers:
			if !o.stale() {
				return o.messages, o.ack, nil
			}
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// Close stops reading, saves the last acknowledged positions and closes the
// connections. It returns in time even if something takes no notice of being
// ended; what is left to do, saving included, is then done once that has come
// back.
func (in *input) Close(ctx context.Context) error {
	in.stop(errClosed)
	defer in.holders.release(in)
	saving, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	ending, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	in.mu.Lock()
	sources := in.sources
	in.mu.Unlock()
	searched := make(chan struct{})
	go func() {
		defer close(searched)
		in.searching.Wait()
	}()
	for _, s := range sources {
		s.beginClose()
	}
	var errs []error
	for _, s := range sources {
		errs = append(errs, s.awaitClose(ending, saving))
	}
	select {
	case <-searched:
	case <-ending.Done():
	}
	return errors.Join(errs...)
}

// ConnectionTest connects and looks at the tables, without reading anything.
func (in *input) ConnectionTest(ctx context.Context) service.ConnectionTestResults {
	databases, err := in.find(ctx)
	if err != nil {
		_, err = diagnose(err, false)
		return service.ConnectionTestFailed(err).AsList()
	}
	var results service.ConnectionTestResults
	for _, database := range databases {
		result := service.ConnectionTestSucceeded()
		if err := in.try(ctx, database); err != nil {
			result = service.ConnectionTestFailed(err)
		}
		results = append(results, result)
	}
	return results
}

// try opens a database and closes it again.
func (in *input) try(ctx context.Context, database string) error {
	s, err := in.newSource(database)
	if err != nil {
		return err
	}
	db, err := in.open(ctx, s)
	if err != nil {
		_, err = diagnose(err, false)
		return err
	}
	return errors.Join(db.MissingRights(), db.Close())
}
