package input

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// Reasons of fatal states that are decided here; problems of other packages
// bring their own.
const (
	reasonLogin   = "login"
	reasonMissing = "object_missing"
)

// diagnose decides which errors a person must cure: it names the cause in one
// word and returns the error with its remedy. The reason is empty for errors
// that time cures. A refused login is a mistake before the first success, and
// afterwards a server that is being restarted, failed over or given a new
// password.
func diagnose(err error, connectedBefore bool) (reason string, diagnosed error) {
	var problem sqlserver.Problem
	if errors.As(err, &problem) {
		return problem.Reason(), err
	}
	var text, remedy string
	switch sqlserver.Classify(err) {
	case sqlserver.ClassLogin:
		if connectedBefore {
			return "", err
		}
		reason, text, remedy = reasonLogin, "the server refuses the login or the database",
			"correct user, password or database_names"
	case sqlserver.ClassPermission:
		reason, text, remedy = sqlserver.ReasonPermission, "the login lacks a right",
			"grant it SELECT on the captured tables and on schema cdc"
	case sqlserver.ClassMissing:
		reason, text, remedy = reasonMissing, "something that is read has been dropped",
			"enable change data capture again, or leave the table out"
	default:
		return "", err
	}
	return reason, sqlserver.NewProblem(reason, text, remedy, err)
}

// curedAfresh are the reasons whose remedy is, or may be, to start afresh.
var curedAfresh = map[string]bool{
	stream.ReasonRetentionGap:     true,
	stream.ReasonInstanceReplaced: true,
	stream.ReasonInstanceGone:     true,
	stream.ReasonPositionAhead:    true,
	checkpoint.ReasonDamaged:      true,
	checkpoint.ReasonFormat:       true,
}

// diagnose is the function diagnose for the state that the input is in. Where
// a remedy is to start afresh, the error says how.
func (in *input) diagnose(err error) (reason string, diagnosed error) {
	reason, err = diagnose(err, in.keeper != nil)
	if !curedAfresh[reason] {
		return reason, err
	}
	return reason, fmt.Errorf("%w. %s", err, in.howToStartAfresh())
}

// howToStartAfresh names everything that makes an input go on instead. A
// running one would write it again.
func (in *input) howToStartAfresh() string {
	database := in.databaseName()
	if in.db != nil {
		database = in.db.Name()
	}
	keys := storedKeys(in.cfg.checkpointKey(database))
	for i, key := range keys {
		keys[i] = strconv.Quote(key)
	}
	return fmt.Sprintf("To start afresh, with a new snapshot: stop the pipeline and remove the keys %s from cache %q, as far as they exist, or set %s to a key that is not in use",
		strings.Join(keys, ", "), in.cfg.cache, fieldCheckpointCacheKey)
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
	if in.cfg.stopOnFatal {
		in.log.Errorf("Stopping the stream, because of %s (%s): %v", fieldOnFatal, reason, err)
		return
	}
	// The error itself is Benthos's to log, now and at every attempt: one error
	// line for one mistake.
	in.log.Infof("Cannot go on (%s); trying again every %v until it is cured", reason, fatalWait)
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
