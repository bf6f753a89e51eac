package stream

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// tracked is one capture instance being read.
type tracked struct {
	id InstanceIdentity
	// until is the first commit LSN that is read from a newer instance; zero if
	// there is none.
	until   lsn.LSN
	table   *sqlserver.Table
	shape   *schema.Table
	reader  *sqlserver.ChangeReader
	encoder *event.Encoder
	// optional are the columns of which consumers know that their fields became
	// optional.
	optional []string
	// columns stands for the types of the pages' columns; zero before the
	// first page.
	columns uint64
}

// name returns the table's name, for people.
func (t *tracked) name() string { return t.shape.ID().String() }

// gap is the error of changes that were needed from a commit LSN on.
func (t *tracked) gap(need, low lsn.LSN) *GapError {
	return &GapError{
		Table: t.name(), Instance: t.id.Name, Need: need, Low: low, another: len(t.table.Instances) > 1,
		objectID: t.id.ObjectID, first: t.id.FirstStart,
	}
}

// track prepares reading the instances of a choice.
func (r *Reader) track(c Choice, byCommand bool) ([]*tracked, error) {
	now, err := r.trackOne(c.Table, c.Instance, c.Identity, byCommand)
	if err != nil || c.Before == nil {
		return []*tracked{now}, err
	}
	before, err := r.trackOne(c.Table, c.Before, *c.Identity.Replaced, byCommand)
	if err != nil {
		return nil, err
	}
	before.until = c.Identity.FirstStart
	return []*tracked{before, now}, nil
}

// trackOne prepares reading an instance. One that is read already keeps its
// encoder unless the capture job has altered a column of its change table,
// which keeps its object id.
func (r *Reader) trackOne(table *sqlserver.Table, ci *sqlserver.CaptureInstance, id InstanceIdentity, byCommand bool) (*tracked, error) {
	t := &tracked{id: id, table: table, shape: ci.Shape}
	if r.opts.Function {
		t.reader = sqlserver.NewFunctionReader(ci, r.opts.Skipped)
	} else {
		t.reader = sqlserver.NewChangeReader(ci, byCommand, r.opts.Skipped)
	}
	at := slices.IndexFunc(r.tracked, func(old *tracked) bool { return old.id.is(ci) })
	if at >= 0 && sameShape(r.tracked[at].shape, t.shape) {
		t.encoder = r.tracked[at].encoder
		return t, nil
	}
	var err error
	if t.encoder, err = r.opts.Encoder(t.shape); err != nil {
		return nil, fmt.Errorf("preparing table %s: %w", t.name(), err)
	}
	return t, nil
}

// sameShape reports whether rows of two table versions look the same. Defaults
// may be values that cannot be compared by ==.
func sameShape(a, b *schema.Table) bool { return reflect.DeepEqual(a, b) }
