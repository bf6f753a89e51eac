package stream

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// epoch is when everything happens on the fake server.
var epoch = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// lsnOf makes small LSNs readable in tests.
func lsnOf(n int) lsn.LSN {
	var l lsn.LSN
	binary.BigEndian.PutUint64(l[2:], uint64(n))
	return l
}

// fakeServer plays a connection: tables with capture instances whose change
// rows stand in memory.
type fakeServer struct {
	tables  []*sqlserver.Table
	rows    map[int32][]sqlserver.ChangeRow // by change table
	lows    map[int32]lsn.LSN
	commits []sqlserver.Commit
	max     lsn.LSN
	edition int64 // changes with the set of instances

	// fail is asked before every answer.
	fail func(statement string) error
	// denied are the instances that may not be read.
	denied map[string]bool
	// pages counts the pages read.
	pages int
	// columns stands for the types of every page's columns.
	columns uint64
}

func newFakeServer() *fakeServer {
	return &fakeServer{rows: map[int32][]sqlserver.ChangeRow{}, lows: map[int32]lsn.LSN{}, denied: map[string]bool{}}
}

// errDenied is what SQL Server says of a change table that may not be read.
var errDenied = mssql.Error{Number: 229, Class: 14, Message: "The SELECT permission was denied on the object."}

// table adds a table with one capture instance that starts at LSN 1.
func (f *fakeServer) table(name string) *sqlserver.Table {
	n := int32(len(f.tables) + 1)
	shape := &schema.Table{
		Database: "db", Schema: "dbo", Name: name,
		Columns: []schema.Column{
			{Name: "id", Type: schema.Type{Kind: schema.Int, Name: "int"}, ID: 1, Ordinal: 1},
			{Name: "v", Type: schema.Type{Kind: schema.NVarChar, Name: "nvarchar", Length: 50}, Nullable: true, ID: 2, Ordinal: 2},
		},
		Key: []int{0},
	}
	t := &sqlserver.Table{ObjectID: n, Source: shape}
	t.Instances = []*sqlserver.CaptureInstance{f.instance(t, 1000+n, lsnOf(1))}
	f.tables = append(f.tables, t)
	f.edition++
	return t
}

func (f *fakeServer) instance(t *sqlserver.Table, objectID int32, start lsn.LSN) *sqlserver.CaptureInstance {
	f.lows[objectID] = start
	return &sqlserver.CaptureInstance{
		Name: fmt.Sprintf("dbo_%s", t.Source.Name), ObjectID: objectID, SourceObjectID: t.ObjectID,
		CreateDate: epoch, ChangeTable: fmt.Sprintf("dbo_%s_CT", t.Source.Name),
		StartLSN: start, HasCommand: true, Shape: t.Source,
	}
}

// add puts a change row into a table's first instance.
func (f *fakeServer) add(t *sqlserver.Table, commit, command, change int, op uint8, id int64, v string) {
	ct := t.Instances[0].ObjectID
	f.rows[ct] = append(f.rows[ct], sqlserver.ChangeRow{
		Commit: lsnOf(commit), Command: int32(command), Change: lsnOf(change), Operation: op,
		Mask: []byte{3}, Values: []driver.Value{id, v},
	})
	f.commit(commit)
}

// commit adds a row to the mapping, once.
func (f *fakeServer) commit(n int) {
	l := lsnOf(n)
	at, found := slices.BinarySearchFunc(f.commits, l, func(c sqlserver.Commit, l lsn.LSN) int { return c.LSN.Compare(l) })
	if !found {
		when := epoch.Add(time.Duration(n) * time.Second)
		f.commits = slices.Insert(f.commits, at, sqlserver.Commit{LSN: l, Begin: when.Add(-time.Minute), End: when})
	}
	if l.After(f.max) {
		f.max = l
	}
}

func (f *fakeServer) failing(statement string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(statement)
}

func (f *fakeServer) Catalogue(_ context.Context, selection sqlserver.Selection) ([]*sqlserver.Table, error) {
	var tables []*sqlserver.Table
	for _, t := range f.tables {
		if selection == nil || selection.Match(t.Source.Schema, t.Source.Name) {
			tables = append(tables, t)
		}
	}
	return tables, f.failing("catalogue")
}

