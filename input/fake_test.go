package input

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// memoryCache is a cache whose operations can be made to fail or hang.
type memoryCache struct {
	mu     sync.Mutex
	values map[string]string
	onSet  func(ctx context.Context, key string) error
	onGet  func(ctx context.Context, key string) error
}

func newMemoryCache() *memoryCache { return &memoryCache{values: map[string]string{}} }

func (c *memoryCache) Get(ctx context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	fault := c.onGet
	c.mu.Unlock()
	if fault != nil {
		if err := fault(ctx, key); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	if !ok {
		return nil, checkpoint.ErrNotFound
	}
	return []byte(v), nil
}

func (c *memoryCache) Set(ctx context.Context, key string, value []byte) error {
	c.mu.Lock()
	fault := c.onSet
	c.mu.Unlock()
	if fault != nil {
		if err := fault(ctx, key); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] = string(value)
	return nil
}

func (c *memoryCache) fail(set, get func(ctx context.Context, key string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onSet, c.onGet = set, get
}

// slots returns what both slots of a document hold.
func (c *memoryCache) slots(key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key+".a"] + c.values[key+".b"]
}

// image returns a copy of what is stored: what a crash at this moment leaves.
func (c *memoryCache) image() *memoryCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &memoryCache{values: maps.Clone(c.values)}
}

// Places of the fake's log: the snapshot begins at snapshotStart, change n
// commits at lsnOf(changeBase + n).
const (
	snapshotStart = 10
	changeBase    = 100
	ordinalBlock  = 1 << 20
)

func lsnOf(n int) (l lsn.LSN) {
	binary.BigEndian.PutUint64(l[2:], uint64(n))
	return l
}

// fakeServer is a server with one table: rows for the snapshot, then changes.
// Row i is message i, change n is message rows+n.
type fakeServer struct {
	mu      sync.Mutex
	rows    int
	changes int
	idle    int  // the log's end, where no change is
	later   int  // added to where a snapshot begins
	batch   int  // events a batch
	offset  int  // added to the numbers of messages
	keyless bool // the snapshot cannot go on inside the table

	onOpen     func(ctx context.Context) error
	onPoll     func(ctx context.Context) error
	onSnapshot func(ctx context.Context, row int) error

	lineage  sqlserver.Lineage
	looks    int   // after the capture job
	agent    *bool // whether the Agent runs; nil: unknown
	opens    int
	emitted  int
	rowsRead []int
	broken   bool
	closes   int
	read     map[*source]bool // whose readings are on
}

// reading notes that a reading of a source is on until the function it returns is
// called. Two at once are a mistake, whatever the test is about; sources of two
// inputs, which stand for two processes, may read at once.
func (f *fakeServer) reading(of *source) func() {
	f.set(func(f *fakeServer) {
		if f.read[of] {
			panic("two readings at once")
		}
		if f.read == nil {
			f.read = map[*source]bool{}
		}
		f.read[of] = true
	})
	return func() { f.set(func(f *fakeServer) { delete(f.read, of) }) }
}

func (f *fakeServer) open(ctx context.Context, of *source) (database, error) {
	f.mu.Lock()
	f.opens++
	fault := f.onOpen
	f.mu.Unlock()
	if fault != nil {
		if err := fault(ctx); err != nil {
			return nil, err
		}
	}
	return &fakeDatabase{f: f, of: of}, nil
}

// set changes the server under its lock.
func (f *fakeServer) set(change func(*fakeServer)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeServer) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.emitted
}

type fakeDatabase struct {
	f  *fakeServer
	of *source
}

func (d *fakeDatabase) Name() string { return "db" }

// CaptureStatus is that of a job that works unless the Agent does not.
func (d *fakeDatabase) CaptureStatus(context.Context) (sqlserver.CaptureStatus, error) {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if d.f.agent == nil {
		d.f.looks++
	}
	return sqlserver.CaptureStatus{Newest: lsnOf(d.f.looks), Agent: d.f.agent}, nil
}

func (d *fakeDatabase) CaptureStatusApart(ctx context.Context) (sqlserver.CaptureStatus, error) {
	return d.CaptureStatus(ctx)
}

func (d *fakeDatabase) Usable() bool {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	return !d.f.broken
}

func (d *fakeDatabase) Close() error {
	d.f.set(func(f *fakeServer) { f.closes++; f.broken = false })
	return nil
}

// message makes message n of the fake.
func message(n int, at lsn.Position) event.Message {
	return event.Message{
		Kind: event.KindChange, Topic: "p.db.dbo.t", Op: event.OpCreate,
		Key: fmt.Appendf(nil, `{"id":%d}`, n%3), Value: []byte(strconv.Itoa(n)),
		Database: "db", Schema: "dbo", Table: "t", Position: at,
	}
}

func (d *fakeDatabase) Snapshot(ctx context.Context, progress *snapshot.Progress, sink rowSink, known stream.Known, onKnown knownFunc) error {
	defer d.f.reading(d.of)()
	if err := onKnown(ctx, known); err != nil {
		return err
	}
	p := snapshot.Progress{Start: lsnOf(snapshotStart + d.f.later), NextOrdinal: 0}
	if progress != nil {
		p = *progress
	}
	ordinal := p.NextOrdinal
	p.NextOrdinal += ordinalBlock
	saved := p
	if err := sink.Save(ctx, &saved); err != nil {
		return err
	}
	row := 0
	if t, ok := p.Tables["t"]; ok && len(t.After) > 0 {
		row, _ = strconv.Atoi(t.After[0])
	}
	for row < d.f.rows {
		b := &event.Batch{}
		for len(b.Messages) < d.f.batch && row < d.f.rows {
			d.f.mu.Lock()
			fault := d.f.onSnapshot
			d.f.mu.Unlock()
			if fault != nil {
				if err := fault(ctx, row); err != nil {
					return err
				}
			}
			b.Messages = append(b.Messages, message(d.f.offset+row, lsn.Position{Commit: p.Start, Ordinal: ordinal}))
			d.f.set(func(f *fakeServer) { f.rowsRead = append(f.rowsRead, row); f.emitted++ })
			ordinal++
			row++
		}
		step := p
		if !d.f.keyless {
			step.Tables = map[string]snapshot.TableProgress{"t": {Done: row == d.f.rows, After: []string{strconv.Itoa(row)}}}
		}
		if err := sink.Emit(ctx, b, &step); err != nil {
			return err
		}
	}
	p.Done = true
	p.Tables = map[string]snapshot.TableProgress{"t": {Done: true}}
	return sink.Emit(ctx, &event.Batch{}, &p)
}

