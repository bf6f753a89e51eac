package engine

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

func (in *Instance) registerTransactionViews() {
	in.registerLockView()
	in.registerOpenTransactionViews()
	in.registerSessionViews()
	in.registerWhoProcedures()
	in.registerRecoveryStatus()
}

// dynamicView registers a view of schema sys whose columns are pairs of a name and a
// type, as on Microsoft's page of the view.
func (in *Instance) dynamicView(name string, columns []any, rows func(x *Exec, emit rowEmitter) error) {
	v := View{Schema: "sys", Name: name, Rows: func(x *Exec, _ *Database, emit func([]value) error) error { return rows(x, emit) }}
	for i := 0; i < len(columns); i += 2 {
		v.Columns = append(v.Columns, Column{Name: columns[i].(string), Type: columns[i+1].(sqltypes.Type), Nullable: true})
	}
	in.RegisterView(v)
}

// lockResource is how a lock is shown.
func lockResource(l storage.LockInfo, heap func(storage.LockInfo) bool) (kind, description string) {
	switch {
	case l.App != "":
		return "APPLICATION", fmt.Sprintf("0:[%.32s]:(%08x)", appLockName(l.App), hash32(l.App))
	case l.Range:
		return "KEY", "(range)"
	case l.Row != 0 && heap(l):
		return "RID", fmt.Sprintf("1:%d:%d", 100+uint64(l.Row)/64, uint64(l.Row)%64)
	case l.Row != 0:
		return "KEY", fmt.Sprintf("(%012x)", uint64(l.Row))
	case l.Table == 0:
		return "DATABASE", ""
	}
	return "OBJECT", ""
}

