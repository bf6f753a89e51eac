package snapshot

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

var epoch = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeServer plays a connection: tables of one int column, in memory.
type fakeServer struct {
	mu           sync.Mutex
	rows         map[string][]int64
	facts        sqlserver.Facts
	max          []lsn.LSN // answers to MaxLSN; the last one stays
	lockTimeouts []time.Duration
	open         bool // a transaction is
	begun, ended int
	pages        []string // "table after key", as read
	fail         func(statement string) error
	// second gives rows a second value; nil: they have none.
	second func(id int64) driver.Value
}

// row returns the values of a row.
func (f *fakeServer) row(id int64) []driver.Value {
	if f.second == nil {
		return []driver.Value{id}
	}
	return []driver.Value{id, f.second(id)}
}

func newFakeServer() *fakeServer {
	return &fakeServer{
		rows: map[string][]int64{}, max: []lsn.LSN{{9: 7}},
		facts: sqlserver.Facts{Database: "db", SnapshotAllowed: true},
	}
}

// table adds a table with the rows 1 to n; keyless tables are scanned.
func (f *fakeServer) table(name string, n int, keyless bool) Table {
	shape := &schema.Table{
		Database: "db", Schema: "dbo", Name: name,
		Columns: []schema.Column{{Name: "id", Type: schema.Type{Kind: schema.Int, Name: "int"}, ID: 1, Ordinal: 1}},
	}
	source := &sqlserver.Table{ObjectID: int32(len(f.rows) + 1), Source: shape}
	if !keyless {
		shape.Key = []int{0}
		source.PageKey = []sqlserver.KeyColumn{{Name: "id", ID: 1, Type: shape.Columns[0].Type}}
	}
	f.rows[name] = nil
	for i := range n {
		f.rows[name] = append(f.rows[name], int64(i+1))
	}
	return Table{Source: source, Shape: shape}
}

func (f *fakeServer) failing(statement string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(statement)
}

func (f *fakeServer) Facts(context.Context) (sqlserver.Facts, error) {
	return f.facts, f.failing("facts")
}

func (f *fakeServer) MaxLSN(context.Context) (lsn.LSN, error) {
	l := f.max[0]
	if len(f.max) > 1 {
		f.max = f.max[1:]
	}
	return l, f.failing("max")
}

func (f *fakeServer) Now(context.Context) (time.Time, error) { return epoch, f.failing("now") }

func (f *fakeServer) SetLockTimeout(_ context.Context, d time.Duration) error {
	f.lockTimeouts = append(f.lockTimeouts, d)
	return f.failing("lock timeout")
}

func (f *fakeServer) Begin(_ context.Context, level sqlserver.Isolation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open || level != sqlserver.Snapshot {
		return fmt.Errorf("begin %s, open %t", level, f.open)
	}
	f.open = true
	f.begun++
	return f.failing("begin")
}

func (f *fakeServer) End(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = false
	f.ended++
	return nil
}

func (f *fakeServer) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

func (f *fakeServer) ReadRows(_ context.Context, r *sqlserver.TableReader, after []string, limit, _ int) (sqlserver.RowPage, error) {
	name := r.Table().Name
	f.pages = append(f.pages, fmt.Sprint(name, " after ", after))
	if err := f.failing("page of " + name); err != nil {
		return sqlserver.RowPage{}, err
	}
	last := int64(0)
	if len(after) > 0 {
		var err error
		if last, err = strconv.ParseInt(after[0], 10, 64); err != nil {
			return sqlserver.RowPage{}, err
		}
	}
	var page sqlserver.RowPage
	for _, id := range f.rows[name] {
		if id > last && len(page.Rows) < limit {
			page.Rows = append(page.Rows, f.row(id))
		}
	}
	page.End = len(page.Rows) < limit
	return page, nil
}

func (f *fakeServer) ScanRows(_ context.Context, r *sqlserver.TableReader, limit, _ int, fn func(sqlserver.RowPage) error) error {
	name := r.Table().Name
	f.pages = append(f.pages, "scan of "+name)
	if err := f.failing("begin of scan of " + name); err != nil {
		return err
	}
	for chunk := range slices.Chunk(f.rows[name], limit) {
		var page sqlserver.RowPage
		for _, id := range chunk {
			page.Rows = append(page.Rows, f.row(id))
		}
		if err := fn(page); err != nil {
			return err
		}
	}
	if err := f.failing("scan of " + name); err != nil {
		return err
	}
	return fn(sqlserver.RowPage{End: true})
}

// fakeSink keeps what it is given.
type fakeSink struct {
	messages []event.Message
	emitted  []emitted
	saved    []*Progress
	block    func()
	fail     func() error
}

type emitted struct {
	upTo     int // messages so far
	progress *Progress
}

func (s *fakeSink) Save(_ context.Context, p *Progress) error {
	s.saved = append(s.saved, p)
	return nil
}

func (s *fakeSink) Emit(_ context.Context, b *event.Batch, p *Progress) error {
	if s.block != nil {
		s.block()
	}
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return err
		}
	}
	s.messages = append(s.messages, b.Messages...)
	s.emitted = append(s.emitted, emitted{len(s.messages), p})
	return nil
}

// lines are the messages as "table id marker".
func (s *fakeSink) lines() []string {
	list := []string{}
	for _, m := range s.messages {
		list = append(list, fmt.Sprintf("%s %s %s", m.Table, idOf(m), m.Snapshot))
	}
	return list
}

// rows are the messages as "table id".
func rowsOf(messages []event.Message) []string {
	list := []string{}
	for _, m := range messages {
		list = append(list, m.Table+" "+idOf(m))
	}
	return list
}

// idOf cuts the id out of a value, of a table without a key too.
func idOf(m event.Message) string {
	var id int
	_, _ = fmt.Sscanf(string(m.Value), `{"before":null,"after":{"id":%d}`, &id)
	return strconv.Itoa(id)
}

func encoder(t *schema.Table) (*event.Encoder, error) {
	return event.NewEncoder(t, event.Options{
		Topics: event.Naming{Prefix: "p"}, Tombstones: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return epoch },
	})
}

func run(t testing.TB, f *fakeServer, sink *fakeSink, opts Options, from *Progress) {
	t.Helper()
	if opts.Encoder == nil {
		opts.Encoder = encoder
	}
	require.NoError(t, New(f, opts, from).Run(t.Context(), sink))
}