func (f *fakeServer) Poll(_ context.Context, from lsn.LSN, limit int) (sqlserver.Poll, error) {
	p := sqlserver.Poll{Max: f.max}
	if err := f.failing("maximum"); err != nil {
		return sqlserver.Poll{}, err
	}
	for _, c := range f.commits {
		if !c.LSN.Before(from) && !c.LSN.After(p.Max) && len(p.Commits) < limit {
			p.Commits = append(p.Commits, c)
		}
	}
	if err := f.failing("mapping"); err != nil {
		return sqlserver.Poll{}, err
	}
	p.Instances = sqlserver.Fingerprint{Count: f.edition}
	p.HighestStart = f.highestStart()
	return p, f.failing("poll")
}

func (f *fakeServer) highestStart() (highest lsn.LSN) {
	for _, low := range f.lows {
		if low.After(highest) {
			highest = low
		}
	}
	return highest
}

// cleanup does what the cleanup job does with a low water mark, at once.
func (f *fakeServer) cleanup(mark lsn.LSN) {
	for _, t := range f.tables {
		for _, ci := range t.Instances {
			if ci.StartLSN.Before(mark) {
				ci.StartLSN, f.lows[ci.ObjectID] = mark, mark
			}
			f.rows[ci.ObjectID] = slices.DeleteFunc(f.rows[ci.ObjectID], func(row sqlserver.ChangeRow) bool { return row.Commit.Before(mark) })
		}
	}
	f.commits = slices.DeleteFunc(f.commits, func(c sqlserver.Commit) bool { return c.LSN.Before(mark) })
}

func (f *fakeServer) Changed(_ context.Context, r *sqlserver.ChangedReader, from, to lsn.LSN) (sqlserver.Changes, error) {
	var changes sqlserver.Changes
	for i, ci := range r.Instances() {
		if _, listed := f.lows[ci.ObjectID]; !listed {
			return sqlserver.Changes{}, sqlserver.ErrInstanceGone
		}
		if f.denied[ci.Name] {
			return sqlserver.Changes{}, errDenied
		}
		if slices.ContainsFunc(f.rows[ci.ObjectID], func(row sqlserver.ChangeRow) bool {
			return !row.Commit.Before(from) && !row.Commit.After(to)
		}) {
			changes.Instances = append(changes.Instances, i)
		}
	}
	if err := f.failing("exists"); err != nil {
		return sqlserver.Changes{}, err
	}
	changes.HighestStart = f.highestStart()
	return changes, f.failing("changed")
}

func (f *fakeServer) ReadChanges(_ context.Context, r *sqlserver.ChangeReader, q sqlserver.ChangeQuery) (sqlserver.ChangePage, error) {
	f.pages++
	ci := r.Instance()
	if err := f.failing("page of " + ci.Name); err != nil {
		return sqlserver.ChangePage{}, err
	}
	if f.denied[ci.Name] {
		return sqlserver.ChangePage{}, errDenied
	}
	if _, listed := f.lows[ci.ObjectID]; !listed {
		return sqlserver.ChangePage{}, sqlserver.ErrInstanceGone
	}
	byCommand := r.ByCommand()
	rows := slices.Clone(f.rows[ci.ObjectID])
	for i := range rows {
		if !byCommand {
			rows[i].Command = 0
		}
	}
	slices.SortFunc(rows, func(a, b sqlserver.ChangeRow) int { return a.Position().Compare(b.Position()) })
	page := sqlserver.ChangePage{End: true, Low: f.lows[ci.ObjectID], Columns: f.columns}
	for _, row := range rows {
		switch {
		case row.Commit.Before(q.From) || row.Commit.After(q.To):
			continue
		case q.After != nil && row.Position().Compare(*q.After) <= 0:
			continue
		}
		if byCommand && row.Command == 0 {
			return sqlserver.ChangePage{}, sqlserver.ErrNoCommandID
		}
		if len(page.Rows) == q.Limit || page.Bytes >= q.MaxBytes {
			page.End = false
			break
		}
		page.Rows = append(page.Rows, row)
		page.Bytes += 100
	}
	return page, nil
}

func (f *fakeServer) LowLSNs(context.Context) (map[int32]lsn.LSN, error) {
	return f.lows, f.failing("lows")
}

