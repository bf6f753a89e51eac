package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// The names of the pipelines' sessions.
const (
	subjectName = "subject"
	witnessName = "witness"
)

var (
	errDead     = errors.New("killed by the test")
	errRejected = errors.New("rejected by the test")
)

// subject is a pipeline to which things happen, in one life after another.
type subject struct {
	env    Environment
	server Server
	traits traits
	signal chan struct{} // has room for one: something was delivered

	mu        sync.Mutex
	life      *life
	lives     int
	streams   []*streamtest.Stream // of all lives
	left      *streamtest.Cache    // what the last life left
	delivered []Event              // by all lives
	rejected  bool                 // the output has rejected something
	beside    bool                 // two lives have run at once
	markers   markers
	broken    error                // a promise that was seen to be broken
	delivery  map[string]*delivery // by database

	rejects   int
	chance    *rand.Rand
	blockedTo time.Time
}

// delivery is how far a database is delivered.
type delivery struct {
	// owed are the positions of what was rejected and has not come again, sure
	// the position up to which everything is acknowledged since, and settled
	// the greatest one at which a life was ended cleanly.
	owed          map[string]bool
	sure, settled string
}

// life is one run of the pipeline. Its fields are the subject's to lock.
type life struct {
	stream *streamtest.Stream
	cache  *streamtest.Cache
	dead   bool
	fatal  error // why it has ended by itself

	killed chan struct{} // closed when dead
	// after and save count down to a kill, if positive or, of messages, zero.
	armed, torn bool
	after, save int
}

func newSubject(e Environment, server Server, t traits) *subject {
	s := &subject{
		env: e, server: server, traits: t, left: streamtest.NewCache(),
		signal: make(chan struct{}, 1), markers: markers{}, delivery: map[string]*delivery{},
	}
	for _, database := range t.databases() {
		s.delivery[database] = &delivery{owed: map[string]bool{}}
	}
	return s
}

// start begins a life with what the last one left.
func (s *subject) start(set settings) error {
	l := &life{cache: s.left.Copy(), killed: make(chan struct{})}
	mood := s.traits.cache.mood(s.env, rand.New(rand.NewPCG(uint64(len(s.delivered)), 2)))
	l.cache.OnSet = func(ctx context.Context, key string, value []byte) error {
		err, keep := mood(ctx)
		if !keep {
			return err
		}
		s.saving(l, key, value)
		if err != nil {
			l.cache.Put(key, value)
		}
		return err
	}
	return s.run(l, set)
}

// startBeside begins a life beside the present one, on its cache, and returns
// that one.
func (s *subject) startBeside(set settings) (older *life, err error) {
	s.mu.Lock()
	older = s.life
	s.beside = true
	s.mu.Unlock()
	return older, s.run(&life{cache: older.cache, killed: make(chan struct{})}, set)
}

// run makes a life the present one.
func (s *subject) run(l *life, set settings) error {
	s.mu.Lock()
	s.life = l
	s.lives++
	s.mu.Unlock()
	stream, err := streamtest.Start(streamtest.Config{
		Input: inputYAML(subjectName, readerLogin, slices.Concat(set.fields(s.env), s.traits.fields(s.env), s.traits.ofSubject(s.env))),
		Options: []input.Option{input.WithDialer(s.server.Dial), input.WithOnStop(func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			l.fatal = err
		})},
		Cache: l.cache, MaxInFlight: s.traits.threads, Threads: s.traits.threads,
		Output: func(ctx context.Context, batch service.MessageBatch) error { return s.take(ctx, l, batch) },
	})
	if err != nil {
		return fmt.Errorf("starting the subject: %w", err)
	}
	s.mu.Lock()
	l.stream = stream
	s.streams = append(s.streams, stream)
	s.mu.Unlock()
	return nil
}

// takenUp returns the tables of a database for which a capture instance was made
// during the snapshot and taken up before their first row, as the log says: their
// changes begin with that instance.
func (s *subject) takenUp(database string) (tables []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.streams {
		for line := range strings.Lines(stream.Log.String()) {
			if !strings.Contains(line, "made during the snapshot is taken up") {
				continue
			}
			for _, table := range tableNames {
				if strings.Contains(line, " table="+database+".dbo."+table+" ") {
					tables = append(tables, table)
				}
			}
		}
	}
	return tables
}

// leave notes that an older life has ended beside the present one, and returns
// why. What it has delivered may be ahead of that one.
func (s *subject) leave(older *life) *fatal {
	s.mu.Lock()
	defer s.mu.Unlock()
	older.dead = true
	for _, d := range s.delivery {
		d.sure = ""
	}
	return fatalOf(older.fatal, older.stream, s.traits.denied)
}

// inputYAML configures the input, by the names of its sessions and of its login.
func inputYAML(name, login string, fields []string) string {
	fields = append([]string{
		"host: server", "user: " + login, "password: '" + password + "'", "encrypt: 'false'",
		"topic_prefix: server1", "checkpoint_cache: " + streamtest.CacheLabel, "application_name: " + name,
	}, fields...)
	return "sqlserver_cdc:\n  " + strings.Join(fields, "\n  ") + "\n"
}

// take is the output.
func (s *subject) take(ctx context.Context, l *life, batch service.MessageBatch) error {
	events, err := eventsOf(batch)
	if err != nil {
		return err
	}
	s.mu.Lock()
	wait := time.Until(s.blockedTo)
	s.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-l.killed:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case l.dead:
		return errDead
	case s.rejects > 0 && s.chance.IntN(2) == 0:
		s.rejects--
		s.rejected = true
		for _, e := range events {
			d := s.delivery[e.Database]
			d.sure = ""
			d.owed[e.Position] = true
		}
		// An output may have delivered some of what it rejects.
		s.note(events[:s.chance.IntN(len(events)+1)])
		return errRejected
	}
	s.keep(events)
	if l.armed && l.save == 0 {
		if l.after -= len(events); l.after <= 0 {
			s.end(l, l.cache.Copy())
			return errDead
		}
	}
	return nil
}

