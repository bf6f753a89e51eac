package input

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/preflight"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// database is one database to read from, over a connection.
type database interface {
	// Name is the exact name of the database.
	Name() string
	lineageReader
	// MissingRights returns the problem that some of its tables may not be read,
	// with all that is missing.
	MissingRights() error
	// Snapshot reads the rows of its tables, from the beginning or from a
	// progress, in the shape of the capture instances that the stream will
	// read. It says which before it takes its start; known are those said
	// before.
	Snapshot(ctx context.Context, progress *snapshot.Progress, sink rowSink, known stream.Known, onKnown knownFunc) error
	// Reread reads the rows of tables again in a pause of the stream, from the
	// beginning or from a progress.
	Reread(ctx context.Context, pause stream.Rereading, progress *snapshot.Progress, sink snapshot.Sink) error
	// Stream returns what reads its changes after a state. Saved is the position
	// from which a restart would go on.
	Stream(start stream.State, sink stream.Sink, onInstances instancesFunc, saved func() stream.Place) poller
	// CaptureStatus tells how the capture job does.
	CaptureStatus(ctx context.Context) (sqlserver.CaptureStatus, error)
	// CaptureStatusApart is the same over a connection for this alone, while
	// rows are read from the other.
	CaptureStatusApart(ctx context.Context) (sqlserver.CaptureStatus, error)
	// Usable reports whether the connection still works.
	Usable() bool
	// Close closes the connection, under a running statement too.
	Close() error
}

// poller reads the changes there are; see [stream.Reader].
type poller interface {
	PollOnce(ctx context.Context) (more bool, err error)
}

// rowSink takes the rows of a snapshot.
type rowSink interface {
	snapshot.Sink
	// Waiting is called again and again while there is no LSN to begin at.
	Waiting(ctx context.Context) error
}

// instancesFunc is told which capture instances are read from now on.
type instancesFunc func(ctx context.Context, byCommand bool, known stream.Known) error

// knownFunc is told which capture instances will be read after a snapshot.
type knownFunc func(ctx context.Context, known stream.Known) error

// reasonNoTables is the reason of the problem that no table is captured.
const reasonNoTables = "no_tables"

// reasonKeyColumn is the reason of the problem that message_key_columns names
// columns that are not there.
const reasonKeyColumn = "key_column"

// serverDatabase is a database of a SQL Server.
type serverDatabase struct {
	cfg       config
	server    *sqlserver.Server
	conn      *sqlserver.Conn
	name      string
	selection *schema.Selection
	facts     sqlserver.Facts
	rights    *preflight.Rights
	tables    []*sqlserver.Table // those that are captured
	missing   error              // rights to read them; nil: none
	events    event.Options
	// transactions and schemaChanges are nil if they are not to be told of.
	transactions  *event.Transactions
	schemaChanges *event.SchemaChanges
	observers
	log *slog.Logger
}

var _ database = (*serverDatabase)(nil)

// openDatabase connects and makes sure that there is something to read.
func openDatabase(ctx context.Context, server *sqlserver.Server, cfg config, events event.Options, observers observers, log *slog.Logger) (database, error) {
	events.OnReplaced = func(r event.ReplacedNotice) { warnReplaced(observers.notices, r) }
	selection, err := schema.NewSelection(cfg.selection)
	if err != nil {
		return nil, err
	}
	d := &serverDatabase{cfg: cfg, server: server, selection: selection, events: events, observers: observers, log: log}
	if cfg.transactions {
		if d.transactions, err = event.NewTransactions(events); err != nil {
			return nil, err
		}
	}
	if cfg.schemaChanges {
		if d.schemaChanges, err = event.NewSchemaChanges(events); err != nil {
			return nil, err
		}
	}
	if d.conn, err = server.Connect(ctx, cfg.server.Database); err != nil {
		return nil, err
	}
	d.conn.OnSilence(observers.link.silent)
	if err := d.inspect(ctx); err != nil {
		d.conn.Close()
		return nil, err
	}
	return d, nil
}

// inspect reads what the catalogue says of the database and its tables.
func (d *serverDatabase) inspect(ctx context.Context) error {
	if err := d.readFacts(ctx); err != nil {
		return err
	}
	var err error
	if d.rights, err = preflight.Catalogue(ctx, d.conn, preflight.Want{
		Database:  d.name,
		Selection: d.selection,
		Function:  d.cfg.queryMode == queryFunction,
		Rows:      d.cfg.snapshotMode == snapshotInitial,
	}); err != nil {
		return err
	}
	if err := d.instances.begin(ctx, d); err != nil {
		return err
	}
	if err := d.findTables(ctx); err != nil {
		return err
	}
	if err := d.checkGuardrail(ctx); err != nil {
		return err
	}
	d.meter.Captures(d.name, len(d.tables))
	if err := d.conn.NoteCodePages(ctx, d.facts.Collation, d.tables); err != nil {
		return err
	}
	if err := d.checkKeyColumns(); err != nil {
		return err
	}
	d.warn()
	return nil
}

