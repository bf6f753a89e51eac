package simulator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// response turns what a session answers into tokens. It is the engine.Sink of
// one request.
//
// The last DONE of a response is the one without the more bit, and only what
// follows tells which it is; so a DONE is held back until the next token.
type response struct {
	conn *conn
	buf  []byte // of the token being built, reused
	rows *tds.RowEncoder
	// downlevel are the types of columns that the client's protocol lacks, nil
	// where it has them; the whole of it is nil when it has all.
	downlevel []*sqltypes.Type

	held       tds.DoneToken
	holds      bool
	noMetadata bool // the running call wants no descriptions of columns
	rpc        bool // a call is running, whose response ends with DONEPROC
	failed     bool // an error was sent that no DONE has carried yet
	broken     bool // an error was sent during the call
	resetAck   bool
	fatal      bool
}

var _ engine.Sink = (*response)(nil)

func newResponse(c *conn) *response { return &response{conn: c} }

// Columns starts a result set.
func (r *response) Columns(cols []engine.Column) error {
	columns := make([]tds.Column, len(cols))
	for i, c := range cols {
		columns[i] = tds.Column{
			Name: c.Name, Type: r.conn.wireType(c.Type), Table: c.Table,
			Nullable: c.Nullable, Identity: c.Identity, Computed: c.Computed,
			CaseSensitive: c.CaseSensitive, Updatable: c.Updatable,
		}
	}
	r.downlevel = downlevel(columns, r.conn.dialect)
	r.rows = r.conn.dialect.NewRowEncoder(columns)
	if r.noMetadata {
		return r.send(tds.AppendNoMetadata(r.buf[:0]))
	}
	return r.send(tds.AppendColMetadata(r.buf[:0], columns))
}

// Row sends one row.
func (r *response) Row(row []sqltypes.Value) error {
	if r.conn.inbox.interrupted() {
		return context.Canceled
	}
	if r.downlevel != nil {
		var err error
		if row, err = toDownlevel(row, r.downlevel, r.conn.dialect); err != nil {
			return err
		}
	}
	r.buf = r.rows.AppendRow(r.buf[:0], row)
	_, err := r.conn.packets.Write(r.buf)
	return err
}

// Done ends a statement.
func (r *response) Done(d engine.DoneInfo) error {
	if err := r.releaseHeld(); err != nil {
		return err
	}
	r.held = tds.DoneToken{Kind: tds.Done, Command: d.Command}
	switch {
	case d.EndProc:
		r.held.Kind = tds.DoneProc
	case d.InProc:
		r.held.Kind = tds.DoneInProc
	}
	if d.HasCount {
		r.held.Status |= tds.DoneCount
		r.held.Count = uint64(d.Count)
	}
	if d.Error || r.failed {
		r.held.Status |= tds.DoneError
	}
	r.failed = false
	r.holds = true
	return nil
}

// Message sends an error or information. An error of class 20 or more ends the
// connection after this response.
func (r *response) Message(m *engine.Message) error {
	if m.Class > maxInfoClass {
		r.failed, r.broken = true, true
	}
	if m.Class >= fatalClass {
		r.fatal = true
	}
	return r.send(tds.AppendNotice(r.buf[:0], tds.Notice{
		Number: m.Number, State: m.State, Class: m.Class, Message: m.Text,
		Server: r.conn.server.opts.ServerName, Procedure: m.Procedure, Line: int32(m.Line),
	}))
}

// maxInfoClass is the highest severity of information; above it are errors.
const maxInfoClass = 10

// EnvChange tells the client of a changed property.
func (r *response) EnvChange(kind engine.EnvKind, newValue, oldValue []byte) error {
	switch kind {
	case engine.EnvDatabase, engine.EnvLanguage, engine.EnvPacketSize:
		return r.send(tds.AppendEnvChange(r.buf[:0], uint8(kind), string(newValue), string(oldValue)))
	case engine.EnvResetAck:
		r.resetAck = true
	}
	return r.send(tds.AppendEnvChangeBytes(r.buf[:0], uint8(kind), newValue, oldValue))
}

