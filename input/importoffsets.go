package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/connectoffsets"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Import are offsets of Debezium's connector that a pipeline is to go on from.
type Import struct {
	// Pipeline is the configuration, in YAML, of a stream whose input is
	// sqlserver_cdc alone, with its cache resource.
	Pipeline string
	// Offsets are what Kafka Connect stored: its file, the answer of its REST
	// interface, or lines of the offsets topic.
	Offsets []byte
	// Connector is the name of the connector; it is needed only where several
	// have the same topic prefix.
	Connector string
	// Log takes what the input warns of; nil discards.
	Log io.Writer
}

// Imported is the position of a database that was stored.
type Imported struct {
	Database string
	// Key is the key under which it is, in the cache Cache.
	Key, Cache string
	Position   lsn.Position
	// Replays says that the transaction of the offset is repeated from its
	// beginning, since the connector delivers its events in another order.
	Replays bool
}

// ImportOffsets stores the position behind the offsets of a connector, for each
// database of a pipeline that has not run yet, so that it goes on where the
// connector has stopped and takes no snapshot. The offsets are looked up in the
// change tables, so the server must be reached. All databases are, or none.
func ImportOffsets(ctx context.Context, env *service.Environment, what Import, opts ...Option) ([]Imported, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	var imp *importer
	env = env.Clone()
	if err := env.RegisterBatchInput(Name, sharedSpec(), func(parsed *service.ParsedConfig, mgr *service.Resources) (service.BatchInput, error) {
		in, err := newInput(parsed, mgr, o)
		if err != nil {
			return nil, err
		}
		imp = &importer{input: in, what: what}
		return imp, nil
	}); err != nil {
		return nil, err
	}
	builder := env.NewStreamBuilder()
	log := what.Log
	if log == nil {
		log = io.Discard
	}
	builder.SetLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := builder.SetYAML(what.Pipeline); err != nil {
		return nil, fmt.Errorf("reading the pipeline: %w", err)
	}
	built, err := builder.Build()
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	err = built.Run(ctx)
	switch {
	case imp != nil && imp.err != nil:
		return nil, imp.err
	case err != nil:
		return nil, fmt.Errorf("running the import: %w", err)
	case imp == nil:
		return nil, errors.New("the pipeline has no input " + Name)
	}
	return imp.done, nil
}

// importer is an input that stores positions instead of reading, and ends.
type importer struct {
	input *input
	what  Import
	done  []Imported
	err   error
}

// Connect implements [service.BatchInput].
func (i *importer) Connect(ctx context.Context) error {
	i.done, i.err = i.input.importOffsets(ctx, i.what)
	return service.ErrEndOfInput
}

// ReadBatch implements [service.BatchInput].
func (i *importer) ReadBatch(context.Context) (service.MessageBatch, service.AckFunc, error) {
	return nil, nil, service.ErrEndOfInput
}

// Close implements [service.BatchInput].
func (i *importer) Close(ctx context.Context) error { return i.input.Close(ctx) }

// resolved is a position to be stored.
type resolved struct {
	Imported
	positions *positions
	state     stream.State
	witness   witness // of the offset's transaction, if the position is in it
}

// importOffsets looks up all offsets before it writes anything to the cache.
func (in *input) importOffsets(ctx context.Context, what Import) ([]Imported, error) {
	offsets, err := connectoffsets.Read(what.Offsets)
	if err != nil {
		return nil, fmt.Errorf("reading the offsets: %w", err)
	}
	if offsets, err = connectoffsets.OfConnector(offsets, in.cfg.topics.Prefix, what.Connector); err != nil {
		return nil, err
	}
	databases, err := in.find(ctx)
	if err != nil {
		return nil, err
	}
	var found []resolved
	for _, database := range databases {
		r, err := in.resolve(ctx, database, offsets, len(databases) == 1)
		if err != nil {
			return nil, fmt.Errorf("database %q: %w", database, err)
		}
		found = append(found, r)
	}
	for _, r := range found {
		if err := r.positions.take(ctx); err != nil {
			return nil, err
		}
	}
	var done []Imported
	for _, r := range found {
		known := stream.Known{Instances: r.state.Instances, Structures: r.state.Structures}
		if err := r.positions.saveKnown(ctx, known); err != nil {
			return nil, err
		}
		state := stream.State{Position: r.Position, ByCommand: r.state.ByCommand}
		if err := r.positions.save(ctx, mark{streaming: true, state: state, witness: r.witness}); err != nil {
			return nil, err
		}
		done = append(done, r.Imported)
	}
	return done, nil
}

