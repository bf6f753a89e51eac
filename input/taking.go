package input

import (
	"context"
	"fmt"
	"reflect"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// taking looks, before each table of a snapshot is begun, whether a capture
// instance was made for it since the snapshot began, and takes that one up: what
// was committed before it is in the rows, so that the one before is not needed.
type taking struct {
	database *serverDatabase
	choices  []stream.Choice // how the tables of the snapshot are read
	store    func(ctx context.Context, c stream.Choice) error

	seen   sqlserver.Fingerprint
	tables map[int32]*sqlserver.Table // as last seen, by object id; nil: not yet
}

// begin implements [snapshot.Options.Begin].
func (k *taking) begin(ctx context.Context, i int) (*snapshot.Taken, error) {
	before := k.choices[i]
	t := k.tables[before.Table.ObjectID]
	if t == nil || len(t.Instances) == 0 {
		return nil, nil // the stream says what has become of it
	}
	d := k.database
	function := d.cfg.queryMode == queryFunction
	terms := stream.TermsOfSnapshot()
	terms.Refuse = stream.Refusals(ctx, d.conn, function)
	now, err := stream.Choose(t, nil, terms)
	if err != nil {
		return nil, err
	}
	if err := now.CheckVisible(function); err != nil {
		return nil, err
	}
	if sameReading(before, *now) {
		return nil, nil
	}
	k.choices[i] = *now
	d.sayTakenUp(&before.Identity, *now)
	return &snapshot.Taken{
		Table: snapshot.Table{Source: t, Shape: now.First().Shape},
		Store: func(ctx context.Context) error { return k.store(ctx, *now) },
	}, nil
}

// sayTakenUp says that a table is read by another instance than before, if it is.
func (d *serverDatabase) sayTakenUp(before *stream.InstanceIdentity, now stream.Choice) {
	if before != nil && before.ObjectID != now.Identity.ObjectID {
		d.log.Info("a capture instance that was made during the snapshot is taken up: changes before it are in the table's rows alone",
			"table", now.Table.Source.ID().String(), "instance", now.Identity.Name, "start_lsn", now.Identity.FirstStart)
	}
}

// look implements [snapshot.Options.Look]: it reads the catalogue if the set of
// instances has changed since.
func (k *taking) look(ctx context.Context) error {
	d := k.database
	poll, err := d.conn.Poll(ctx, stream.TermsOfSnapshot().Need, 1)
	if err != nil {
		return fmt.Errorf("looking for new capture instances: %w", err)
	}
	if k.tables != nil && poll.Instances == k.seen {
		return nil
	}
	tables, err := d.conn.Catalogue(ctx, d.selection)
	if err != nil {
		return err
	}
	k.seen, k.tables = poll.Instances, map[int32]*sqlserver.Table{}
	for _, t := range tables {
		k.tables[t.ObjectID] = t
	}
	return nil
}

// sameReading reports whether rows and changes of a table are read alike by two
// choices.
func sameReading(a, b stream.Choice) bool {
	return a.Identity.ObjectID == b.Identity.ObjectID && a.Identity.CreateDate.Equal(b.Identity.CreateDate) &&
		reflect.DeepEqual(a.First().Shape, b.First().Shape) && reflect.DeepEqual(a.Table.Source, b.Table.Source) &&
		sqlserver.KeyDefinition(a.Table.PageKey) == sqlserver.KeyDefinition(b.Table.PageKey)
}
