package input_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// The end-to-end tests run whole Benthos streams over the real driver against
// the simulator, inside testing/synctest: the capture job's polls, the input's
// pauses and every timeout pass in no time.

// patience is how long, in virtual time, a test waits for an event.
const patience = 30 * time.Minute

// newServer starts a simulator with a database "db" under change data capture,
// and runs a script in it.
func newServer(t testing.TB, script string) *simulator.Server {
	t.Helper()
	server := emptyServer(t)
	sqlExec(t, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\nUSE db\n"+script)
	return server
}

func emptyServer(t testing.TB) *simulator.Server {
	t.Helper()
	server, err := simulator.New(simulator.Options{
		Logins:     map[string]string{"sa": password},
		Encryption: simulator.EncryptionUnsupported,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// password is looked for in everything that is logged.
const password = "s3cr3t-P@ss;word"

// enable returns the statement that captures a table.
func enable(schema, table string) string {
	return fmt.Sprintf("EXEC sys.sp_cdc_enable_table @source_schema = N'%s', @source_name = N'%s', @role_name = NULL\n",
		strings.ReplaceAll(schema, "'", "''"), strings.ReplaceAll(table, "'", "''"))
}

// sqlExec runs a script, in database db unless it says otherwise.
func sqlExec(t testing.TB, server *simulator.Server, script string) {
	t.Helper()
	require.NoError(t, server.Exec(script))
}

// change runs a script in db and lets the capture job read the log.
func change(t testing.TB, server *simulator.Server, script string) {
	t.Helper()
	sqlExec(t, server, "USE db\n"+script)
	require.NoError(t, server.CaptureNow("db"))
}

// received is one message as the output got it.
type received struct {
	Kind, Op, Topic, Database, Schema, Table string
	Key, Value, Position                     string
	NullValue                                bool
	Meta                                     map[string]any
}

// String is the short form that most tests compare: kind or op, table, and the
// row: `c dbo.t {"id":1}`, `d dbo.t {"id":1}`, `tombstone dbo.t {"id":1}`.
func (r received) String() string {
	if r.Kind == "tombstone" {
		return fmt.Sprintf("tombstone %s.%s %s", r.Schema, r.Table, r.Key)
	}
	if r.Kind != "change" {
		return fmt.Sprintf("%s %s", r.Kind, r.Value)
	}
	var envelope struct{ Before, After json.RawMessage }
	if err := json.Unmarshal([]byte(r.Value), &envelope); err != nil {
		return fmt.Sprintf("%s %s", r.Kind, r.Value)
	}
	row := envelope.After
	if r.Op == "d" {
		row = envelope.Before
	}
	return fmt.Sprintf("%s %s.%s %s", r.Op, r.Schema, r.Table, row)
}

func receive(t *testing.T, m *service.Message) received {
	t.Helper()
	meta := map[string]any{}
	require.NoError(t, m.MetaWalkMut(func(key string, value any) error {
		meta[key] = value
		return nil
	}))
	text := func(key string) string {
		s, _ := meta[key].(string)
		return s
	}
	value, err := m.AsBytes()
	require.NoError(t, err)
	return received{
		Kind: text("kind"), Op: text("op"), Topic: text("topic"),
		Database: text("database"), Schema: text("database_schema"), Table: text("table"),
		Key: text("key"), Position: text("position"), Value: string(value), NullValue: value == nil, Meta: meta,
	}
}

// store is a cache that outlives streams, registered as "test_store". Hooks,
// when set, may fail, delay or mangle.
type store struct {
	mu     sync.Mutex
	values map[string][]byte
	onGet  func(key string, value []byte) ([]byte, error)
	onSet  func(ctx context.Context, key string, value []byte) error
}

func newStore() *store { return &store{values: map[string][]byte{}} }

// copyOf returns another store with the values of now, as a crash leaves them.
func (s *store) copyOf() *store {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := newStore()
	for k, v := range s.values {
		c.values[k] = v
	}
	return c
}

func (s *store) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	value, ok := s.values[key]
	hook := s.onGet
	s.mu.Unlock()
	if !ok {
		value = nil
	}
	if hook != nil {
		v, err := hook(key, value)
		if err != nil {
			return nil, err
		}
		value = v
	}
	if !ok {
		return nil, service.ErrKeyNotFound
	}
	return value, nil
}

func (s *store) Set(ctx context.Context, key string, value []byte, _ *time.Duration) error {
	s.mu.Lock()
	hook := s.onSet
	s.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, key, value); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = append([]byte(nil), value...)
	return nil
}

func (s *store) Add(context.Context, string, []byte, *time.Duration) error {
	return errors.New("not used")
}

func (s *store) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *store) Close(context.Context) error { return nil }

// pipeline is a running stream.
type pipeline struct {
	t      *testing.T
	stream *service.Stream
	ended  chan error
	logs   *logs

	mu     sync.Mutex
	all    []received
	seen   int // by next
	signal chan struct{}
}

// settings of a pipeline; zero values are defaults.
type settings struct {
	fields string // YAML of the input's fields, each line indented by nothing
	store  *store
	dial   func(*simulator.Server) input.Option // default: the server's in-memory pipe
	// output is asked for every batch; its error is a nack. Its context ends
	// when the stream stops less than gracefully.
	output      func(ctx context.Context, batch []received) error
	maxInFlight int // batches that output is asked for at once; default 1
	onStop      func(error)
}

// output hands what it gets to the pipeline's test.
type output struct {
	pipeline *pipeline
	ask      func(ctx context.Context, batch []received) error
}

func (o output) take(ctx context.Context, batch service.MessageBatch) error {
	p := o.pipeline
	messages := make([]received, len(batch))
	for i, m := range batch {
		messages[i] = receive(p.t, m)
	}
	if o.ask != nil {
		if err := o.ask(ctx, messages); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.all = append(p.all, messages...)
	p.mu.Unlock()
	select {
	case p.signal <- struct{}{}:
	default:
	}
	return nil
}

// startPipeline runs a stream until the test ends or stop is called.
func startPipeline(t *testing.T, server *simulator.Server, s settings) *pipeline {
	t.Helper()
	p := &pipeline{t: t, ended: make(chan error, 1), signal: make(chan struct{}, 1), logs: &logs{}}
	if s.store == nil {
		s.store = newStore()
	}
	dial := input.WithDialer(server.DialContext)
	if s.dial != nil {
		dial = s.dial(server)
	}
	stream, err := streamtest.Build(streamtest.Config{
		Input: inputYAML(s.fields), Cache: s.store, MaxInFlight: s.maxInFlight,
		Output: output{pipeline: p, ask: s.output}.take,
		Options: []input.Option{dial, input.WithOnStop(func(err error) {
			if s.onStop != nil {
				s.onStop(err)
			}
		})},
	}, p.logs)
	require.NoError(t, err)
	p.stream = stream
	go func() { p.ended <- stream.Run(context.Background()) }()
	t.Cleanup(p.stop)
	return p
}

// inputYAML completes the fields with a connection to database db.
func inputYAML(fields string) string {
	lines := []string{"sqlserver_cdc:"}
	defaults := map[string]string{
		"host": "server", "user": "sa", "password": "'" + password + "'", "encrypt": "'false'",
		"database_names": "[ db ]", "topic_prefix": "server1", "checkpoint_cache": "offsets",
		// Most tests are about rows.
		"include_schema_changes": "false",
	}
	if strings.Contains("\n"+fields, "\nconnection_string:") {
		for _, field := range []string{"host", "user", "password", "encrypt", "database_names"} {
			delete(defaults, field)
		}
	}
	for name, value := range defaults {
		if !strings.Contains("\n"+fields, "\n"+name+":") {
			lines = append(lines, "  "+name+": "+value)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(fields)) {
		lines = append(lines, "  "+strings.TrimRight(line, "\n"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// next waits for the next n messages and returns them.
func (p *pipeline) next(n int) []received {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		if len(p.all)-p.seen >= n {
			got := p.all[p.seen : p.seen+n]
			p.seen += n
			p.mu.Unlock()
			return got
		}
		have := len(p.all) - p.seen
		p.mu.Unlock()
		select {
		case <-p.signal:
		case err := <-p.ended:
			p.ended <- err
			require.Fail(p.t, "the stream has ended", "%v, after %d of %d messages; log:\n%s", err, have, n, p.logs)
		case <-deadline:
			require.Fail(p.t, "messages are missing", "got %d of %d: %v; log:\n%s", have, n, p.rest(), p.logs)
		}
	}
}

// want waits for messages and compares their short forms, in order.
func (p *pipeline) want(want ...string) []received {
	p.t.Helper()
	got := p.next(len(want))
	require.Equal(p.t, want, shorts(got))
	return got
}

// quiet makes sure that nothing more comes for a while of virtual time.
func (p *pipeline) quiet() {
	p.t.Helper()
	<-time.After(time.Minute)
	require.Empty(p.t, shorts(p.rest()))
}

// everything returns all that was received.
func (p *pipeline) everything() []received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// rest returns what was received and not yet asked for.
func (p *pipeline) rest() []received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[p.seen:]
}

// stop ends the stream as a signal would. Stopping again does nothing.
func (p *pipeline) stop() {
	p.t.Helper()
	synctest.Wait() // a stream that has hardly begun cannot be stopped
	if err := p.stream.StopWithin(20 * time.Second); err != nil && !errors.Is(err, context.Canceled) {
		require.NoError(p.t, err, "log:\n%s", p.logs)
	}
	err := <-p.ended
	p.ended <- err
	require.NotContains(p.t, p.logs.String(), password)
}

func shorts(messages []received) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.String()
	}
	return out
}

// logs collects what a stream logs.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lastDeliveries keeps each event where it came last.
func lastDeliveries(messages []received) (kept []received) {
	seen := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		if !seen[m.Position] {
			seen[m.Position] = true
			kept = append(kept, m)
		}
	}
	slices.Reverse(kept)
	return kept
}

// tablesOf applies events to empty tables.
func tablesOf(messages []received) map[string]string {
	rows := map[string]string{}
	for _, m := range messages {
		key := m.Table + m.Key
		var envelope struct{ After json.RawMessage }
		switch {
		case m.Kind != "change":
		case m.Op == "d":
			delete(rows, key)
		case json.Unmarshal([]byte(m.Value), &envelope) == nil:
			rows[key] = string(envelope.After)
		}
	}
	return rows
}

var errRejected = errors.New("rejected by the test")
