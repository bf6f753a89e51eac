package crashtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// database is the name of the database that plans are played in.
const (
	database    = "db"
	useDatabase = "USE " + database + "\n"
)

// run is a plan being played.
type run struct {
	env     Environment
	plan    *Plan
	server  Server
	subject *subject
	witness *witness

	marker int // the last one used
	// settled is set once the subject's snapshot is over, since the beginning.
	settled bool
	events  int // that were compared
	lives   int
}

// Result is what playing a plan has shown.
type Result struct {
	Events int // of the source that were compared
	Lives  int // of the pipeline
}

// Run plays the plan. Its error says what does not hold; it should then be
// shrunk.
func (p *Plan) Run(e Environment) (Result, error) {
	server, err := e.Server()
	if err != nil {
		return Result{}, fmt.Errorf("starting the server: %w", err)
	}
	r := &run{env: e, plan: p, server: server}
	err = r.play()
	r.end()
	return Result{Events: r.events, Lives: r.lives}, errors.Join(err, server.Close())
}

func (r *run) play() error {
	if err := r.prepare(); err != nil {
		return fmt.Errorf("preparing the source: %w", err)
	}
	for i, s := range r.plan.Steps {
		if r.plan.Skip[i] {
			continue
		}
		if err := r.step(s); err != nil {
			return fmt.Errorf("step %d (%v): %w", i, s, err)
		}
	}
	return r.finish()
}

// prepare makes the tables. With the database under snapshot isolation, the
// pipelines block no statement of the plan.
func (r *run) prepare() error {
	script := "CREATE DATABASE " + database + "\nGO\n" + useDatabase +
		"EXEC sys.sp_cdc_enable_db\nALTER DATABASE " + database + " SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\n" + useDatabase + tables
	for _, table := range append(tableNames, "m") {
		script += capture(table, "dbo_"+table) + "\n"
	}
	return r.server.Exec(script)
}

// step does a step. A pipeline that has ended by itself is found out after it.
func (r *run) step(s Step) error {
	if err := s.do(r); err != nil || r.subject == nil {
		return err
	}
	return r.wrong()
}

// begin starts the pipelines on empty caches.
func (r *run) begin(first settings) error {
	r.settled = false
	var err error
	if r.witness, err = startWitness(r.env, r.server, r.plan.traits); err != nil {
		return err
	}
	r.subject = newSubject(r.env, r.server, r.plan.traits)
	return r.subject.start(first)
}

// wrong returns what must not be: a pipeline that has given up, or a promise
// that is broken.
func (r *run) wrong() error {
	if err := r.witness.problem(); err != nil {
		return fmt.Errorf("the witness gave up: %w", err)
	}
	fatal, broken := r.subject.problem()
	if fatal != nil {
		fatal = fmt.Errorf("the subject gave up: %w", fatal)
	}
	return errors.Join(fatal, broken)
}

// mark inserts a row by which to tell that everything before it was delivered.
func (r *run) mark() (marker int, err error) {
	r.marker++
	if err := r.server.Exec(fmt.Sprintf("%sINSERT dbo.m VALUES (%d)", useDatabase, r.marker)); err != nil {
		return 0, err
	}
	return r.marker, r.server.Capture(database)
}

// settle waits until both pipelines have delivered everything so far, and the
// subject has it saved. A first marker may be in the snapshot; what comes after
// it is in the stream.
func (r *run) settle() error {
	for _, is := range []func(marker int) bool{r.subject.delivers, r.subject.passed} {
		marker, err := r.mark()
		if err != nil {
			return err
		}
		if err := r.await("everything to be delivered", func() bool { return is(marker) && r.witness.passed(marker) }); err != nil {
			return err
		}
	}
	r.settled = true
	return nil
}

// await waits for a condition that comes about by what pipelines deliver or,
// soon after that, save.
func (r *run) await(what string, is func() bool) error {
	deadline := time.After(r.env.Patience)
	for !is() {
		if err := r.wrong(); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-r.subject.signal:
		case <-r.witness.signal:
		case <-time.After(r.env.seconds(1)):
		case <-deadline:
			if r.env.OnStuck != nil {
				r.env.OnStuck()
			}
			return fmt.Errorf("waiting for %s: it did not come in %v\nthe subject %v\nthe witness %v", what, r.env.Patience, r.subject, r.witness)
		}
	}
	return nil
}

// standing says how far a pipeline is, for a plan that fails.
func standing(events []Event, cache *streamtest.Cache, log string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "has delivered %d events", len(events))
	if len(events) > 0 {
		fmt.Fprintf(&b, ", the last is %v", events[len(events)-1])
	}
	b.WriteString("; its cache holds")
	for key, value := range cache.Values() {
		if strings.Contains(key, ".position.") {
			fmt.Fprintf(&b, "\n  %s: %s", key, savedCommit(value))
		}
	}
	lines := strings.Split(log, "\n")
	fmt.Fprintf(&b, "\n  and its log ends\n%s", strings.Join(lines[max(0, len(lines)-20):], "\n"))
	return b.String()
}

func (r *run) sleep(seconds int) { <-time.After(r.env.seconds(seconds)) }

// finish lets both pipelines come to the end and compares.
func (r *run) finish() error {
	if r.subject == nil {
		return nil
	}
	r.subject.calm()
	if err := r.settle(); err != nil {
		return err
	}
	// Once more after a clean stop, behind which nothing comes again.
	if err := r.subject.stop(r.env.seconds(30_000)); err != nil {
		return err
	}
	if err := r.subject.start(r.plan.traits.first); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	if err := r.compare(); err != nil {
		return err
	}
	return r.compareRows()
}

// end stops what still runs.
func (r *run) end() {
	if r.subject != nil {
		r.subject.kill()
		r.lives += r.subject.lives
	}
	if r.witness != nil {
		r.witness.stop(r.env)
	}
}
