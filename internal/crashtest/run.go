package crashtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
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
	result  Result
}

// Result is what playing a plan has shown.
type Result struct {
	Events  int // of the source that were compared
	Lives   int // of the pipeline
	Repeats int // events that came again
	// Fired is what went wrong with statements of the pipeline, by kind.
	Fired map[Misfortune]int
}

// Add counts another plan's.
func (r *Result) Add(other Result) {
	r.Events += other.Events
	r.Lives += other.Lives
	r.Repeats += other.Repeats
	if r.Fired == nil {
		r.Fired = map[Misfortune]int{}
	}
	for kind, n := range other.Fired {
		r.Fired[kind] += n
	}
}

// String lists the numbers.
func (r Result) String() string {
	return fmt.Sprintf("%d events compared, %d lives of the pipeline, %d repeats, faults that struck %s", r.Events, r.Lives, r.Repeats, counts(r.Fired))
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
	fired, firedErr := server.Fired()
	r.result.Fired = fired
	return r.result, errors.Join(err, firedErr, server.Close())
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

// prepare makes the tables. With the databases under snapshot isolation, the
// pipelines block no statement of the plan.
func (r *run) prepare() error {
	script := ""
	for _, database := range r.plan.traits.databases() {
		script += "CREATE DATABASE " + database + "\nGO\n" + use(database) +
			"EXEC sys.sp_cdc_enable_db\nALTER DATABASE " + database + " SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\n" + use(database) + tables
		for _, table := range append(tableNames, "m") {
			script += capture(table, "dbo_"+table) + "\n"
		}
		script += "CREATE USER " + readerLogin + " FOR LOGIN " + readerLogin +
			"\nGRANT SELECT ON SCHEMA::dbo TO " + readerLogin + "\nGRANT SELECT ON SCHEMA::cdc TO " + readerLogin + "\nGO\n"
		if r.plan.traits.manage {
			script += use(database) + "ALTER ROLE db_owner ADD MEMBER " + readerLogin + "\nGO\n"
		}
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
	if fatal := r.witness.problem(); fatal != nil {
		return fmt.Errorf("the witness gave up: %w", fatal)
	}
	fatal, broken := r.subject.problem()
	if fatal != nil {
		return errors.Join(fmt.Errorf("the subject gave up: %w", fatal), broken)
	}
	return broken
}

// mark inserts a row by which to tell that everything before it was delivered.
func (r *run) mark(database string) (marker, error) {
	r.marker++
	err := r.server.Exec(fmt.Sprintf("%sINSERT dbo.m VALUES (%d)", use(database), r.marker))
	if err != nil {
		return marker{}, err
	}
	return marker{database, r.marker}, r.server.Capture(database)
}

// settle waits until both pipelines have delivered everything so far, and the
// subject has it saved.
func (r *run) settle() error {
	if err := r.settleIn(r.plan.traits.databases()); err != nil {
		return err
	}
	r.settled = true
	return nil
}

// settleIn is settle for some of the databases. A first marker may be in the
// snapshot; what comes after it is in the stream.
func (r *run) settleIn(databases []string) error {
	if err := r.awaitMarkers(databases, r.subject.delivers); err != nil {
		return err
	}
	return r.awaitMarkers(databases, r.subject.passed)
}

// awaitMarkers inserts a marker into each of some databases and waits for them.
func (r *run) awaitMarkers(databases []string, is func(marker) bool) error {
	var marks []marker
	for _, database := range databases {
		m, err := r.mark(database)
		if err != nil {
			return err
		}
		marks = append(marks, m)
	}
	for _, m := range marks {
		if err := r.await("everything of "+m.database+" to be delivered", func() bool { return is(m) && r.witness.passed(m) }); err != nil {
			return err
		}
	}
	return nil
}

// await waits for a condition that comes about by what pipelines deliver or,
// soon after that, save. A busy machine may make a plan slow, so they may take
// patiences times as long while they deliver anything.
func (r *run) await(what string, is func() bool) error {
	const patiences = 5
	began, stuck := time.Now(), time.NewTimer(r.env.Patience)
	defer stuck.Stop()
	for delivered := 0; !is(); {
		if n := r.subject.count() + r.witness.count(); n > delivered && time.Since(began) < patiences*r.env.Patience {
			delivered = n
			stuck.Reset(r.env.Patience)
		}
		if err := r.wrong(); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-r.subject.signal:
		case <-r.witness.signal:
		case <-time.After(r.env.seconds(1)):
		case <-stuck.C:
			if r.env.OnStuck != nil {
				r.env.OnStuck()
			}
			return fmt.Errorf("waiting for %s: nothing came in %v\nthe subject %v\nthe witness %v", what, r.env.Patience, r.subject, r.witness)
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
	for _, database := range databases {
		fmt.Fprintf(&b, "; its position in %s is %q", database, saved(cache, database))
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
	if err := r.grantAll(); err != nil {
		return err
	}
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
	if r.result.Events == 0 {
		return errors.New("there was nothing to compare")
	}
	return r.compareRows()
}

// grantAll gives back what may still be denied: a plan may be without the step
// that does.
func (r *run) grantAll() error {
	if !r.plan.traits.denied {
		return nil
	}
	for _, database := range r.plan.traits.databases() {
		for _, table := range tableNames {
			if err := r.server.Exec(use(database) + "IF OBJECT_ID(N'cdc.dbo_" + table + "_CT') IS NOT NULL REVOKE SELECT ON cdc.dbo_" + table + "_CT TO " + readerLogin); err != nil {
				return err
			}
		}
	}
	return nil
}

// end stops what still runs.
func (r *run) end() {
	if r.subject != nil {
		r.subject.kill()
		r.result.Lives += r.subject.lives
	}
	if r.witness != nil {
		r.witness.stop(r.env)
	}
}