func (d *fakeDatabase) MissingRights() error { return nil }

// Reread is for databases of tests that pause.
func (d *fakeDatabase) Reread(context.Context, stream.Rereading, *snapshot.Progress, snapshot.Sink) error {
	return errors.New("the fake has nothing to read again")
}

func (d *fakeDatabase) Lineage(context.Context) (sqlserver.Lineage, error) {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	return d.f.lineage, nil
}

func (d *fakeDatabase) Recorded(context.Context, lsn.LSN) (sqlserver.Recorded, error) {
	return sqlserver.Recorded{}, nil
}

func (d *fakeDatabase) Stream(start stream.State, sink stream.Sink, _ instancesFunc, _ func() stream.Place) poller {
	return &fakePoller{f: d.f, of: d.of, sink: sink, at: start.Position}
}

type fakePoller struct {
	f    *fakeServer
	of   *source
	sink stream.Sink
	at   lsn.Position
}

func (p *fakePoller) PollOnce(ctx context.Context) (bool, error) {
	defer p.f.reading(p.of)()
	p.f.mu.Lock()
	fault, changes, idle, size, rows := p.f.onPoll, p.f.changes, p.f.idle, p.f.batch, p.f.rows
	p.f.mu.Unlock()
	if fault != nil {
		if err := fault(ctx); err != nil {
			return false, err
		}
	}
	b := &event.Batch{}
	for n := range changes {
		at := lsn.Position{Commit: lsnOf(changeBase + n), Command: 1, Change: lsnOf(changeBase + n), Operation: 2}
		if !p.at.Before(at) {
			continue
		}
		b.Messages = append(b.Messages, message(p.f.offset+rows+n, at))
		p.f.set(func(f *fakeServer) { f.emitted++ })
		p.at = at
		if len(b.Messages) < size && n < changes-1 {
			continue
		}
		if err := p.sink.Emit(ctx, b, stream.Place{Position: at}); err != nil {
			return false, err
		}
		b = &event.Batch{}
	}
	if end := lsn.EndOf(lsnOf(changeBase + idle)); idle > 0 && p.at.Before(end) {
		p.at = end
		return false, p.sink.Advance(ctx, stream.Place{Position: end})
	}
	return false, nil
}

// testInput makes an input that reads from a fake server. Fields are YAML,
// added to the required ones.
func testInput(t testing.TB, f *fakeServer, cache checkpoint.Cache, fields string) *input {
	t.Helper()
	return testInputWith(t, f, cache, fields, options{})
}

func testInputWith(t testing.TB, f *fakeServer, cache checkpoint.Cache, fields string, opts options) *input {
	t.Helper()
	parsed, err := sharedSpec().ParseYAML("host: h\nuser: u\ntopic_prefix: p\ndatabase_names: [db]\ncheckpoint_cache: offsets\n"+fields, nil)
	require.NoError(t, err)
	in, err := newInput(parsed, service.MockResources(service.MockResourcesOptAddCache("offsets")), opts)
	require.NoError(t, err)
	in.open, in.cache = f.open, cache
	return in
}

// delivery is a batch with its acknowledgement.
type delivery struct {
	batch service.MessageBatch
	ack   service.AckFunc
}

// next reads a batch, connecting again whenever that is asked for.
func next(ctx context.Context, in *input) (delivery, error) {
	for {
		batch, ack, err := in.ReadBatch(ctx)
		if err == nil {
			return delivery{batch, ack}, nil
		}
		if !errors.Is(err, service.ErrNotConnected) {
			return delivery{}, err
		}
		if err := in.Connect(ctx); err != nil {
			return delivery{}, err
		}
	}
}

func mustNext(t *testing.T, in *input) delivery {
	t.Helper()
	d, err := next(t.Context(), in)
	require.NoError(t, err)
	return d
}

// requireNothing requires that nothing comes for a minute.
func requireNothing(t *testing.T, in *input) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := next(ctx, in)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// numbers returns the messages of a delivery.
func (d delivery) numbers(t require.TestingT) []int {
	var out []int
	for _, m := range d.batch {
		text, err := m.AsBytes()
		require.NoError(t, err)
		n, err := strconv.Atoi(string(text))
		require.NoError(t, err)
		out = append(out, n)
	}
	return out
}

// position returns that of the last message.
func (d delivery) position(t require.TestingT) string {
	position, ok := d.batch[len(d.batch)-1].MetaGet("position")
	require.True(t, ok)
	return position
}

func (d delivery) accept(t require.TestingT) { require.NoError(t, d.ack(context.Background(), nil)) }

// crash abandons an input: what it has not stored is lost. It returns the
// cache as the crash leaves it.
func crash(in *input, cache *memoryCache) *memoryCache {
	left := cache.image()
	_ = in.Close(context.Background())
	return left
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
