package stream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// The reasons of the problems of this package, beside those of sqlserver.
const (
	ReasonRetentionGap     = "retention_gap"
	ReasonInstanceReplaced = "instance_replaced"
	ReasonInstanceGone     = "instance_gone"
	ReasonPositionAhead    = "position_ahead"
	ReasonEvent            = "event"
)

// ErrBehind is returned while the server has not reached the position, but may
// still. After a while a [*PositionError] takes its place.
var ErrBehind = errors.New("the server has not reached the stored position")

// errAltered is a catalogue that is not what it was when it was read last: a
// change table has other columns, or a table is there that was not.
var errAltered = errors.New("what is captured was altered")

var (
	_ sqlserver.Problem = (*GapError)(nil)
	_ sqlserver.Problem = (*InstanceError)(nil)
	_ sqlserver.Problem = (*PositionError)(nil)
	_ sqlserver.Problem = (*EventError)(nil)
	_ sqlserver.Problem = (*event.SchemaError)(nil)
	_ sqlserver.Problem = (*NothingLeftError)(nil)
)

// GapError is a table whose changes were cleaned up before they were read.
type GapError struct {
	Table, Instance string
	// Need is the first commit LSN that has not been delivered, Low the first
	// that the instance still holds.
	Need, Low lsn.LSN

	// another reports that the table has a second instance, which may hold
	// what is missing.
	another bool
	// objectID is that of the instance's change table, first the first commit LSN
	// that was read from it; zero if none was.
	objectID int32
	first    lsn.LSN
}

// Error says what is missing and what to do.
func (e *GapError) Error() string {
	return fmt.Sprintf("table %s: changes from commit LSN %s on were not read yet, but instance %q holds only those from %s on; %s",
		e.Table, e.Need, e.Instance, e.Low, e.Remedy())
}

// Reason implements [sqlserver.Problem].
func (e *GapError) Reason() string { return ReasonRetentionGap }

// Remedy implements [sqlserver.Problem].
func (e *GapError) Remedy() string {
	return "the cleanup job has removed them: set retention_gap_policy: snapshot, which reads this table again, or start afresh, with a new snapshot, " +
		"and raise the retention with sys.sp_cdc_change_job so that it covers the longest stop"
}

// InstanceError is a table whose capture instance is not the one that was
// read, or that has none any more. Changes between the two are nowhere.
type InstanceError struct {
	Table string
	Old   InstanceIdentity
	// New is the instance that took its place; nil if there is none.
	New *sqlserver.CaptureInstance
	// Need is the first commit LSN that has not been delivered.
	Need lsn.LSN
	// LeftOut reports that Old is not wanted any more: it may be there still.
	LeftOut bool
}

// Error says what happened and what to do.
func (e *InstanceError) Error() string {
	if e.LeftOut {
		return fmt.Sprintf("table %s: capture instance %q, created %s, was read, has changes from commit LSN %s on, and is left out by capture_instance_include_list; %s",
			e.Table, e.Old.Name, e.Old.CreateDate.Format(createDateLayout), e.Need, e.Remedy())
	}
	if e.New == nil {
		return fmt.Sprintf("table %s: capture instance %q, created %s, is gone, with the changes from commit LSN %s on, and there is no other; %s",
			e.Table, e.Old.Name, e.Old.CreateDate.Format(createDateLayout), e.Need, e.Remedy())
	}
	return fmt.Sprintf("table %s: capture instance %q, created %s, is gone, and %q, created %s, holds changes only from %s on, not from commit LSN %s; %s",
		e.Table, e.Old.Name, e.Old.CreateDate.Format(createDateLayout),
		e.New.Name, e.New.CreateDate.Format(createDateLayout), e.New.StartLSN, e.Need, e.Remedy())
}

// createDateLayout prints a server-local time without pretending a zone.
const createDateLayout = "2006-01-02 15:04:05.000"

// Reason implements [sqlserver.Problem].
func (e *InstanceError) Reason() string {
	if e.New == nil {
		return ReasonInstanceGone
	}
	return ReasonInstanceReplaced
}

// Remedy implements [sqlserver.Problem].
func (e *InstanceError) Remedy() string {
	if e.LeftOut {
		return "let capture_instance_include_list match it until the log says that it is no longer read, or start afresh, with a new snapshot"
	}
	if e.New == nil {
		return "enable change data capture on the table with sys.sp_cdc_enable_table and start afresh, " +
			"with a new snapshot, or leave the table out"
	}
	return "what was changed in between, if anything was, is in no capture instance: start afresh, with a new snapshot"
}

// NothingLeftError says that all tables are held.
type NothingLeftError struct {
	// Tables are the problems of each.
	Tables []sqlserver.Problem
}

// Error says what is wrong with each table, and what to do.
func (e *NothingLeftError) Error() string {
	return "no table is left that can be read: " + e.joined(sqlserver.Problem.Error)
}

func (e *NothingLeftError) joined(text func(sqlserver.Problem) string) string {
	texts := make([]string, len(e.Tables))
	for i, p := range e.Tables {
		texts[i] = text(p)
	}
	return strings.Join(texts, "; ")
}

// Reason implements [sqlserver.Problem]: it is that of the first table.
func (e *NothingLeftError) Reason() string { return e.Tables[0].Reason() }

// Remedy implements [sqlserver.Problem].
func (e *NothingLeftError) Remedy() string { return e.joined(sqlserver.Problem.Remedy) }

// PositionError is a stored position that the server has not reached: the
// database was restored to an earlier time, is another one, or is a replica
// that lags behind the one read before.
type PositionError struct {
	Saved, Max lsn.LSN
}

// Error says what was compared and what to do.
func (e *PositionError) Error() string {
	return fmt.Sprintf("stored position %s lies after the newest captured LSN %s; %s", e.Saved, e.Max, e.Remedy())
}

// Reason implements [sqlserver.Problem].
func (e *PositionError) Reason() string { return ReasonPositionAhead }

// Remedy implements [sqlserver.Problem].
func (e *PositionError) Remedy() string {
	return "a replica that lags catches up by itself; if the database was restored or is another one, " +
		"start afresh, with a new snapshot"
}

// EventError is a change row of which no event can be made.
type EventError struct {
	Table    string
	Position lsn.Position
	Err      error // of the encoder, which names table and column
}

// Error names table, column and position, and what to do.
func (e *EventError) Error() string {
	return fmt.Sprintf("no event can be made of the change at position %s: %v; %s", e.Position, e.Err, e.Remedy())
}

// Unwrap returns the encoder's error.
func (e *EventError) Unwrap() error { return e.Err }

// Reason implements [sqlserver.Problem].
func (e *EventError) Reason() string { return ReasonEvent }

// Remedy implements [sqlserver.Problem].
func (e *EventError) Remedy() string {
	var value *schema.ValueError
	if errors.As(e.Err, &value) && value.Remedy != "" {
		return "or " + event.FailureRemedy // behind what the error itself says
	}
	return "correct the column's type, which the change table follows, " + event.FailureRemedy
}
