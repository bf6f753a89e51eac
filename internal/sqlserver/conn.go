package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// Conn is one connection. It runs one statement at a time and is not safe for
// concurrent use, except for Close.
type Conn struct {
	raw      *mssql.Conn
	wire     *wire
	config   Config
	database string // as asked for; empty: the login's default
	zone     *time.Location
	defaults map[temporalDefault]driver.Value
	broken   bool
	kept     prepared

	statements atomic.Int64
}

func newConn(raw *mssql.Conn, w *wire, cfg Config, database string) *Conn {
	return &Conn{raw: raw, wire: w, config: cfg, database: database, defaults: map[temporalDefault]driver.Value{}}
}

// Usable reports whether the connection can run another statement.
func (c *Conn) Usable() bool { return !c.broken && c.raw.IsValid() }

// Statements returns how many statements were sent so far. It is safe for
// concurrent use.
func (c *Conn) Statements() int64 { return c.statements.Load() }

// SetTimeZone says in which time zone the server records the times of
// transactions: its own, which changes its offset twice a year in many places.
// Without it, the server's present offset is taken for all of them.
func (c *Conn) SetTimeZone(zone *time.Location) { c.zone = zone }

// SilenceAfter is how long a server does not answer until that is told of: longer
// than it takes to find out that a network is gone whose end says so.
const SilenceAfter = 30 * time.Second

// OnSilence sets what is told when a statement has been waiting for the server for
// [SilenceAfter], and when an answer comes after all. It is called once for each,
// by other goroutines, and not after a statement that ends without an answer. No
// statement may run.
func (c *Conn) OnSilence(f func(yes bool)) {
	c.wire.telling.Lock()
	defer c.wire.telling.Unlock()
	c.wire.onSilence = f
}

// zoneOr returns the time zone in which the server records times: a fixed one of
// its present offset, in minutes, where no other is known.
func (c *Conn) zoneOr(offset int64) *time.Location {
	if c.zone != nil {
		return c.zone
	}
	return time.FixedZone("", int(offset)*60)
}

// Close closes the connection. It may be called more than once, and while a
// statement runs, which then fails.
func (c *Conn) Close() error {
	if err := c.wire.Close(); err != nil {
		return fmt.Errorf("closing connection: %w", err)
	}
	return nil
}

// executeProcedure is the procedure that runs a text as one statement of its
// own. Source: MS docs, sp_executesql.
const executeProcedure = "sp_executesql"

// Query runs one statement and returns its rows, which must be closed before
// the next statement. Arguments are @p1, @p2 and so on. Settings that the text
// makes end with it.
//
// The text always goes through a procedure call, whose answer has one closing
// token behind whatever happened in between (MS-TDS 2.2.7.7, DONEPROC). A batch
// goes on behind a statement that failed, and the driver, which returns with
// the first error, leaves that part unread: its next request then waits for
// ever. See [Conn.Exec] for texts of several statements.
func (c *Conn) Query(ctx context.Context, text string, args ...driver.Value) (*Rows, error) {
	if len(args) == 0 {
		text, args = executeProcedure, []driver.Value{text}
	}
	stmt, ctx, dog, err := c.begin(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, named(args))
	if err != nil {
		err = c.failed(ctx, err)
		dog.release()
		return nil, err
	}
	return &Rows{conn: c, ctx: ctx, dog: dog, rows: rows.(*mssql.Rows)}, nil
}

// Exec runs statements whose rows, if any, nobody wants. Without arguments
// they are sent as a batch, and settings in them last. The answer is read to
// its end whatever fails in it; the first error is returned.
func (c *Conn) Exec(ctx context.Context, text string, args ...driver.Value) error {
	stmt, ctx, dog, err := c.begin(ctx, text)
	if err != nil {
		return err
	}
	defer dog.release()
	if _, err := stmt.(driver.StmtExecContext).ExecContext(ctx, named(args)); err != nil {
		return c.failed(ctx, err)
	}
	return nil
}

// begin prepares a text, which sends nothing, and sets the watchdog on it.
func (c *Conn) begin(ctx context.Context, text string) (driver.Stmt, context.Context, *watchdog, error) {
	if !c.Usable() {
		return nil, nil, nil, ErrConnectionLost
	}
	if ctx.Err() != nil {
		return nil, nil, nil, context.Cause(ctx)
	}
	stmt, err := c.raw.Prepare(text)
	if err != nil {
		return nil, nil, nil, err
	}
	c.statements.Add(1)
	ctx, dog := watch(ctx, c.wire, c.config)
	return stmt, ctx, dog, nil
}

func named(args []driver.Value) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// Isolation is a transaction isolation level.
type Isolation string

// The isolation levels that this package asks for.
const (
	ReadCommitted Isolation = "READ COMMITTED"
	Snapshot      Isolation = "SNAPSHOT"
)