// readFacts asks which database this is, and makes sure that change data capture
// is enabled in it.
func (d *serverDatabase) readFacts(ctx context.Context) error {
	facts, err := d.conn.Facts(ctx)
	if err != nil {
		return fmt.Errorf("asking for the facts of the database: %w", err)
	}
	d.name, d.facts = facts.Database, facts
	d.setTimeZone(facts)
	if !facts.CDCEnabled {
		return sqlserver.CDCDisabled(facts)
	}
	return nil
}

// findTables finds the wanted tables that are captured, and the rights that are
// missing to read them. That there are none is an error.
func (d *serverDatabase) findTables(ctx context.Context) error {
	tables, err := d.conn.Catalogue(ctx, d.selection)
	if err != nil {
		return err
	}
	hidden, err := d.hidden(ctx)
	if err != nil {
		return err
	}
	d.tables = slices.DeleteFunc(tables, func(t *sqlserver.Table) bool { return len(t.Instances) == 0 })
	if d.missing = d.rights.Instances(ctx, d.tables, hidden); d.missing != nil && sqlserver.Classify(d.missing) != sqlserver.ClassFatal {
		return d.missing
	}
	switch {
	case len(d.tables) > 0:
		sortTables(d.tables, d.selection)
		return nil
	case d.missing != nil: // which may be why there are none
		return d.missing
	default:
		return d.noTables()
	}
}

// checkKeyColumns makes sure that message_key_columns names columns that are
// captured.
func (d *serverDatabase) checkKeyColumns() error {
	unknown := d.selection.UnknownKeyColumns()
	if len(unknown) == 0 {
		return nil
	}
	return sqlserver.NewProblem(reasonKeyColumn,
		fmt.Sprintf("no table has the key column captured that is named by %s", strings.Join(unknown, ", ")),
		fmt.Sprintf("correct %s, or capture the column", fieldMessageKeyColumns), nil)
}

// sortTables puts tables into the order in which Debezium snapshots them: that
// of the patterns of table_include_list that they match, then of their names
// (SqlServerSnapshotChangeEventSource, TableId.compareTo).
func sortTables(tables []*sqlserver.Table, selection *schema.Selection) {
	slices.SortStableFunc(tables, func(a, b *sqlserver.Table) int {
		return cmp.Or(
			cmp.Compare(selection.Order(a.Source.Schema, a.Source.Name), selection.Order(b.Source.Schema, b.Source.Name)),
			cmp.Compare(a.Source.Schema+"."+a.Source.Name, b.Source.Schema+"."+b.Source.Name),
		)
	})
}

// hidden returns the capture instances whose tables the login cannot see. Where
// the wanted tables are listed, they may be others; else they are wanted.
func (d *serverDatabase) hidden(ctx context.Context) ([]string, error) {
	hidden, err := d.conn.HiddenInstances(ctx)
	if err != nil || len(hidden) == 0 || len(d.cfg.selection.Tables.TableInclude) == 0 {
		return hidden, err
	}
	d.notices.Warn("", fmt.Sprintf("The login cannot see the tables of the capture instances %s and leaves them out; if they are wanted, GRANT SELECT ON each of these tables TO %s",
		strings.Join(hidden, ", "), sqlserver.Quote(d.rights.User)))
	return nil, nil
}

// noTables says which lists left nothing over, or that there was nothing.
func (d *serverDatabase) noTables() error {
	lists := d.cfg.selection.Tables
	var given, fields []string
	for _, list := range []struct {
		field    string
		patterns []string
	}{
		{fieldSchemaIncludeList, lists.SchemaInclude},
		{fieldSchemaExcludeList, lists.SchemaExclude},
		{fieldTableIncludeList, lists.TableInclude},
		{fieldTableExcludeList, lists.TableExclude},
		{fieldInstanceIncludeList, lists.InstanceInclude},
	} {
		if len(list.patterns) > 0 {
			given = append(given, fmt.Sprintf("%s %q", list.field, list.patterns))
			fields = append(fields, list.field)
		}
	}
	which, remedy := "no table has a capture instance", "run EXEC sys.sp_cdc_enable_table for the tables"
	if len(given) > 0 {
		which = "no table with a capture instance passes " + strings.Join(given, " and ")
		remedy += fmt.Sprintf(", or correct %s: a pattern matches a name as a whole, that of a table as schema.table", strings.Join(fields, " or "))
	}
	return sqlserver.NewProblem(reasonNoTables, fmt.Sprintf("nothing to capture in database %q: %s", d.name, which), remedy, nil)
}

