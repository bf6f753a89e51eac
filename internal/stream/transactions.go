package stream

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// transactions numbers the events of a pass inside their transactions and marks
// where these begin and end. Nil does neither.
//
// A transaction is complete once its commit LSN is at or below the maximum: a
// pass reads whole ones, so that the end follows the last event at once.
// (Debezium says it with the first event of the next transaction, or when the
// capture job has found nothing.)
type transactions struct {
	encoder *event.Transactions

	id     lsn.LSN   // commit LSN of the one that the pass has come to
	when   time.Time // source time of its events
	total  int64     // its events so far, those delivered before included
	counts []event.CollectionCount
	index  map[*tracked]int // into counts
}

// newTransactions returns nil if transactions are not to be told of.
func newTransactions(encoder *event.Transactions) *transactions {
	if encoder == nil {
		return nil
	}
	return &transactions{encoder: encoder, index: map[*tracked]int{}}
}

// reach notes which transaction the next event belongs to.
func (x *transactions) reach(b *event.Batch, commit lsn.LSN, when time.Time) error {
	if x == nil || x.id == commit {
		return nil
	}
	if err := x.end(b); err != nil {
		return err
	}
	x.id, x.when = commit, when
	return nil
}

// order returns the place of a table's next event.
func (x *transactions) order(t *tracked) event.TransactionOrder {
	if x == nil {
		return event.TransactionOrder{}
	}
	o := event.TransactionOrder{Total: x.total + 1, Collection: 1}
	if i, ok := x.index[t]; ok {
		o.Collection += x.counts[i].Events
	}
	return o
}

// emitted counts the events of a row among the messages from had on, and puts
// the beginning before them if they are the first.
func (x *transactions) emitted(b *event.Batch, t *tracked, had int) error {
	if x == nil {
		return nil
	}
	var events int64
	for i := range b.Messages[had:] {
		if b.Messages[had+i].Kind == event.KindChange {
			events++
		}
	}
	if events > 0 && x.total == 0 {
		if err := x.encoder.Begin(b, t.shape.Database, x.id, lsn.BeginOf(x.id), x.when); err != nil {
			return err
		}
		last := len(b.Messages) - 1
		begin := b.Messages[last]
		copy(b.Messages[had+1:], b.Messages[had:last])
		b.Messages[had] = begin
	}
	x.count(t, events)
	return nil
}

// count takes events of a table into account.
func (x *transactions) count(t *tracked, events int64) {
	if events == 0 {
		return
	}
	i, ok := x.index[t]
	if !ok {
		i = len(x.counts)
		x.index[t] = i
		x.counts = append(x.counts, event.CollectionCount{Table: t.shape.ID()})
	}
	x.counts[i].Events += events
	x.total += events
}

// end appends the end of the transaction, unless it had no events.
func (x *transactions) end(b *event.Batch) error {
	if x == nil || x.total == 0 {
		return nil
	}
	err := x.encoder.End(b, x.counts[0].Table.Database, x.id, lsn.EndOf(x.id), x.when, x.counts)
	x.total, x.counts = 0, x.counts[:0]
	clear(x.index)
	return err
}