// Begin starts a transaction. The level stays that of the connection after
// the transaction's end. Source: MS docs, SET TRANSACTION ISOLATION LEVEL.
func (c *Conn) Begin(ctx context.Context, level Isolation) error {
	return c.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL "+string(level)+"; BEGIN TRANSACTION;")
}

// End ends a transaction that only read: whether it commits or rolls back
// makes no difference, and one that the server has ended already is none.
func (c *Conn) End(ctx context.Context) error {
	return c.Exec(ctx, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;")
}

// NoLockTimeout waits for locks without end, as connections do at first.
const NoLockTimeout time.Duration = -1

// SetLockTimeout bounds the wait for each lock of the statements to come.
// Source: MS docs, SET LOCK_TIMEOUT (milliseconds, -1 for no limit).
func (c *Conn) SetLockTimeout(ctx context.Context, d time.Duration) error {
	ms := d.Milliseconds()
	if d < 0 {
		ms = -1
	}
	return c.Exec(ctx, "SET LOCK_TIMEOUT "+strconv.FormatInt(ms, 10))
}

// failed turns what the driver says of a statement into the reason, and gives
// the connection up unless the server answered in order.
func (c *Conn) failed(ctx context.Context, err error) error {
	var server mssql.Error
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		// The driver returns the context's own error only after the server has
		// confirmed the attention: the connection is good.
		return context.Cause(ctx)
	case errors.As(err, &server) && server.Class < severed && c.raw.IsValid():
	default:
		c.broken = true
		c.wire.Close()
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case c.broken:
		return fmt.Errorf("%w: %w", ErrConnectionLost, err)
	default:
		return err
	}
}

// Rows is the result of a statement.
type Rows struct {
	conn   *Conn
	ctx    context.Context
	dog    *watchdog
	rows   *mssql.Rows
	err    error
	done   bool // the current result has no more rows
	closed bool
}

// Width returns the number of columns of the current result.
func (r *Rows) Width() int { return len(r.rows.Columns()) }

// typeSeed makes numbers of types, which mean something in this process only.
var typeSeed = maphash.MakeSeed()

// typesHash returns a number that stands for the types of the current result's
// columns.
func (r *Rows) typesHash() uint64 {
	var h maphash.Hash
	h.SetSeed(typeSeed)
	for i := range r.rows.Columns() {
		length, _ := r.rows.ColumnTypeLength(i)
		precision, scale, _ := r.rows.ColumnTypePrecisionScale(i)
		maphash.WriteComparable(&h, columnType{r.rows.ColumnTypeDatabaseTypeName(i), length, precision, scale})
	}
	return h.Sum64()
}

// columnType is what the driver says of a column's type.
type columnType struct {
	name                     string
	length, precision, scale int64
}

// Next reads the next row of the current result into dest. It returns false
// at the end and on an error: see Err.
func (r *Rows) Next(dest []driver.Value) bool {
	if r.done || r.err != nil {
		return false
	}
	err := r.rows.Next(dest)
	if err == nil {
		return true
	}
	if errors.Is(err, io.EOF) {
		r.done = true
		return false
	}
	r.err = r.conn.failed(r.ctx, err)
	return false
}

// NextResult goes on to the next result of a batch.
func (r *Rows) NextResult() bool {
	if !r.done || r.err != nil || !r.rows.HasNextResultSet() {
		return false
	}
	if err := r.rows.NextResultSet(); err != nil {
		r.err = r.conn.failed(r.ctx, err)
		return false
	}
	r.done = false
	return true
}

// Err returns the error that ended the rows, if any.
func (r *Rows) Err() error { return r.err }

// Close ends the statement; what was not read is cancelled. It returns the
// error that ended the rows, or the one that comes after the last of them. It
// may be called more than once.
func (r *Rows) Close() error {
	if r.closed {
		return r.err
	}
	r.closed = true
	err := r.rows.Close()
	if err != nil && r.err == nil {
		r.err = r.conn.failed(r.ctx, err)
	}
	r.dog.release()
	return r.err
}

// one reads the single row of a statement.
func (c *Conn) one(ctx context.Context, text string, args ...driver.Value) ([]driver.Value, error) {
	rows, err := c.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, rows.Width())
	if !rows.Next(row) {
		if err := rows.Close(); err != nil {
			return nil, err
		}
		return nil, errors.New("reading row: none returned")
	}
	// Reading to the end finds errors that come after the row, and spares the
	// server an attention.
	for rest := make([]driver.Value, len(row)); rows.Next(rest); {
	}
	return row, rows.Close()
}

// oneRetried is one, tried again as [Retry] does.
func (c *Conn) oneRetried(ctx context.Context, text string, args ...driver.Value) (row []driver.Value, err error) {
	err = Retry(ctx, func() (err error) {
		row, err = c.one(ctx, text, args...)
		return err
	})
	return row, err
}

// each calls f with every row of a statement; the row is valid during the
// call.
func (c *Conn) each(ctx context.Context, f func(row []driver.Value) error, text string, args ...driver.Value) error {
	rows, err := c.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, rows.Width())
	for rows.Next(row) {
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Close()
}