// warn says once what will not be read, or not as expected.
func (d *serverDatabase) warn() {
	var ids []schema.TableID
	for _, t := range d.tables {
		ids = append(ids, t.Source.ID())
		for _, note := range t.Notes {
			d.notices.Warn(t.Source.ID().String(), note)
		}
	}
	remarks := []string{} // not nil: the database can be read
	for _, pattern := range d.selection.Unmatched(ids) {
		remarks = append(remarks, fmt.Sprintf("No table with a capture instance matches %q of %s or %s", pattern, fieldTableIncludeList, fieldSchemaIncludeList))
	}
	for _, label := range d.selection.UnmatchedColumns() {
		remarks = append(remarks, fmt.Sprintf("No column of the captured tables matches %s", label))
	}
	d.unmatched.Tell(d.cfg.server.Database, remarks)
	for _, label := range d.selection.OverruledColumns() {
		d.notices.Warn("", fmt.Sprintf("All columns that match %s have an earlier rule, and of all rules that match a column the first counts: truncation, asterisks, source types, hashes", label))
	}
	d.warnSharedTopics(ids)
}

// warnSharedTopics names the tables that differ only in characters which topics
// do not allow: a consumer of topics alone cannot tell their rows apart.
func (d *serverDatabase) warnSharedTopics(tables []schema.TableID) {
	first := make(map[string]schema.TableID, len(tables))
	for _, t := range tables {
		topic := d.events.Topics.Table(t)
		if other, shared := first[topic]; shared {
			d.notices.Warn(t.String(), fmt.Sprintf("Tables %s and %s share the topic %s; the metadata database_schema and table tell them apart", other, t, topic))
			continue
		}
		first[topic] = t
	}
}

// Name implements [database].
func (d *serverDatabase) Name() string { return d.name }

// MissingRights implements [database].
func (d *serverDatabase) MissingRights() error { return d.missing }

// Usable implements [database].
func (d *serverDatabase) Usable() bool { return d.conn.Usable() }

// Close implements [database].
func (d *serverDatabase) Close() error { return d.conn.Close() }

// Stream implements [database].
func (d *serverDatabase) Stream(start stream.State, sink stream.Sink, onInstances instancesFunc, saved func() stream.Place) poller {
	watch := &instanceWatch{instances: d.instances, known: start.Instances, saved: saved}
	reader := stream.New(d.conn, sink, stream.Options{
		Selection:                d.selection,
		Skipped:                  d.cfg.skipped,
		Function:                 d.cfg.queryMode == queryFunction,
		Encoder:                  d.encoder,
		SourceTime:               d.cfg.sourceTime,
		Transactions:             d.transactions,
		SchemaChanges:            d.schemaChanges,
		Database:                 d.name,
		Observe:                  d.cfg.captureInstances == instancesObserve,
		OnInstances:              watch.stores(onInstances),
		Saved:                    saved,
		OnCompleted:              d.completed,
		Gaps:                     d.cfg.gaps(),
		OnSkipped:                d.cfg.onSkipped(sink),
		Reread:                   onReread(sink, d),
		Rereadable:               d.rights.Rows,
		OnHeld:                   d.cfg.onHeld(sink),
		OnPoll:                   d.onPoll(sink),
		OnHeldPoll:               d.meter.PolledBehind,
		Remark:                   d.notices.Warn,
		FetchSize:                d.cfg.streamingFetchSize,
		MaxIterationTransactions: d.cfg.maxIterationTransactions,
		MaxBatchSize:             d.cfg.maxBatchSize,
		MaxBytes:                 d.cfg.maxReadBytes,
		Logger:                   d.log,
	}, start)
	watch.poller = tableWatch{poller: reader, database: d, saved: saved}
	if d.instances == nil {
		return watch.poller
	}
	return watch
}

// onPoll returns who is told what each look for changes finds.
func (d *serverDatabase) onPoll(sink stream.Sink) func(sqlserver.Poll) {
	to, asks := sink.(looker)
	return func(p sqlserver.Poll) {
		d.meter.Polled(p, d.conn.Statements())
		if asks {
			to.looked(p)
		}
	}
}

// encoder makes the encoder of a table version.
func (d *serverDatabase) encoder(t *schema.Table) (*event.Encoder, error) {
	e, err := event.NewEncoder(t, d.events)
	if err != nil {
		return nil, err
	}
	warnOmitted(d.notices, e)
	return e, nil
}