// ReturnStatus sends what a procedure returned.
func (r *response) ReturnStatus(status int32) error {
	return r.send(tds.AppendReturnStatus(r.buf[:0], status))
}

// ReturnValue sends an output parameter.
func (r *response) ReturnValue(name string, ordinal int, t sqltypes.Type, v sqltypes.Value) error {
	if sent := r.conn.dialect.Type(t); sent.ID != t.ID {
		row, err := toDownlevel([]sqltypes.Value{v}, []*sqltypes.Type{&t}, r.conn.dialect)
		if err != nil {
			return err
		}
		t, v = sent, row[0]
	}
	return r.send(tds.AppendReturnValue(r.buf[:0], name, ordinal, r.conn.wireType(t), v))
}

// send writes a token, after the DONE that was held back.
func (r *response) send(token []byte) error {
	r.buf = token[:0]
	if r.holds {
		done := tds.AppendDone(nil, r.take(true))
		if _, err := r.conn.packets.Write(done); err != nil {
			return err
		}
	}
	_, err := r.conn.packets.Write(token)
	return err
}

func (r *response) releaseHeld() error {
	if !r.holds {
		return nil
	}
	r.buf = tds.AppendDone(r.buf[:0], r.take(true))
	_, err := r.conn.packets.Write(r.buf)
	return err
}

// take completes the held DONE.
func (r *response) take(more bool) tds.DoneToken {
	d := r.held
	r.holds = false
	if more {
		d.Status |= tds.DoneMore
	}
	if _, active := r.conn.session.Transaction(); active {
		d.Status |= tds.DoneInTransaction
	}
	return d
}

// acknowledgeReset answers the reset bit when the session has not.
func (r *response) acknowledgeReset() error {
	if r.resetAck {
		return nil
	}
	return r.send(tds.AppendEnvChangeBytes(r.buf[:0], tds.EnvResetAck, nil, nil))
}

// flush lets the client see everything sent so far.
func (r *response) flush() error {
	if err := r.releaseHeld(); err != nil {
		return err
	}
	return r.conn.packets.Flush()
}

// beginCall starts the response of a procedure call.
func (r *response) beginCall(options uint16) {
	r.rpc, r.broken = true, false
	r.noMetadata = options&tds.RPCNoMetadata != 0
}

// endCall ends it with DONEPROC when the session has not.
func (r *response) endCall() error {
	r.rpc = false
	if r.holds && r.held.Kind == tds.DoneProc && !r.failed {
		return nil
	}
	return r.Done(engine.DoneInfo{EndProc: true, Error: r.broken})
}

// fail answers an error that a session's method returned. What is not SQL
// Server's own error has nothing to say to the client: the connection ends.
func (r *response) fail(err error) error {
	var e *sqltypes.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("running request: %w", err)
	}
	return r.Message(&engine.Message{
		Number: e.Number, State: e.State, Class: e.Class,
		Text: e.Message, Procedure: e.Procedure, Line: int(e.Line),
	})
}

// end completes the response.
func (r *response) end() error {
	switch {
	case r.rpc:
		if err := r.endCall(); err != nil {
			return err
		}
	case !r.holds || r.held.Kind == tds.DoneInProc || r.failed:
		if err := r.Done(engine.DoneInfo{Error: r.failed}); err != nil {
			return err
		}
	}
	r.buf = tds.AppendDone(r.buf[:0], r.take(false))
	return r.finish()
}

// acknowledgeAttention answers an attention, in a message of its own behind the
// response of the request that it interrupted: mssql-jdbc reads one message
// more once it has sent an attention (TDSCommand.onResponseEOM).
func (r *response) acknowledgeAttention() error {
	r.held = tds.DoneToken{Kind: tds.Done, Status: tds.DoneAttention}
	r.buf = tds.AppendDone(r.buf[:0], r.take(false))
	return r.finish()
}

func (r *response) finish() error {
	if _, err := r.conn.packets.Write(r.buf); err != nil {
		return err
	}
	if err := r.conn.packets.EndMessage(); err != nil {
		return err
	}
	if r.fatal {
		return errFatal
	}
	return nil
}
