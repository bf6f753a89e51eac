package cdc

import (
	"encoding/binary"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// idleInterval is how long the mapping table may stay without a new row. The
// job looks every five seconds, so that a quiet database shows one row about
// every 305 s (recorded on 2022 CU27).
const idleInterval = 300 * time.Second

// scan is one pass of the capture job over the log: one transaction of the
// database, in which change rows, mapping rows and the mark of how far the log
// was read appear together.
type scan struct {
	x         *engine.Exec
	txn       *storage.Txn
	instances map[int64][]*instance
	mapping   *engine.Table

	transactions, records, commands, schemaChanges int64
	first, last                                    storage.LSN // of the transactions that wrote rows
	lastTime                                       time.Time
}

// newScan prepares a pass inside the system's transaction.
func newScan(x *engine.Exec) (*scan, error) {
	txn, err := x.Txn()
	if err != nil {
		return nil, err
	}
	s := &scan{x: x, txn: txn, mapping: tableNamed(x, "cdc", "lsn_time_mapping")}
	s.instances, err = loadInstances(x)
	return s, err
}

// capture writes the rows of transactions and moves the mark behind them.
func (s *scan) capture(transactions []storage.LoggedTxn) error {
	for i := range transactions {
		if err := s.transaction(&transactions[i]); err != nil {
			return err
		}
	}
	upTo := transactions[len(transactions)-1].CommitLSN
	return s.txn.PutMeta(capturedKey, upTo[:])
}

func (s *scan) transaction(t *storage.LoggedTxn) error {
	c := newConverter(t.CommitLSN, s.insert)
	for i := range t.Records {
		r := &t.Records[i]
		s.records++
		var err error
		if r.Op == storage.LogMarker {
			err = s.applyMarker(t, r)
		} else {
			err = c.record(r, s.instances[r.Table])
		}
		if err != nil {
			return &failedScanError{scanPlace{t.CommitLSN, t.BeginLSN, r.LSN}, err}
		}
	}
	s.transactions++
	if c.rows == 0 {
		return nil
	}
	s.commands += c.command
	if s.first.IsZero() {
		s.first = t.CommitLSN
	}
	s.last, s.lastTime = t.CommitLSN, t.CommitTime
	return s.mapTransaction(t)
}

// insert stores a change row. It goes to the storage directly: a million rows
// take seconds, not statements.
func (s *scan) insert(in *instance, row storage.Row) error {
	_, err := s.txn.Insert(in.table, row, storage.WriteOptions{Unlogged: true})
	return err
}

// mapTransaction writes the mapping row of a captured commit.
func (s *scan) mapTransaction(t *storage.LoggedTxn) error {
	id := binary.LittleEndian.AppendUint64(nil, t.ID)
	return s.mapRow(t.CommitLSN, t.BeginTime, t.CommitTime, id[:6], lsnValue(t.BeginLSN))
}

// mapIdle writes the row of a quiet period, whose tran_id is 0x00.
func (s *scan) mapIdle(lsn storage.LSN, now time.Time) error {
	return s.mapRow(lsn, now, now, []byte{0}, lsnValue(storage.LSN{}))
}

func (s *scan) mapRow(lsn storage.LSN, begin, end time.Time, id []byte, beginLSN sqltypes.Value) error {
	row := make(storage.Row, s.mapping.Width)
	loc := s.x.Location()
	for name, v := range map[string]sqltypes.Value{
		"start_lsn": lsnValue(lsn), "tran_begin_time": localTime(begin, loc), "tran_end_time": localTime(end, loc),
		"tran_id": sqltypes.BytesOf(id), "tran_begin_lsn": beginLSN,
	} {
		row[s.mapping.Column(name).ID-1] = v
	}
	_, err := s.txn.Insert(s.mapping.ID, row, storage.WriteOptions{Unlogged: true})
	return err
}
