package crashtest

import (
	"errors"
	"fmt"
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

// lapse takes changes away before they are read. The pipeline must give up with
// the error for that; then both pipelines start afresh, with a new snapshot.
type lapse struct {
	how     lapseKind
	changes string
	next    settings
}

func (s lapse) do(r *run) error {
	r.subject.calm()
	if err := r.settle(); err != nil {
		return err
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
	if err := r.compare(); err != nil {
		return err
	}
	r.end()
	return r.begin(s.next)
}

// lose makes changes and takes them away.
func (s lapse) lose(r *run) error {
	if s.how == cleanedUp {
		if err := r.server.Exec(useDatabase + s.changes); err != nil {
			return err
		}
		marker, err := r.mark()
		if err != nil {
			return err
		}
		if err := r.await("the witness", func() bool { return r.witness.passed(marker) }); err != nil {
			return err
		}
		return r.server.Exec(useDatabase + cleanAll)
	}
	err := r.server.Exec(useDatabase + "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'b', @capture_instance = N'all'\nGO\n" +
		s.changes + capture("b", "dbo_b"))
	return errors.Join(err, r.server.Capture(database))
}

// awaitRefusal waits until the subject gives up.
func (s lapse) awaitRefusal(r *run) error {
	deadline := time.After(r.env.Patience / 4)
	for {
		fatal, broken := r.subject.problem()
		if broken != nil {
			return broken
		}
		if fatal != nil {
			return s.checkRefusal(fatal)
		}
		select {
		case <-time.After(r.env.seconds(1)):
		case <-deadline:
			return fmt.Errorf("%v: the pipeline says nothing", s.how)
		}
	}
}

// checkRefusal makes sure that the pipeline has given up for the right reason.
func (s lapse) checkRefusal(fatal error) error {
	var (
		gap      *stream.GapError
		instance *stream.InstanceError
	)
	if s.how == cleanedUp && errors.As(fatal, &gap) || s.how != cleanedUp && errors.As(fatal, &instance) {
		return nil
	}
	return fmt.Errorf("%v: the pipeline gave up for another reason: %w", s.how, fatal)
}

func (s lapse) String() string { return fmt.Sprintf("%v; then %+v\n%s", s.how, s.next, s.changes) }
