package input

import (
	"context"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/signal"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// The values of capture_instances.
const (
	instancesObserve = "observe"
	instancesFollow  = "follow"
	instancesManage  = "manage"
)

// chooseInstances decides which capture instances of each table the stream will
// read after the snapshot, so that the rows have their shape.
func (d *serverDatabase) chooseInstances(ctx context.Context, progress *snapshot.Progress, configured lsn.LSN, known []stream.InstanceIdentity) ([]stream.Choice, error) {
	start, err := d.startOf(ctx, progress, configured)
	if err != nil {
		return nil, err
	}
	function := d.cfg.queryMode == queryFunction
	refuse := stream.Refusals(ctx, d.conn, function)
	var choices []stream.Choice
	for _, t := range d.tables {
		terms, before := d.termsOf(t, start, progress, known)
		terms.Refuse, terms.Wanted = refuse, d.selection.MatchInstance
		c, err := stream.Choose(t, before, terms)
		if err != nil {
			return nil, err
		}
		if err := c.CheckVisible(function); err != nil {
			return nil, err
		}
		if low := c.First().StartLSN; before == nil && low.After(terms.Need) && begun(t, progress) {
			return nil, &stream.GapError{Table: t.Source.ID().String(), Instance: c.First().Name, Need: terms.Need, Low: low}
		}
		if c.Unread != nil {
			d.notices.Warn(c.Remark())
		}
		choices = append(choices, *c)
	}
	return choices, nil
}

// termsOf returns the terms of choosing between the instances of a table, and
// what of it was read before. While none of its rows is, any instance will do:
// changes before it are in the rows.
func (d *serverDatabase) termsOf(t *sqlserver.Table, start lsn.Position, progress *snapshot.Progress, known []stream.InstanceIdentity) (stream.Terms, *stream.InstanceIdentity) {
	if d.cfg.snapshotMode == snapshotInitial && !begun(t, progress) {
		return stream.TermsOfSnapshot(), nil
	}
	terms := stream.TermsAt(start, d.cfg.captureInstances != instancesObserve)
	if progress == nil {
		return terms, nil
	}
	return terms, stream.IdentityOf(t, known)
}

// begun reports whether some rows of a table have been read that are not read
// again.
func begun(t *sqlserver.Table, progress *snapshot.Progress) bool {
	return progress != nil && progress.Begun(t.Source.Schema, t.Source.Name)
}

// startOf returns where the stream begins: a snapshot that begins only now will
// not choose an earlier LSN than the newest, unless one is configured.
func (d *serverDatabase) startOf(ctx context.Context, progress *snapshot.Progress, configured lsn.LSN) (lsn.Position, error) {
	switch {
	case progress != nil:
		return progress.Position(), nil
	case !configured.IsZero():
		return lsn.EndOf(configured), nil
	}
	newest, err := d.conn.MaxLSN(ctx)
	return lsn.EndOf(newest), err
}

// completed says that a capture instance is not needed any more.
func (d *serverDatabase) completed(c stream.Completed) {
	d.notifier.Later(signal.InstanceCompleted(d.cfg.topics.Prefix, signal.Instance{
		Database: d.name, Name: c.Instance.Name, Start: c.Instance.FirstStart, Stop: c.Stop, Committed: c.Saved.Commit,
	}))
	if !c.Exists || d.instances.owns(c.Instance.Name) {
		return
	}
	d.notices.Warn(d.name+"."+c.Instance.Schema+"."+c.Instance.Table, fmt.Sprintf(
		"capture instance %q is no longer read: everything before %s is delivered, and from there on a newer one is read. Once nobody else reads it, disable it: %s",
		c.Instance.Name, c.Stop, sqlserver.DisableTable{Schema: c.Instance.Schema, Table: c.Instance.Table, Instance: c.Instance.Name}.ByHand()))
}
