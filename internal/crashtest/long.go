package crashtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// Long is one pipeline that runs for very long: rows of two tables are changed
// again and again while things go wrong now and then. Nothing may be lost, and
// the memory of this process, which holds the pipeline and little more than a
// number for each row, may not grow.
type Long struct {
	Events, Faults int
	Seed           uint64
	// Progress, if set, is told a tenth of the way at a time.
	Progress func(string)
}

// longRows is how many rows there are, half of them in each table. Each round
// changes all of them.
const longRows = 1000

// longEnough is how many changes it takes until memory is looked at: shorter runs
// are over before a heap has found its size.
const longEnough = 100_000

var longDatabase = databases[0]

// long is a Long that runs.
type long struct {
	Long
	env     Environment
	server  Server
	rng     *rand.Rand
	began   time.Time
	memory  memory
	happens map[string]int // what went wrong, by its kind

	life  int // of the pipeline, from 1 on
	pipe  *streamtest.Stream
	fatal chan error // why the pipeline has ended by itself
	sink  longSink
}

// Run plays it and returns a summary.
func (l Long) Run(e Environment) (summary string, err error) {
	server, err := e.Server()
	if err != nil {
		return "", fmt.Errorf("starting the server: %w", err)
	}
	run := &long{
		Long: l, env: e, server: server, rng: rand.New(rand.NewPCG(l.Seed, 3)), began: time.Now(),
		happens: map[string]int{}, fatal: make(chan error, 1), sink: newLongSink(),
	}
	err = run.play()
	if err == nil && l.Events >= longEnough {
		err = run.memory.grows()
	}
	return run.summary(), errors.Join(err, server.Close())
}

func (l *long) summary() string {
	repeats, lost := l.sink.count()
	changes := len(l.memory.samples) * longRows
	took := time.Since(l.began)
	text := fmt.Sprintf("%d changes in %v, %.0f/s, %d lives, lost %d, repeated %d, resident memory %v, faults %s",
		changes, took.Round(time.Second), float64(changes)/took.Seconds(), l.life, lost, repeats, &l.memory, counts(l.happens))
	if fired, err := l.server.Fired(); err == nil && len(fired) > 0 {
		text += ", of those armed have struck " + counts(fired)
	}
	return text
}

func (l *long) play() error {
	err := l.server.Exec("CREATE DATABASE " + longDatabase + "\nGO\n" + use(longDatabase) + `EXEC sys.sp_cdc_enable_db
ALTER DATABASE ` + longDatabase + ` SET ALLOW_SNAPSHOT_ISOLATION ON
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NOT NULL)
CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY, v int NOT NULL)
` + fmt.Sprintf("INSERT dbo.t SELECT value, 0 FROM GENERATE_SERIES(1, %d)\nINSERT dbo.u SELECT id, v FROM dbo.t\n", longRows/2) +
		capture("t", "dbo_t") + "\n" + capture("u", "dbo_u"))
	if err != nil {
		return fmt.Errorf("preparing the source: %w", err)
	}
	if err := l.start(streamtest.NewCache()); err != nil {
		return err
	}
	err = l.rounds()
	return errors.Join(err, l.pipe.Stop(l.env.Patience))
}

// start begins a life on what the last one has left.
func (l *long) start(cache *streamtest.Cache) error {
	l.life++
	var err error
	l.pipe, err = streamtest.Start(streamtest.Config{
		Input: inputYAML(subjectName, "sa", []string{
			"database_names: [ " + longDatabase + " ]", "on_fatal: stop", fmt.Sprint("poll_interval: ", l.env.Poll), fmt.Sprint("retriable_restart_connector_wait: ", l.env.seconds(10)),
			fmt.Sprint("max_batch_size: ", longRows/10), fmt.Sprint("streaming_fetch_size: ", longRows/4),
		}),
		Options: []input.Option{input.WithDialer(l.server.Dial), input.WithOnStop(func(err error) { l.fatal <- err })},
		Cache:   cache, Output: l.sink.live(cache),
	})
	return err
}

// rounds changes all rows, again and again.
func (l *long) rounds() error {
	rounds := max(1, l.Events/longRows)
	for round := 1; round <= rounds; round++ {
		if err := l.round(round, l.Faults*round/rounds-l.Faults*(round-1)/rounds); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if l.Progress != nil && round*10/rounds > (round-1)*10/rounds {
			l.Progress(l.summary())
		}
	}
	return nil
}