// keep notes what was delivered and is about to be acknowledged.
func (s *subject) keep(events []Event) {
	s.note(events)
	s.markers.note(events)
	for _, e := range events {
		d := s.delivery[e.Database]
		delete(d.owed, e.Position)
		if e.Kind == kindHeartbeat {
			continue
		}
		if e.Position <= d.settled && s.broken == nil {
			s.broken = fmt.Errorf("%v comes again after a clean stop at %s", e, d.settled)
		}
		if len(d.owed) == 0 {
			d.sure = max(d.sure, e.Position)
		}
	}
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

// note keeps what was delivered, but for heartbeats, which repeat a position.
func (s *subject) note(events []Event) {
	for _, e := range events {
		if e.Kind != kindHeartbeat {
			s.delivered = append(s.delivered, e)
		}
	}
}

// saving kills a life before a write to its cache, if that is due. What it
// writes from then on is lost with it.
func (s *subject) saving(l *life, key string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.dead || !l.armed || l.save == 0 {
		return
	}
	if l.save--; l.save > 0 {
		return
	}
	left := l.cache.Copy()
	if l.torn && left.Values()[twin(key)] != nil {
		// The first save of all leaves nothing sound when it is torn, and is
		// then refused.
		left.Put(key, value[:len(value)/2])
	}
	s.end(l, left)
}

// twin returns the key of the other slot of a document.
func twin(key string) string {
	if name, ok := strings.CutSuffix(key, ".a"); ok {
		return name + ".b"
	}
	return strings.TrimSuffix(key, ".b") + ".a"
}

// end makes a life a dead one that leaves a cache. The lock is held.
func (s *subject) end(l *life, left *streamtest.Cache) {
	l.dead, l.armed, s.left = true, false, left
	for _, d := range s.delivery {
		d.sure, d.owed = "", map[string]bool{}
	}
	close(l.killed)
}

// killWhen arranges for the present life's end and returns what is closed then.
func (s *subject) killWhen(after, save int, torn bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.life
	if !l.dead {
		l.armed, l.after, l.save, l.torn = true, after, save, torn
	}
	return l.killed
}

// kill ends the present life now, if it has not ended. What is left of it in
// this process is taken away.
func (s *subject) kill() {
	s.mu.Lock()
	l := s.life
	if !l.dead {
		s.end(l, l.cache.Copy())
	}
	s.mu.Unlock()
	// It can deliver and save nothing any more, however it ends. So does one that
	// it was to take over from and did not.
	for _, stream := range s.streams {
		_ = stream.Stop(s.env.seconds(20))
		<-stream.Ended()
	}
}

// stop ends the present life by a signal.
func (s *subject) stop(within time.Duration) error {
	l := s.life
	// One that has run into its limit may have left the last position unsaved.
	began := time.Now()
	clean := l.stream.Stop(within) == nil && time.Since(began) < within/2
	s.mu.Lock()
	// A transaction in which a table begins to be held comes again.
	if clean && !s.traits.denied && s.traits.threads == 1 && s.traits.cache != flaky && !l.dead {
		for _, d := range s.delivery {
			if len(d.owed) == 0 {
				d.settled = max(d.settled, d.sure)
			}
		}
	}
	if !l.dead {
		s.end(l, l.cache.Copy())
	}
	log := l.stream.Log.String()
	s.mu.Unlock()
	<-l.stream.Ended()
	if strings.Contains(log, password) {
		return errors.New("the password is in the log")
	}
	return nil
}

func (s *subject) reject(batches int, chance *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejects, s.chance = batches, chance
}

func (s *subject) block(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blockedTo = time.Now().Add(d)
}

// calm ends all that makes the output reject or wait.
func (s *subject) calm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejects, s.blockedTo = 0, time.Time{}
}

// events returns what was delivered.
func (s *subject) events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.delivered)
}

// count returns how many events were delivered.
func (s *subject) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.delivered)
}

// readAgain returns how many rows of a pause of the stream were delivered: those
// that came after changes.
func (s *subject) readAgain() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	streaming := false
	for _, e := range s.delivered {
		switch {
		case e.Op != opRead:
			streaming = true
		case streaming:
			n++
		}
	}
	return n
}

// delivers reports whether a marker was delivered, in the snapshot or after.
func (s *subject) delivers(m marker) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, delivered := s.markers[m]
	return delivered
}

// saves reports whether a marker was delivered in the stream and its position
// is saved.
func (s *subject) saves(m marker) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	commit := s.markers[m]
	return commit != "" && saved(s.life.cache, m.database) >= commit
}

// passed is saves where no table is held either.
func (s *subject) passed(m marker) bool {
	if !s.saves(m) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !holds(s.life.cache, m.database)
}

// problem returns why the present life cannot go on, in a database or at all,
// and which promise was broken.
func (s *subject) problem() (fatal *fatal, broken error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fatalOf(s.life.fatal, s.life.stream, s.traits.denied), s.broken
}

// String says how far it is.
func (s *subject) String() string {
	events := s.events()
	s.mu.Lock()
	l := s.life
	s.mu.Unlock()
	return standing(events, l.cache, l.stream.Log.String())
}
