package crashtest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// lapseKind is a way in which changes get lost before they are read.
type lapseKind int

const (
	cleanedUp        lapseKind = iota // while the pipeline was down
	enabledAnew                       // the table, while it was down
	enabledAnewUnder                  // the table, while it was running
	lapseKinds
)

func (k lapseKind) String() string {
	return [...]string{"cleaned up while down", "table enabled anew while down", "table enabled anew while running"}[k]
}

// reasons returns those for which the pipeline may give up.
func (k lapseKind) reasons() []string {
	if k == cleanedUp {
		return []string{stream.ReasonRetentionGap}
	}
	return []string{stream.ReasonInstanceGone, stream.ReasonInstanceReplaced}
}

// lapse takes changes of a database away before they are read. The pipeline must
// give up there with the error for that, and go on in the other one; then both
// pipelines start afresh, with a new snapshot. One that reads rows again goes on
// by itself.
type lapse struct {
	database string
	how      lapseKind
	changes  string
	next     settings
}

func (s lapse) do(r *run) error {
	r.subject.calm()
	if err := r.settle(); err != nil {
		return err
	}
	if s.how == cleanedUp && r.plan.traits.reread {
		return s.rereads(r)
	}
	if s.how != enabledAnewUnder {
		r.subject.kill()
	}
	if err := s.lose(r); err != nil {
		return err
	}
	if s.how != enabledAnewUnder {
		if err := r.subject.start(s.next); err != nil {
			return err
		}
	}
	if err := s.awaitRefusal(r); err != nil {
		return err
	}
	if err := s.othersGoOn(r); err != nil {
		return err
	}
	if err := r.compare(); err != nil {
		return err
	}
	r.end()
	return r.begin(s.next)
}

// rereads expects the rows of all tables to be read again. From there on the
// events are to be the witness's again. The tables get a row each, since an empty
// one is not told of.
func (s lapse) rereads(r *run) error {
	if err := r.compare(); err != nil {
		return err
	}
	r.subject.kill()
	s.changes += "INSERT dbo.a (id, u, v) VALUES (-1, -1, N'gap')\nINSERT dbo.b (k, n, v) VALUES (N'gap', -1, -1)\nGO\n"
	if err := s.lose(r); err != nil {
		return err
	}
	if err := r.subject.start(s.next); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	if r.subject.readAgain() == 0 {
		return fmt.Errorf("%v: no row is read again", s.how)
	}
	return nil
}

// lose makes changes and takes them away.
func (s lapse) lose(r *run) error {
	if s.how == cleanedUp {
		if err := r.server.Exec(use(s.database) + s.changes); err != nil {
			return err
		}
		m, err := r.mark(s.database)
		if err != nil {
			return err
		}
		if err := r.await("the witness", func() bool { return r.witness.passed(m) }); err != nil {
			return err
		}
		return r.server.Exec(use(s.database) + cleanAll)
	}
	err := r.server.Exec(use(s.database) + "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'b', @capture_instance = N'all'\nGO\n" +
		s.changes + capture("b", "dbo_b"))
	return errors.Join(err, r.server.Capture(s.database))
}

// awaitRefusal waits until the subject gives up, and checks why.
func (s lapse) awaitRefusal(r *run) error {
	deadline := time.After(r.env.Patience / 4)
	for {
		fatal, broken := r.subject.problem()
		switch {
		case broken != nil:
			return broken
		case fatal != nil && !slices.Contains(s.how.reasons(), fatal.reason):
			return fmt.Errorf("%v: the pipeline gave up for another reason: %w", s.how, fatal)
		case fatal != nil:
			return nil //nolint:nilerr // what was waited for
		}
		select {
		case <-time.After(r.env.seconds(1)):
		case <-deadline:
			return fmt.Errorf("%v: the pipeline says nothing", s.how)
		}
	}
}

// othersGoOn expects what happens in other databases to be delivered still.
func (s lapse) othersGoOn(r *run) error {
	for _, database := range r.plan.traits.databases() {
		if database == s.database {
			continue
		}
		m, err := r.mark(database)
		if err != nil {
			return err
		}
		deadline := time.After(r.env.Patience / 4)
		for !r.subject.passed(m) || !r.witness.passed(m) {
			select {
			case <-time.After(r.env.seconds(1)):
			case <-deadline:
				return fmt.Errorf("%v: %s is not read any more either\nthe subject %v", s, database, r.subject)
			}
		}
	}
	return nil
}

func (s lapse) String() string {
	return fmt.Sprintf("%v, in %s; then %+v\n%s", s.how, s.database, s.next, s.changes)
}