// round changes all rows and waits until that is delivered and saved. Things go
// wrong before, and once some of it is delivered.
func (l *long) round(round, faults int) error {
	now := l.rng.IntN(faults + 1)
	if err := l.misfortunes(now); err != nil {
		return err
	}
	some := l.sink.when(l.rng.IntN(longRows))
	if err := errors.Join(l.server.Exec(use(longDatabase)+l.changes()), l.server.Capture(longDatabase)); err != nil {
		return err
	}
	if faults > now {
		select {
		case <-some:
		case <-time.After(l.env.seconds(1000)): // what strikes now may have to wait for another round
		}
		if err := l.misfortunes(faults - now); err != nil {
			return err
		}
	}
	if err := l.await(round); err != nil {
		return err
	}
	if round%20 == 0 {
		if err := l.server.Exec(use(longDatabase) + longCleanup); err != nil {
			return err
		}
	}
	return l.memory.sample()
}

// changes returns statements that change each row once: in one transaction over
// both tables, or in many.
func (l *long) changes() string {
	if l.rng.IntN(2) == 0 {
		return "BEGIN TRAN\nUPDATE dbo.t SET v = v + 1\nUPDATE dbo.u SET v = v + 1\nCOMMIT\n"
	}
	script := ""
	parts := 2 + l.rng.IntN(20)
	for part := range parts {
		script += fmt.Sprintf("BEGIN TRAN\nUPDATE dbo.t SET v = v + 1 WHERE id %% %[1]d = %[2]d\nUPDATE dbo.u SET v = v + 1 WHERE id %% %[1]d = %[2]d\nCOMMIT\n", parts, part)
	}
	return script
}

// longCleanup leaves the newest transaction.
const longCleanup = `DECLARE @low binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT)
EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_t', @low_water_mark = @low
EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_u', @low_water_mark = @low
`

// await waits until a round is delivered and saved.
func (l *long) await(round int) error {
	deadline := time.After(l.env.Patience)
	for {
		whole, err := l.sink.has(round)
		if whole || err != nil {
			return err
		}
		select {
		case err := <-l.fatal:
			return fmt.Errorf("the pipeline gave up: %w", err)
		case <-time.After(l.env.seconds(5)):
		case <-deadline:
			if l.env.OnStuck != nil {
				l.env.OnStuck()
			}
			return fmt.Errorf("not delivered in %v", l.env.Patience)
		}
	}
}

func (l *long) misfortunes(n int) error {
	for range n {
		if err := l.misfortune(); err != nil {
			return err
		}
	}
	return nil
}

// misfortune lets something go wrong: one that is armed on the server strikes
// in this round or in one of the next.
func (l *long) misfortune() error {
	switch l.rng.IntN(12) {
	case 0:
		l.happens["server restart"]++
		return l.server.Restart()
	case 1:
		l.happens["session kill"]++
		return cutSessions{}.do(&run{server: l.server})
	case 2, 3:
		l.happens["rejection"]++
		l.sink.rejectNext()
		return nil
	case 4:
		l.happens["crash"]++
		return l.restart(l.env.seconds(20))
	case 5:
		l.happens["stop and start"]++
		return l.restart(l.env.Patience)
	}
	objects := []string{"", "select from cdc.dbo_t_ct", "select from cdc.dbo_u_ct", "select from cdc.lsn_time_mapping"}
	f := Fault{
		On: objects[l.rng.IntN(len(objects))], App: subjectName, Nth: 1, AfterRows: int64(l.rng.IntN(20)),
		Do: []Misfortune{Cut, Stall, Wait, Deadlock, Lockout}[l.rng.IntN(5)], Time: l.env.seconds(30),
	}
	l.happens[string(f.Do)]++
	return l.server.Arm(f)
}

// restart ends the pipeline and starts another. A crash, which has little time,
// loses what is not saved by now.
func (l *long) restart(within time.Duration) error {
	crash := within < l.env.Patience
	var left *streamtest.Cache
	if crash {
		left = l.sink.kill()
	}
	// What ends it is of no interest once it can deliver nothing any more.
	if err := l.pipe.Stop(within); err != nil && !crash {
		return err
	}
	<-l.pipe.Ended()
	if !crash {
		left = l.sink.kill()
	}
	return l.start(left)
}