// resolve looks up the offset of a database in its change tables. Only says
// that the input reads no other.
func (in *input) resolve(ctx context.Context, database string, offsets []connectoffsets.Offset, only bool) (resolved, error) {
	s, err := in.newSource(database)
	if err != nil {
		return resolved{}, err
	}
	opened, err := in.open(ctx, s)
	if err != nil {
		_, err = diagnose(err, false)
		return resolved{}, err
	}
	defer opened.Close()
	if err := opened.MissingRights(); err != nil {
		return resolved{}, err
	}
	offset, err := connectoffsets.OfDatabase(offsets, opened.Name(), only)
	if err != nil {
		return resolved{}, err
	}
	key := s.cfg.checkpointKey(opened.Name())
	positions := newPositions(in.cache, key, in.owner, nil)
	stored, err := positions.stored(ctx)
	if err != nil {
		return resolved{}, err
	}
	if stored {
		return resolved{}, fmt.Errorf("key %q of cache %q has a position already, from which the pipeline would go on; to import another: %s", key, s.cfg.cache, s.removal(opened.Name()))
	}
	if _, _, err := positions.read(ctx); err != nil {
		if reason, _ := diagnose(err, true); curedAfresh[reason] {
			err = fmt.Errorf("%w. To import all the same: %s", err, s.removal(opened.Name()))
		}
		return resolved{}, err
	}
	if positions.lineage, err = opened.Lineage(ctx); err != nil {
		return resolved{}, err
	}
	resolver, ok := opened.(offsetResolver)
	if !ok {
		return resolved{}, fmt.Errorf("a %T resolves no offsets", opened)
	}
	state, replays, err := resolver.Resolve(ctx, stream.Offset{Commit: offset.Commit, Change: offset.Change, Serial: offset.Serial})
	if err != nil {
		_, err = diagnose(err, true)
		return resolved{}, err
	}
	w, err := witnessOfOffset(ctx, opened, offset.Commit)
	if err != nil {
		return resolved{}, err
	}
	if replays {
		w = witness{} // the position is before it
	}
	return resolved{
		Imported:  Imported{Database: opened.Name(), Key: key, Cache: s.cfg.cache, Position: state.Position, Replays: replays},
		positions: positions, state: state, witness: w,
	}, nil
}

// witnessOfOffset returns the witness of an offset's transaction. The connector takes
// its LSNs from cdc.lsn_time_mapping, idle ones too, so that one which is not there
// between others is of another history; those that cleanup has taken prove nothing.
// Source: debezium SqlServerConnection, GET_MAX_LSN, GET_NTH_TRANSACTION_LSN.
func witnessOfOffset(ctx context.Context, db lineageReader, commit lsn.LSN) (witness, error) {
	recorded, err := db.Recorded(ctx, commit)
	switch {
	case err != nil:
		return witness{}, err
	case unknown(recorded, commit):
		return witness{}, sqlserver.NewProblem(reasonRestored,
			fmt.Sprintf("it is another database than the offset is of, or was restored: it knows transactions from %s to %s, but not the one at %s that the connector has read",
				recorded.Oldest, recorded.Newest, commit),
			"connect to the right one, or let the pipeline take a snapshot", nil)
	default:
		return witnessAt(commit, recorded), nil
	}
}

// offsetResolver is a database that finds offsets in its change tables.
type offsetResolver interface {
	Resolve(ctx context.Context, at stream.Offset) (state stream.State, replays bool, err error)
}

var _ offsetResolver = (*serverDatabase)(nil)

// Resolve returns the state behind an offset. It is that of the options with
// which the stream will read.
func (d *serverDatabase) Resolve(ctx context.Context, at stream.Offset) (state stream.State, replays bool, err error) {
	return stream.Resolve(ctx, d.conn, stream.Options{
		Selection: d.selection,
		Skipped:   d.cfg.skipped,
		Function:  d.cfg.queryMode == queryFunction,
		Encoder:   d.encoder,
		Observe:   d.cfg.captureInstances == instancesObserve,
		FetchSize: d.cfg.streamingFetchSize,
		MaxBytes:  d.cfg.maxReadBytes,
		Remark:    d.notices.Warn,
		Logger:    d.log,
	}, at)
}