// hash32 is FNV-1a.
func hash32(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// lockMode is the mode as shown: a range is one of RangeS-S and RangeS-U.
func lockMode(l storage.LockInfo) string {
	if l.Range {
		return "RangeS-" + l.Mode.String()
	}
	return l.Mode.String()
}

func lockStatus(l storage.LockInfo) string {
	switch {
	case l.Converting:
		return "CONVERT"
	case l.Waiting:
		return "WAIT"
	}
	return "GRANT"
}

// shownLocks are the locks of sessions, without those of the catalogue.
func (x *Exec) shownLocks() []storage.LockInfo {
	var list []storage.LockInfo
	for _, s := range x.in.Sessions() {
		list = append(list, storage.LockInfo{Database: s.currentDB().id, Mode: storage.LockS, SPID: s.spid})
	}
	for _, l := range x.in.store.Locks() {
		if l.SPID != 0 && (l.Table > 0 || l.App != "") {
			list = append(list, l)
		}
	}
	return list
}

// isHeap reports that a lock's table has no clustered index.
func (x *Exec) isHeap(l storage.LockInfo) bool {
	db := x.in.DatabaseByID(l.Database)
	if db == nil {
		return false
	}
	t := db.Table(l.Table)
	if t == nil {
		return false
	}
	for _, ix := range t.Indexes {
		if ix.Clustered {
			return false
		}
	}
	return true
}

func (in *Instance) registerLockView() {
	in.dynamicView("dm_tran_locks", []any{
		"resource_type", vDesc, "resource_subtype", vDesc, "resource_database_id", typeInt, "resource_description", catalogText(sqltypes.NVarCharOf(256)),
		"resource_associated_entity_id", typeBigInt, "resource_lock_partition", typeInt, "request_mode", vDesc, "request_type", vDesc, "request_status", vDesc,
		"request_reference_count", typeSmallInt, "request_lifetime", typeInt, "request_session_id", typeInt, "request_exec_context_id", typeInt,
		"request_request_id", typeInt, "request_owner_type", vDesc, "request_owner_id", typeBigInt,
	}, func(x *Exec, emit rowEmitter) error {
		if err := x.NeedServerState(); err != nil {
			return err
		}
		for _, l := range x.shownLocks() {
			kind, description := lockResource(l, x.isHeap)
			owner := "TRANSACTION"
			if kind == "DATABASE" {
				owner = "SHARED_TRANSACTION_WORKSPACE"
			}
			row := []value{
				text(kind), text(""), integer(int64(l.Database)), text(description), integer(l.Table), integer(0), text(lockMode(l)), text("LOCK"), text(lockStatus(l)),
				integer(1), integer(0), integer(int64(l.SPID)), integer(0), integer(0), text(owner), integer(x.transactionID(l.SPID, l.Database, l.Txn)),
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// transactionID is the number under which a session's transaction is shown: its
// descriptor, or one of its own for a statement in autocommit mode.
func (x *Exec) transactionID(spid, database int, txn uint64) int64 {
	for _, s := range x.in.Sessions() {
		if s.spid != spid {
			continue
		}
		if o := s.shown(x); o.transaction != 0 {
			return int64(o.transaction)
		}
	}
	return int64(database)<<40 | int64(txn)
}

// shown is a session's state as x may see it.
func (s *Session) shown(x *Exec) *sessionState {
	if s == x.s {
		s.showOutside()
	}
	return s.outside.Load()
}

func (in *Instance) registerOpenTransactionViews() {
	in.dynamicView("dm_tran_active_transactions", []any{
		"transaction_id", typeBigInt, "name", catalogText(sqltypes.NVarCharOf(32)), "transaction_begin_time", typeDateTime, "transaction_type", typeInt,
		"transaction_uow", typeGUID, "transaction_state", typeInt, "transaction_status", typeInt, "transaction_status2", typeInt, "dtc_state", typeInt,
	}, func(x *Exec, emit rowEmitter) error {
		return x.eachTransaction(func(_ *Session, o *sessionState) error {
			name := o.name
			if name == "" {
				name = "user_transaction"
			}
			return emit([]value{integer(int64(o.transaction)), text(name), x.dateTime(o.transactionAt), integer(1), {}, integer(2), integer(0), integer(0), integer(0)})
		})
	})
	in.dynamicView("dm_tran_session_transactions", []any{
		"session_id", typeInt, "transaction_id", typeBigInt, "transaction_descriptor",
		sqltypes.Type{ID: sqltypes.Binary, Length: 8},
		"enlist_count", typeInt,
		"is_user_transaction", typeBit, "is_local", typeBit, "is_enlisted", typeBit, "is_bound", typeBit, "open_transaction_count", typeInt,
	}, func(x *Exec, emit rowEmitter) error {
		return x.eachTransaction(func(s *Session, o *sessionState) error {
			descriptor := binary.LittleEndian.AppendUint64(nil, o.transaction)
			return emit([]value{
				integer(int64(s.spid)), integer(int64(o.transaction)), sqltypes.BytesOf(descriptor), integer(1),
				boolean(true), boolean(true), boolean(false), boolean(false), integer(o.transactions),
			})
		})
	})
	lsn := sqltypes.Type{ID: sqltypes.Numeric, Precision: 25}
	in.dynamicView("dm_tran_database_transactions", []any{
		"transaction_id", typeBigInt, "database_id", typeInt, "database_transaction_begin_time", typeDateTime, "database_transaction_type", typeInt,
		"database_transaction_state", typeInt, "database_transaction_status", typeInt, "database_transaction_status2", typeInt,
		"database_transaction_log_record_count", typeBigInt, "database_transaction_begin_lsn", lsn,
	}, func(x *Exec, emit rowEmitter) error {
		if err := x.NeedServerState(); err != nil {
			return err
		}
		for _, t := range x.in.store.Transactions() {
			if t.SPID == 0 {
				continue
			}
			state, begun, first := int64(3), value{}, value{}
			if !t.Begun.IsZero() {
				var err error
				if first, err = sqltypes.Convert(text(numericLSN(t.BeginLSN)), typeText, lsn, 0); err != nil {
					return err
				}
				state, begun = 4, x.dateTime(t.Begun)
			}
			row := []value{integer(x.transactionID(t.SPID, t.Database, t.ID)), integer(int64(t.Database)), begun, integer(1), integer(state), integer(0), integer(0), integer(t.Records), first}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
	in.dynamicView("dm_tran_active_snapshot_database_transactions", []any{
		"transaction_id", typeBigInt, "transaction_sequence_num", typeBigInt, "commit_sequence_num", typeBigInt, "is_snapshot", typeInt, "session_id", typeInt,
		"first_snapshot_sequence_num", typeBigInt, "max_version_chain_traversed", typeInt, "average_version_chain_traversed", sqltypes.Simple(sqltypes.Real), "elapsed_time_seconds", typeBigInt,
	}, func(x *Exec, emit rowEmitter) error {
		if err := x.NeedServerState(); err != nil {
			return err
		}
		for _, t := range x.in.store.Transactions() {
			if !t.Snapshot {
				continue
			}
			row := []value{
				integer(x.transactionID(t.SPID, t.Database, t.ID)), integer(int64(t.SnapshotAt)),
				{},
				integer(1), integer(int64(t.SPID)),
				integer(int64(t.SnapshotAt)), integer(0), sqltypes.FloatOf(0), integer(int64(x.Now().Sub(t.ViewedAt).Seconds())),
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachTransaction calls f with the sessions that have a user transaction open.
func (x *Exec) eachTransaction(f func(s *Session, o *sessionState) error) error {
	if err := x.NeedServerState(); err != nil {
		return err
	}
	for _, s := range x.in.Sessions() {
		if o := s.shown(x); o.transaction != 0 {
			if err := f(s, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// numericLSN is an LSN as the decimal number of numeric(25,0) columns: VLF, then block
// in ten and slot in five digits.
func numericLSN(l storage.LSN) string {
	vlf, block, slot := l.Parts()
	n, ok := new(big.Int).SetString(fmt.Sprintf("%d%010d%05d", vlf, block, slot), 10)
	if !ok {
		return "0"
	}
	return n.String()
}

// registerRecoveryStatus registers sys.database_recovery_status, which Azure SQL
// Database does not have (MS docs).
func (in *Instance) registerRecoveryStatus() {
	if in.IsAzure() {
		return
	}
	lsn := sqltypes.Type{ID: sqltypes.Numeric, Precision: 25}
	in.dynamicView("database_recovery_status", []any{
		"database_id", typeInt, "database_guid", typeGUID, "family_guid", typeGUID, "last_log_backup_lsn", lsn,
		"recovery_fork_guid", typeGUID, "first_recovery_fork_guid", typeGUID, "fork_point_lsn", lsn,
	}, func(x *Exec, emit rowEmitter) error {
		for _, db := range x.in.Databases() {
			o := db.Options()
			row := []value{integer(int64(db.id))}
			for _, part := range []struct {
				text string
				typ  sqltypes.Type
			}{{o.DatabaseGUID, typeGUID}, {o.FamilyGUID, typeGUID}, {o.LastLogBackup, lsn}, {o.RecoveryFork, typeGUID}, {o.FirstFork, typeGUID}, {o.ForkPoint, lsn}} {
				v, err := optionValue(part.text, part.typ)
				if err != nil {
					return err
				}
				row = append(row, v)
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// optionValue is a GUID or an LSN of the options, NULL for none.
func optionValue(s string, t sqltypes.Type) (value, error) {
	if s == "" {
		return value{}, nil
	}
	if t.ID == sqltypes.Numeric {
		l, err := storage.ParseLSN(s)
		if err != nil {
			return value{}, err
		}
		s = numericLSN(l)
	}
	return sqltypes.Convert(text(s), typeText, t, 0)
}

// milliseconds is the time since t, 0 for none.
func (x *Exec) milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return x.Now().Sub(t).Milliseconds()
}
