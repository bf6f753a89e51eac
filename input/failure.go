package input

import (
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Reasons of fatal states that are decided here; problems of other packages
// bring their own.
const (
	reasonCheckpoint = "checkpoint_damaged"
	reasonValue      = "value_out_of_range"
	reasonLogin      = "login"
	reasonMissing    = "object_missing"
)

// fatalReason decides which errors a person must cure, and names the cause in
// one word; empty for errors that time cures. A refused login is a mistake
// before the first success, and afterwards a server that is being restarted,
// failed over or given a new password.
func fatalReason(err error, connectedBefore bool) string {
	var (
		problem sqlserver.Problem
		damaged *checkpoint.DamagedError
		value   *schema.ValueError
	)
	switch {
	case errors.As(err, &problem):
		return problem.Reason()
	case errors.As(err, &damaged):
		return reasonCheckpoint
	case errors.As(err, &value):
		return reasonValue
	}
	switch sqlserver.Classify(err) {
	case sqlserver.ClassLogin:
		if connectedBefore {
			return ""
		}
		return reasonLogin
	case sqlserver.ClassPermission:
		return sqlserver.ReasonPermission
	case sqlserver.ClassMissing:
		return reasonMissing
	default:
		return ""
	}
}

// fatalState is what the metrics and the log say of an input that cannot go
// on.
type fatalState struct{ reason, text string }

// enterFatal publishes a fatal state, and logs it when it is news.
func (in *input) enterFatal(reason string, err error) {
	now := fatalState{reason, err.Error()}
	if now == in.fatal {
		return
	}
	in.clearFatal()
	in.fatal = now
	in.metrics.fatal.Set(1, reason, in.databaseName())
	in.log.Errorf("Cannot go on (%s): %v", reason, err)
}

// leaveFatal ends a fatal state whose cause is gone.
func (in *input) leaveFatal() {
	if in.fatal == (fatalState{}) {
		return
	}
	in.log.Infof("Going on: %s is cured", in.fatal.reason)
	in.clearFatal()
}

func (in *input) clearFatal() {
	if in.fatal.reason != "" {
		in.metrics.fatal.Set(0, in.fatal.reason, in.databaseName())
	}
	in.fatal = fatalState{}
}