func (f *fakeServer) CommitTime(_ context.Context, commit lsn.LSN) (time.Time, bool, error) {
	for _, c := range f.commits {
		if c.LSN == commit {
			return c.End, true, f.failing("commit time")
		}
	}
	return time.Time{}, false, f.failing("commit time")
}

// fakeSink collects what is emitted.
type fakeSink struct {
	messages []event.Message
	batches  []int
	advanced lsn.Position
	fail     func() error
}

func (s *fakeSink) Emit(_ context.Context, b *event.Batch, upTo Place) error {
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return err
		}
	}
	if last := b.Messages[len(b.Messages)-1].Position; last != upTo.Position {
		return fmt.Errorf("batch ends at %s, not at %s", last, upTo.Position)
	}
	s.messages = append(s.messages, b.Messages...)
	s.batches = append(s.batches, len(b.Messages))
	return nil
}

func (s *fakeSink) Advance(_ context.Context, to Place) error {
	s.advanced = to.Position
	return nil
}

// summary is a message as tests compare it.
type summary struct {
	Kind, Op, Table string
	At              lsn.Position
	Serial          int64
	Key, Value      string
}

func summaries(messages []event.Message) []summary {
	list := make([]summary, len(messages))
	for i, m := range messages {
		list[i] = summary{string(m.Kind), m.Op, m.Table, m.Position, m.EventSerial, string(m.Key), string(m.Value)}
	}
	return list
}

// encoder is Options.Encoder with everything fixed that would differ.
func encoder(t *schema.Table) (*event.Encoder, error) {
	return event.NewEncoder(t, event.Options{
		Topics: event.Naming{Prefix: "p"}, Tombstones: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return epoch },
	})
}

// countingEncoder counts the encoders made.
func countingEncoder(made *int) func(*schema.Table) (*event.Encoder, error) {
	return func(t *schema.Table) (*event.Encoder, error) {
		*made++
		return encoder(t)
	}
}

// drain polls until nothing is left.
func drain(t testing.TB, r *Reader) {
	t.Helper()
	for {
		more, err := r.PollOnce(t.Context())
		require.NoError(t, err)
		if !more {
			return
		}
	}
}

// plainEvents is the second, simple implementation: all rows of all tables in
// one list, sorted, pairs joined.
func plainEvents(t testing.TB, f *fakeServer, byCommand bool) []summary {
	t.Helper()
	type located struct {
		row   sqlserver.ChangeRow
		table *sqlserver.Table
	}
	var all []located
	for _, table := range f.tables {
		for _, row := range f.rows[table.Instances[0].ObjectID] {
			if !byCommand {
				row.Command = 0
			}
			all = append(all, located{row, table})
		}
	}
	slices.SortFunc(all, func(a, b located) int {
		return cmp.Or(a.row.Commit.Compare(b.row.Commit), cmp.Compare(a.row.Command, b.row.Command),
			a.row.Change.Compare(b.row.Change), cmp.Compare(a.row.Operation, b.row.Operation))
	})
	batch := &event.Batch{}
	var serial int64
	var lastCommit, lastChange lsn.LSN
	for i, at := range all {
		row := at.row
		c := event.Change{
			Position: row.Position(), CommitLSN: row.Commit, ChangeLSN: row.Change,
			SourceTime: epoch.Add(time.Duration(binary.BigEndian.Uint64(row.Commit[2:])) * time.Second),
		}
		count := int64(1)
		switch row.Operation {
		case opDelete:
			c.Op, c.Before = event.OpDelete, row.Values
		case opInsert:
			c.Op, c.After = event.OpCreate, row.Values
		case opUpdateBefore:
			continue
		case opUpdateAfter:
			c.Op, c.Before, c.After, c.UpdateMask = event.OpUpdate, all[i-1].row.Values, row.Values, row.Mask
			count = 2
		}
		if row.Commit == lastCommit && row.Change == lastChange {
			serial += count
		} else {
			serial = count
		}
		lastCommit, lastChange = row.Commit, row.Change
		c.Serial = serial
		enc, err := encoder(at.table.Source)
		require.NoError(t, err)
		require.NoError(t, enc.Row(batch, c))
	}
	return summaries(batch.Messages)
}
