package input

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// Snapshot implements [database]. Without data it has no tables: it only finds
// and stores the LSN at which the stream begins.
func (d *serverDatabase) Snapshot(ctx context.Context, progress *snapshot.Progress, sink rowSink, known stream.Known, onKnown knownFunc) error {
	if d.cfg.snapshotMode == snapshotInitial {
		if err := d.rights.Sources(d.tables); err != nil {
			return err
		}
	}
	conn := awaiting{d.conn, sink.Waiting}
	start, err := d.snapshotStart(ctx, conn, progress)
	if err != nil {
		return err
	}
	choices, err := d.chooseInstances(ctx, progress, start, known.Instances)
	if err != nil {
		return err
	}
	if err := d.checkEncoders(choices); err != nil {
		return err
	}
	structures, err := d.structures(ctx, choices)
	if err != nil {
		return err
	}
	for _, c := range choices {
		d.sayTakenUp(stream.IdentityOf(c.Table, known.Instances), c)
	}
	// From here on a cleanup, and an instance that takes another's place, are
	// noticed: however long the snapshot takes, the stream compares what it
	// finds with this.
	before := knownBefore(choices, progress, known)
	if err := onKnown(ctx, before); err != nil {
		return fmt.Errorf("storing capture instances: %w", err)
	}
	learned := &learned{known: before, store: onKnown}
	anew := &taking{database: d, choices: choices, store: learned.takenUp}

	opts := d.snapshotOptions()
	opts.Start, opts.Structures = start, structures
	opts.Tables = d.snapshotTables(choices)
	opts.Observer = d.observer(opts.Tables, progress)
	opts.Optional, opts.OnOptional = before.Optional, learned.optional
	opts.Look, opts.Begin = anew.look, anew.begin
	return snapshot.New(conn, opts, progress).Run(ctx, sink)
}

// snapshotStart returns the LSN that a snapshot is told to begin at; zero if it
// has begun, or takes the newest.
func (d *serverDatabase) snapshotStart(ctx context.Context, conn awaiting, progress *snapshot.Progress) (lsn.LSN, error) {
	if progress != nil {
		return lsn.LSN{}, nil
	}
	return d.configuredStart(ctx, conn)
}

// snapshotTables returns the tables whose rows are read, in the shape of the
// instances that are read first afterwards.
func (d *serverDatabase) snapshotTables(choices []stream.Choice) []snapshot.Table {
	if d.cfg.snapshotMode != snapshotInitial {
		return nil
	}
	var tables []snapshot.Table
	for _, c := range choices {
		tables = append(tables, snapshot.Table{Source: c.Table, Shape: c.First().Shape})
	}
	return tables
}

// knownBefore returns what is known of the tables before the first row that is to
// be read, given what was stored by an earlier attempt.
func knownBefore(choices []stream.Choice, progress *snapshot.Progress, stored stream.Known) stream.Known {
	now := stream.Known{Structures: stored.Structures}
	if progress == nil || !progress.Told {
		now.Structures = stream.Structures(choices)
	}
	for _, c := range choices {
		now.Instances = append(now.Instances, c.Identity)
		shape := c.First().Shape
		if columns := stored.Optional(shape); progress != nil && len(columns) > 0 {
			now = now.WithOptional(shape, columns)
		}
	}
	return now
}

// learned is what is known of the tables while a snapshot runs. Whatever it
// learns is stored before the first row that was read with it.
type learned struct {
	known stream.Known
	store knownFunc
}

// optional implements [snapshot.Options.OnOptional].
func (l *learned) optional(ctx context.Context, t *schema.Table, columns []string) error {
	l.known = l.known.WithOptional(t, columns)
	return l.store(ctx, l.known)
}

// takenUp stores that a table is read by another choice.
func (l *learned) takenUp(ctx context.Context, c stream.Choice) error {
	l.known = l.known.TakenUp(c)
	return l.store(ctx, l.known)
}

// snapshotOptions are the settings of all that reads rows.
func (d *serverDatabase) snapshotOptions() snapshot.Options {
	return snapshot.Options{
		Isolation:    d.cfg.snapshotIsolation,
		Encoder:      d.encoder,
		FetchSize:    d.cfg.snapshotFetchSize,
		MaxBatchSize: d.cfg.maxBatchSize,
		MaxBytes:     d.cfg.maxReadBytes,
		PollInterval: d.cfg.pollInterval,
		Logger:       d.log,

		SchemaChanges: d.schemaChanges,
	}
}

// structures returns the tables that consumers are told of before the
// snapshot, in the order of their names: those that are captured, or all.
func (d *serverDatabase) structures(ctx context.Context, choices []stream.Choice) ([]*schema.Table, error) {
	if d.schemaChanges == nil {
		return nil, nil
	}
	var tables []*schema.Table
	for _, c := range choices {
		tables = append(tables, c.First().Shape)
	}
	if !d.cfg.capturedOnly {
		all, err := d.allTables(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if !slices.ContainsFunc(tables, func(c *schema.Table) bool { return c.ID() == t.ID() }) {
				tables = append(tables, t)
			}
		}
	}
	slices.SortFunc(tables, func(a, b *schema.Table) int { return strings.Compare(a.ID().String(), b.ID().String()) })
	return tables, nil
}

// allTables returns all tables, captured or not, but those of the server.
func (d *serverDatabase) allTables(ctx context.Context) ([]*schema.Table, error) {
	all, err := d.conn.Catalogue(ctx, nil)
	if err != nil {
		return nil, err
	}
	var tables []*schema.Table
	for _, t := range all {
		if t.Source.Schema != "cdc" && t.Source.Schema != "sys" {
			tables = append(tables, t.Source)
		}
	}
	return tables, nil
}

// checkEncoders makes sure, before the first message, that events can be made of
// all that the snapshot and the stream after it read.
func (d *serverDatabase) checkEncoders(choices []stream.Choice) error {
	for _, c := range choices {
		for _, ci := range slices.Compact([]*sqlserver.CaptureInstance{c.First(), c.Instance}) {
			if _, err := event.NewEncoder(ci.Shape, d.events); err != nil {
				return fmt.Errorf("preparing table %s: %w", ci.Shape.ID(), err)
			}
		}
	}
	return nil
}
