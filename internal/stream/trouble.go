package stream

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// tableError is an error of one table that need not stop the others.
type tableError struct {
	id  InstanceIdentity
	err error
}

func (e *tableError) Error() string { return e.err.Error() }
func (e *tableError) Unwrap() error { return e.err }

// tablesError are those of several.
type tablesError []*tableError

func (e tablesError) Error() string {
	texts := make([]string, len(e))
	for i, of := range e {
		texts[i] = of.Error()
	}
	return strings.Join(texts, "; ")
}

// trouble returns an error of reading the changes of an instance as one of its
// table.
func (t *tracked) trouble(err error) error {
	table := t.reader.Instance().ChangeTable
	if refused := sqlserver.ColumnsRefused(err, "cdc", table, t.shape.Columns); refused != nil {
		err = refused
	} else if sqlserver.Classify(err) == sqlserver.ClassPermission {
		err = sqlserver.NotPermitted("the login may not read the changes of table "+t.name(),
			"run GRANT SELECT ON [cdc]."+sqlserver.Quote(table)+" TO the login's user", err)
	}
	return &tableError{t.id, err}
}

// canHold reports whether a table with an error can be held: whatever it is waits
// in the change table, or is gone, and nothing about the connection is wrong.
// (Where a person wants values that fit no event to end the reading, they do.)
func canHold(err error) bool {
	var problem sqlserver.Problem
	if errors.As(err, &problem) {
		switch problem.Reason() {
		case sqlserver.ReasonPermission, event.ReasonEventSchema, ReasonRetentionGap, ReasonInstanceGone, ReasonInstanceReplaced:
			return true
		default:
			return false
		}
	}
	class := sqlserver.Classify(err)
	return class == sqlserver.ClassPermission || class == sqlserver.ClassMissing || errors.Is(err, sqlserver.ErrInstanceGone)
}

// troubles returns the tables that an error is about and that can be held, while
// others are read; nil if it must end the reading.
func (r *Reader) troubles(err error) tablesError {
	var (
		several tablesError
		gaps    *gapsError
		one     *tableError
	)
	switch {
	case r.opts.OnHeld == nil:
		return nil
	case errors.As(err, &several):
		return several
	case errors.As(err, &gaps):
		for _, gap := range gaps.gaps {
			several = append(several, r.gapTrouble(gap, gaps.known))
		}
	case errors.As(err, &one) && canHold(one.err):
		several = tablesError{one}
	}
	if len(several) > 0 && len(r.held) == 0 && !r.readsOther(several[0].id) {
		return nil // of the only table
	}
	return several
}

// readsOther reports whether a table is read that is not this one.
func (r *Reader) readsOther(than InstanceIdentity) bool {
	return slices.ContainsFunc(r.tracked, func(t *tracked) bool { return t.id.SourceObjectID != than.SourceObjectID })
}

// gapTrouble returns a gap as the error of its table. Where a table that was not
// read before begins is left open, so that the gap is found again.
func (r *Reader) gapTrouble(gap *GapError, known []InstanceIdentity) *tableError {
	id := known[slices.IndexFunc(known, func(id InstanceIdentity) bool { return id.includes(gap.objectID) })]
	if !slices.ContainsFunc(r.known, func(old InstanceIdentity) bool { return old.SourceObjectID == id.SourceObjectID }) {
		id.FirstStart = lsn.LSN{}
	}
	return &tableError{id, gap}
}
