package engine

import (
	"context"
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func descriptorBytes(d uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, d)
}

// maxTransactionName is the length of a transaction's or savepoint's name (MS docs:
// BEGIN TRANSACTION).
const maxTransactionName = 32

// checkTransactionName refuses a name that is too long; of one in a variable only the
// first characters count.
func checkTransactionName(name string, variable bool) (string, error) {
	runes := []rune(name)
	switch {
	case len(runes) <= maxTransactionName:
		return name, nil
	case variable:
		return string(runes[:maxTransactionName]), nil
	}
	return "", sqltypes.Errorf(103, 4, 15, "The identifier that starts with '%s' is too long. Maximum length is %d.", string(runes[:maxTransactionName]), maxTransactionName)
}

// beginTran is BEGIN TRANSACTION. Under IMPLICIT_TRANSACTIONS it is two at once: the
// statement itself opens one (MS docs: SET IMPLICIT_TRANSACTIONS).
func (x *Exec) beginTran(name string) error {
	if err := x.startImplicit(); err != nil {
		return err
	}
	if t := x.s.tx; t != nil && t.count > 0 {
		t.count++
		return nil
	}
	return x.openTran(name)
}

func (x *Exec) openTran(name string) error {
	t := x.s.current()
	t.count, t.name = 1, name
	x.s.showOutside()
	return x.sink.EnvChange(EnvBegin, descriptorBytes(t.descriptor), nil)
}

// startImplicit opens a transaction under SET IMPLICIT_TRANSACTIONS ON, at the
// first statement that MS docs list for it.
func (x *Exec) startImplicit() error {
	s := x.s
	if !s.implicit || s.tx != nil && s.tx.count > 0 || x.system {
		return nil
	}
	return x.openTran("")
}

// commitTran is COMMIT.
func (x *Exec) commitTran() error {
	s := x.s
	if s.tx == nil || s.tx.count == 0 {
		return raise(3902, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	if s.tx.doomed {
		return raise(3930, "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.")
	}
	if s.tx.count--; s.tx.count > 0 {
		return nil
	}
	t := s.tx
	s.tx = nil
	s.showOutside()
	if err := t.commit(); err != nil {
		if e := x.sink.EnvChange(EnvRollback, nil, descriptorBytes(t.descriptor)); e != nil {
			return e
		}
		return err
	}
	return x.sink.EnvChange(EnvCommit, nil, descriptorBytes(t.descriptor))
}

// rollbackAll ends the whole transaction.
func (x *Exec) rollbackAll() error {
	s := x.s
	t := s.tx
	if t == nil {
		return nil
	}
	s.tx = nil
	s.showOutside()
	explicit := t.count > 0
	t.rollback()
	if !explicit {
		return nil
	}
	return x.sink.EnvChange(EnvRollback, nil, descriptorBytes(t.descriptor))
}

// rollbackTran is ROLLBACK, of everything or to a savepoint. Names are always case
// sensitive (MS docs: BEGIN TRANSACTION, SAVE TRANSACTION).
func (x *Exec) rollbackTran(name string) error {
	s := x.s
	if s.tx == nil || s.tx.count == 0 {
		return raise(3903, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	if name == "" || name == s.tx.name {
		return x.rollbackAll()
	}
	if s.tx.doomed {
		return raise(3931, "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.")
	}
	at := -1
	for i, save := range s.tx.saves {
		if save.name == name {
			at = i
		}
	}
	if at < 0 {
		return errNoSavepoint(name)
	}
	s.tx.restore(s.tx.saves[at].mark)
	s.tx.saves = s.tx.saves[:at+1]
	for _, db := range s.tx.order {
		if err := s.tx.txns[db].RollbackTo(name); err != nil {
			return err
		}
	}
	return nil
}

func errNoSavepoint(name string) error {
	return raise(6401, "Cannot roll back %s. No transaction or savepoint of that name was found.", name)
}

// saveTran is SAVE TRANSACTION.
func (x *Exec) saveTran(name string) error {
	t := x.s.tx
	if t == nil || t.count == 0 {
		return raise(628, "Cannot issue SAVE TRANSACTION when there is no active transaction.")
	}
	if t.doomed {
		return raise(3930, "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.")
	}
	t.saves = append(t.saves, savepoint{name, t.mark()})
	for _, txn := range t.txns {
		if err := txn.Savepoint(name); err != nil {
			return err
		}
	}
	return nil
}

// checkTranCount is error 266, which ends nothing, after a module or a string that left
// transactions open or ended its caller's.
func (x *Exec) checkTranCount(before int, procedure string) error {
	after := x.s.tranCount()
	if after == before {
		return nil
	}
	e := sqltypes.Errorf(266, 2, 16, "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = %d, current count = %d.", before, after)
	e.Procedure = procedure
	return x.report(e, false)
}

// tranCount is @@TRANCOUNT.
func (s *Session) tranCount() int {
	if s.tx == nil {
		return 0
	}
	return s.tx.count
}

// xactState is XACT_STATE().
func (s *Session) xactState() int64 {
	switch {
	case s.tx == nil || s.tx.count == 0:
		return 0
	case s.tx.doomed:
		return -1
	}
	return 1
}

// Begin is the transaction manager's request to begin a transaction. isolation
// is that of MS-TDS 2.2.6.9: 0 keeps the session's, 1 to 5 set it.
func (s *Session) Begin(ctx context.Context, isolation byte, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error {
		if isolation > 5 {
			return unsupported("This isolation level")
		}
		if isolation > 0 {
			s.isolation = isolationLevels[isolation]
		}
		return x.beginTran(name)
	})
}

// Commit is the transaction manager's commit request.
func (s *Session) Commit(ctx context.Context, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error { return x.commitTran() })
}

// Rollback is the transaction manager's rollback request; name may be that of a
// savepoint.
func (s *Session) Rollback(ctx context.Context, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error { return x.rollbackTran(name) })
}

// Save is the transaction manager's request for a savepoint.
func (s *Session) Save(ctx context.Context, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error { return x.saveTran(name) })
}

func (s *Session) request(ctx context.Context, sink Sink, f func(x *Exec) error) error {
	ctx, end := s.begin(ctx)
	defer end()
	x := s.exec(ctx, sink)
	if err := f(x); err != nil {
		return x.report(err, true)
	}
	return sink.Done(DoneInfo{})
}
