package simulator

import (
	"context"
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// errFatal follows an error of class 20 or more: the client has been told and
// the connection ends.
var errFatal = errors.New("fatal error")

// fatalClass is the severity from which SQL Server closes the connection.
const fatalClass = 20

// requests runs the client's requests until it goes, the session is killed or
// the server closes.
func (c *conn) requests() error {
	c.inbox = newInbox(c.ctx)
	reader := make(chan struct{})
	go func() {
		defer close(reader)
		c.inbox.read(c.in)
		c.cancel()
	}()
	defer func() {
		c.hangUp()
		<-reader
	}()
	for {
		select {
		case r, ok := <-c.inbox.requests:
			if !ok {
				return c.inbox.reason()
			}
			if err := c.answer(r); err != nil {
				return err
			}
			c.inbox.release()
		case <-c.session.Done():
			return nil
		}
	}
}

// answer runs one request and writes its whole response.
func (c *conn) answer(r *request) error {
	c.response = newResponse(c)
	defer func() {
		c.response = nil
		c.out.disarm()
	}()
	err := c.execute(r)
	attention := c.inbox.settle(r)
	switch {
	case r.kind == tds.PacketAttention:
		return c.response.acknowledgeAttention()
	case attention:
		if err := c.response.end(); err != nil {
			return err
		}
		return c.response.acknowledgeAttention()
	case err != nil:
		if err := c.response.fail(err); err != nil {
			return err
		}
	}
	return c.response.end()
}

// execute maps the request to the session's methods. A panic of the session
// becomes an error that ends the connection.
func (c *conn) execute(r *request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sqltypes.Errorf(0, 1, fatalClass, "%v", c.recovered(p))
		}
	}()
	switch {
	case r.kind == tds.PacketAttention:
		c.session.AbandonBulkLoad()
		return nil
	case r.ignored:
		c.session.AbandonBulkLoad()
		c.response.failed = true
		return nil
	case r.err != nil:
		return sqltypes.Errorf(4002, 1, 16, "The incoming tabular data stream (TDS) protocol stream is incorrect. "+
			"The stream ended unexpectedly or holds what this server does not know: %v.", r.err)
	}
	if r.reset {
		if err := c.session.Reset(r.ctx, r.keepTrans, c.response); err != nil {
			return err
		}
		if err := c.response.acknowledgeReset(); err != nil {
			return err
		}
	}
	switch r.kind {
	case tds.PacketSQLBatch:
		return c.session.Batch(r.ctx, r.batch.Text, c.response)
	case tds.PacketRPC:
		return c.callAll(r)
	case tds.PacketTransaction:
		return c.transaction(r.ctx, r.trans)
	case tds.PacketBulkLoad:
		return c.session.BulkLoad(r.ctx, bulkRows{r.bulk}, c.response)
	}
	return sqltypes.Errorf(4002, 1, fatalClass, "The simulator does not support messages of type %v.", r.kind)
}

// callAll runs the calls of one RPC message, each with its own response.
func (c *conn) callAll(r *request) error {
	for i, call := range r.calls {
		if i > 0 {
			if err := c.response.endCall(); err != nil {
				return err
			}
		}
		c.response.beginCall(call.Options)
		args, err := arguments(call)
		if err == nil {
			err = c.session.Call(r.ctx, call.Procedure, args, c.response)
		}
		if err == nil {
			continue
		}
		// SQL Server's own error is this call's; the next one runs all the same.
		var own *sqltypes.Error
		if !errors.As(err, &own) || own.Class >= fatalClass || i == len(r.calls)-1 {
			return err
		}
		if err := c.response.fail(err); err != nil {
			return err
		}
	}
	return nil
}

// arguments turns parameters of the wire into the engine's. A value that is
// none of its type is error 8023, as SQL Server answers it.
func arguments(call tds.RPC) ([]engine.Arg, error) {
	args := make([]engine.Arg, len(call.Params))
	for i, p := range call.Params {
		if p.Invalid {
			return nil, sqltypes.Errorf(8023, 1, 16, "The incoming tabular data stream (TDS) remote procedure call (RPC) "+
				"protocol stream is incorrect. Parameter %d (%q): The supplied value is not a valid instance of data type %s. "+
				"Check the source data for invalid values. An example of an invalid value is data of numeric type with scale "+
				"greater than precision.", i+1, p.Name, p.Type.Name())
		}
		args[i] = engine.Arg{Name: p.Name, Type: p.Type, Value: p.Value, Output: p.Output, Default: p.Default, Table: tableArg(p.Table)}
	}
	return args, nil
}

// tableArg is a table-valued parameter as the engine takes it, nil for none.
func tableArg(t *tds.TableValue) *engine.TableArg {
	if t == nil {
		return nil
	}
	arg := &engine.TableArg{Schema: t.Schema, Name: t.Name, Rows: t.Rows}
	for _, c := range t.Columns {
		arg.Types, arg.Default = append(arg.Types, c.Type), append(arg.Default, c.Default)
	}
	return arg
}

// transactionKinds are the kinds of statement that transaction manager
// requests count as for faults.
var transactionKinds = map[tds.TransactionOp]string{
	tds.TransactionBegin:    "begin",
	tds.TransactionCommit:   "commit",
	tds.TransactionRollback: "rollback",
	tds.TransactionSave:     "save",
}

// transaction runs a transaction manager request.
func (c *conn) transaction(ctx context.Context, t tds.TransactionRequest) error {
	fault := c.server.statementFault(engine.StatementInfo{
		Kind: transactionKinds[t.Op], SPID: c.session.SPID(), App: c.login.App,
	})
	if fault.Do != nil {
		if err := fault.Do(ctx); err != nil {
			return err
		}
	}
	var err error
	switch t.Op {
	case tds.TransactionBegin:
		return c.session.Begin(ctx, t.Isolation, t.Name, c.response)
	case tds.TransactionCommit:
		err = c.session.Commit(ctx, t.Name, c.response)
	case tds.TransactionRollback:
		err = c.session.Rollback(ctx, t.Name, c.response)
	case tds.TransactionSave:
		return c.session.Save(ctx, t.Name, c.response)
	default:
		return sqltypes.Errorf(8510, 1, 16, "The simulator does not support distributed transactions (request %d).", t.Op)
	}
	if err != nil || !t.Next {
		return err
	}
	return c.session.Begin(ctx, t.Isolation, t.NextName, c.response)
}
