package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// fatalWait is the pause between two attempts in a fatal state.
const fatalWait = time.Minute

// Reasons of fatal states that are decided here; problems of other packages
// bring their own.
const (
	reasonLogin   = "login"
	reasonMissing = "object_missing"
	reasonInitial = "initial_statements"
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
	if statementRefused(err, connectedBefore) {
		return reasonInitial, sqlserver.NewProblem(reasonInitial, "the server refuses a statement of the configuration",
			"correct "+fieldDatabaseInitialStatements+", or grant the login what they need", err)
	}
	var text, remedy string
	switch sqlserver.Classify(err) {
	case sqlserver.ClassLogin:
		if connectedBefore {
			return "", err
		}
		reason, text, remedy = reasonLogin, "the server refuses the login or the database",
			cmp.Or(sqlserver.Advice(err), "correct user, password, auth or database_names")
	case sqlserver.ClassPermission:
		reason, text, remedy = sqlserver.ReasonPermission, "the login lacks a right",
			cmp.Or(sqlserver.Advice(err), "grant it SELECT on the captured tables and on schema cdc")
	case sqlserver.ClassMissing:
		reason, text, remedy = reasonMissing, "something that is read is gone or has another name",
			"enable change data capture again if it was disabled, or leave the table out"
	default:
		return "", err
	}
	return reason, sqlserver.NewProblem(reason, text, remedy, err)
}

// statementRefused reports whether a person must correct a statement that every
// connection begins with. An error that has no meaning here is a mistake in it
// before the first success; afterwards the statement has worked.
func statementRefused(err error, connectedBefore bool) bool {
	var statement *sqlserver.InitialStatementError
	if !errors.As(err, &statement) {
		return false
	}
	switch sqlserver.Classify(err) {
	case sqlserver.ClassPermission, sqlserver.ClassMissing:
		return true
	case sqlserver.ClassOther:
		return !connectedBefore
	default:
		return false
	}
}

// advised adds to an error that is tried again, of a database that was read
// before if the login is refused, what a person can do about it, if that is known.
func advised(err error) error {
	if advice := sqlserver.AdviceAgain(err); advice != "" {
		return fmt.Errorf("%w (%s)", err, advice)
	}
	return err
}

// curedAfresh are the reasons whose remedy is, or may be, to start afresh.
var curedAfresh = map[string]bool{
	stream.ReasonRetentionGap:     true,
	stream.ReasonInstanceReplaced: true,
	stream.ReasonInstanceGone:     true,
	stream.ReasonPositionAhead:    true,
	reasonRestored:                true,
	checkpoint.ReasonDamaged:      true,
	checkpoint.ReasonFormat:       true,
}

// diagnose is the function diagnose for the state that the source is in. Where
// a remedy is to start afresh, the error says how.
func (s *source) diagnose(err error) (reason string, diagnosed error) {
	alone := s.failures.Times() >= refusedPatience && s.in.anyWorks()
	reason, err = diagnose(err, s.keeper != nil && !alone)
	return reason, s.withFreshStart(reason, err)
}

// howToStartAfresh names everything that makes a source go on instead. A
// running one would write it again.
func (s *source) howToStartAfresh() string {
	database := s.databaseName()
	if s.db != nil {
		database = s.db.Name()
	}
	return "To start afresh, with a new snapshot: " + s.removal(database)
}

// removal says how a stored position is taken away. Of several databases another
// key is none for one alone.
func (s *source) removal(database string) string {
	keys := storedKeys(s.cfg.checkpointKey(database))
	for i, key := range keys {
		keys[i] = strconv.Quote(key)
	}
	text := fmt.Sprintf("stop the pipeline and remove the keys %s from cache %q, as far as they exist", strings.Join(keys, ", "), s.cfg.cache)
	if s.cfg.databases.several() {
		return text
	}
	return fmt.Sprintf("%s, or set %s to a key that is not in use", text, fieldCheckpointCacheKey)
}

// refusedPatience is the number of attempts after which a database that refuses
// the connection while others do not is not taken for one that is failing over:
// half a minute.
const refusedPatience = 8

// succeed publishes that the source works.
func (s *source) succeed() {
	if s.fatal.reason == pace.ReasonRetries {
		s.losses = pace.Streak{} // the count begins again
	}
	s.fatal.leave(s.in, s.log)
	if s.failures.Times() > 0 && s.cfg.databases.several() {
		s.log.Infof("The database is read again")
	}
	s.failures = pace.Streak{}
	s.link.set(s.databaseName(), true)
	s.in.change(s, state{working: true})
}

// interrupt publishes that the source has stopped working, and tries again.
func (s *source) interrupt() {
	s.link.set(s.databaseName(), false)
	s.in.change(s, state{})
}

// fail publishes why an attempt to read failed, and waits until it is time for
// the next, or Connect asks for it.
func (s *source) fail(ctx context.Context, err error) {
	s.in.unmatched.Absent(s.cfg.server.Database)
	reason, err := s.diagnose(err)
	if reason == "" {
		reason, err = s.cfg.retries.Judge(s.failures.Next(""), advised(err))
	}
	if s.cfg.databases.several() {
		err = fmt.Errorf("database %q: %w", s.databaseName(), err)
	}
	wait := fatalWait
	if reason != "" {
		s.enterFatal(reason, err)
	} else {
		wait = s.retryLater(err)
	}
	if name := s.databaseName(); name != "" {
		s.link.set(name, false)
	}
	roused := make(chan struct{})
	s.in.change(s, state{err: err, fatal: reason != "", roused: roused})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-roused:
	case <-ctx.Done():
	}
}

// retryLater returns how long to wait after an error that time cures. Benthos
// logs what Connect returns, which fails only when no other database is read.
func (s *source) retryLater(err error) time.Duration {
	if s.failures.Times() == 1 && s.cfg.databases.several() {
		s.log.Warnf("Reading fails and is tried again: %v", err)
	}
	return s.cfg.retries.Pause(s.failures.Times())
}

// enterFatal publishes a fatal state, and logs it when it is news.
func (s *source) enterFatal(reason string, err error) {
	news := s.fatal.enter(s.in, fatalState{reason, err.Error(), s.databaseName()})
	next := fmt.Sprintf("trying again every %v until it is cured", fatalWait)
	if reason == checkpoint.ReasonTaken {
		next = "until it is started again" // the key is another's
	}
	switch {
	case !news:
	case s.cfg.databases.several():
		s.log.Errorf("Cannot go on (%s); %s: %v", reason, next, err)
	case !s.cfg.stopOnFatal:
		// The error itself is Benthos's to log, now and at every attempt: one
		// error line for one mistake.
		s.log.Infof("Cannot go on (%s); %s", reason, next)
	}
}

// fatalState is what the metrics say of what cannot go on; the zero state is
// that of what can.
type fatalState struct{ reason, text, database string }

// enter publishes a fatal state, and reports whether it is news.
func (f *fatalState) enter(in *input, now fatalState) (news bool) {
	if now == *f {
		return false
	}
	f.clear(in)
	*f = now
	in.metrics.Fatal.Set(1, f.reason, f.database)
	return true
}

// leave ends a fatal state whose cause is gone.
func (f *fatalState) leave(in *input, log *service.Logger) {
	if *f != (fatalState{}) {
		log.Infof("Going on: %s is cured", f.reason)
		f.clear(in)
	}
}

func (f *fatalState) clear(in *input) {
	if f.reason != "" {
		in.metrics.Fatal.Set(0, f.reason, f.database)
	}
	*f = fatalState{}
}
