package event

import (
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// FailureNotice reports a change that is left out, because no event can be made
// of it.
type FailureNotice struct {
	Table    *schema.Table
	Position lsn.Position
	// Err names the column and what is wrong with its value.
	Err error
}

// FailureRemedy is what is left to do about a change of which no event can be
// made, when its value stays as it is.
const FailureRemedy = "leave the table out, or such changes alone with event_processing_failure_handling_mode: warn"

// attempt appends the messages of a change, with fields made optional as it
// needs. On an error nothing is appended.
func (e *Encoder) attempt(dst *Batch, c *Change) error {
	start := dst.mark()
	for {
		e.nulls, e.invalid = e.nulls[:0], e.invalid[:0]
		err := e.row(dst, c)
		if err == nil {
			return nil
		}
		dst.rollback(start)
		var null *schema.NullError
		if !errors.As(err, &null) || e.opts.Failures == FailuresFail {
			return err
		}
		if err := e.MakeOptional([]string{null.Column}); err != nil {
			return err
		}
	}
}

// giveUp leaves a change out of which no event can be made, if that is wanted.
// A table of which none can be made is an error all the same.
func (e *Encoder) giveUp(c *Change, err error) error {
	var table *SchemaError
	if !e.LeavesOut() || errors.As(err, &table) {
		return err
	}
	e.opts.OnFailure(FailureNotice{Table: e.Table(), Position: c.Position, Err: err})
	return nil
}

// LeavesOut reports whether changes of which no event can be made are left out,
// instead of being errors.
func (e *Encoder) LeavesOut() bool { return e.opts.OnFailure != nil }

// Drops reports whether Row would leave a change out because no event can be
// made of it, and tells OnFailure if so. It is for those who must know which
// change is the last before they write it, and costs what Row costs.
func (e *Encoder) Drops(c Change) (bool, error) {
	if err := c.check(len(e.Table().Columns)); err != nil {
		return false, fmt.Errorf("encoding change of %s: %w", e.Table().ID(), err)
	}
	var trial Batch
	err := e.attempt(&trial, &c)
	if err == nil {
		return false, nil
	}
	err = e.giveUp(&c, err)
	return err == nil, err
}

// trialEvents returns the number of change messages that Row would append: none
// of a change that it leaves out.
func (e *Encoder) trialEvents(c *Change) (n int64, err error) {
	var trial Batch
	if err := e.attempt(&trial, c); err != nil {
		var table *SchemaError
		if errors.As(err, &table) {
			return 0, err
		}
		return 0, nil
	}
	for i := range trial.Messages {
		if trial.Messages[i].Kind == KindChange {
			n++
		}
	}
	return n, nil
}
