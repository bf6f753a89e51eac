package debezium

import (
	"context"
	"fmt"
	"path/filepath"
)

// Connector is what a scenario is played against.
type Connector interface {
	// Start starts it with these properties, behind what it emitted before its
	// last Stop. It returns at once; the recorder of the play learns the rest.
	Start(ctx context.Context, properties Properties) error
	// Stop stops it in the regular way and waits for its end.
	Stop(ctx context.Context) error
	// Queued is how many records it has read and not handed over.
	Queued(ctx context.Context) (int64, error)
}

// Debezium is the connector of a play that runs in a JVM. It keeps offsets and
// schema history in files, from one start to the next.
type Debezium struct {
	jvm      *JVM
	run      string
	dir      string
	recorder *Recorder
}

// NewDebezium returns a connector of that name, one of its own in the JVM,
// which keeps its state in a folder and emits to a recorder.
func NewDebezium(jvm *JVM, name, dir string, recorder *Recorder) *Debezium {
	return &Debezium{jvm: jvm, run: name, dir: dir, recorder: recorder}
}

// Start starts an engine. Properties that the scenario sets itself win over
// those for the state.
func (d *Debezium) Start(_ context.Context, properties Properties) error {
	d.recorder.Begin()
	return d.jvm.start(d.run, d.state().With(properties), d.recorder)
}

// Stop stops the engine and waits until it has stored its offsets.
func (d *Debezium) Stop(ctx context.Context) error {
	if err := d.jvm.stop(d.run); err != nil {
		return err
	}
	if err := d.recorder.AwaitPhase(ctx, PhaseStopped); err != nil {
		return fmt.Errorf("stopping Debezium: %w", err)
	}
	return nil
}

// Queued asks the engine's own metrics.
func (d *Debezium) Queued(ctx context.Context) (int64, error) {
	status, err := d.jvm.status(ctx, d.run)
	return status.Queued, err
}

// state are the properties of an embedded engine beside the connector's own.
func (d *Debezium) state() Properties {
	return Properties{
		"name":                         d.run,
		"connector.class":              "io.debezium.connector.sqlserver.SqlServerConnector",
		"offset.storage":               "org.apache.kafka.connect.storage.FileOffsetBackingStore",
		"offset.storage.file.filename": filepath.Join(d.dir, "offsets.dat"),
		// With every batch, so that a restart finds what was handed over.
		"offset.flush.interval.ms":              "0",
		"schema.history.internal":               "io.debezium.storage.file.history.FileSchemaHistory",
		"schema.history.internal.file.filename": filepath.Join(d.dir, "history.dat"),
		"task.management.timeout.ms":            "30000",
		// A failure of the database is a failure of the play.
		"errors.max.retries": "0",
		// Answers come in milliseconds here.
		"poll.interval.ms": "20",
	}
}
