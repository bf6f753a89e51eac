package tds

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// TransactionOp is the kind of a transaction manager request (MS-TDS 2.2.6.9).
type TransactionOp uint16

// Kinds of transaction manager requests.
const (
	TransactionGetDTCAddress TransactionOp = 0
	TransactionPropagate     TransactionOp = 1
	TransactionBegin         TransactionOp = 5
	TransactionPromote       TransactionOp = 6
	TransactionCommit        TransactionOp = 7
	TransactionRollback      TransactionOp = 8
	TransactionSave          TransactionOp = 9
)

// Isolation levels of a begin request.
const (
	IsolationKeep            = 0
	IsolationReadUncommitted = 1
	IsolationReadCommitted   = 2
	IsolationRepeatableRead  = 3
	IsolationSerializable    = 4
	IsolationSnapshot        = 5
)

// TransactionRequest is a transaction manager request.
type TransactionRequest struct {
	Headers
	Op TransactionOp
	// Name is the transaction's or the savepoint's name.
	Name string
	// Isolation is the level of a begin, or of the transaction that Next opens.
	Isolation uint8
	// Next is set when a new transaction begins right after the commit or
	// rollback; NextName is its name.
	Next     bool
	NextName string
}

// ParseTransactionRequest reads a transaction manager request.
func ParseTransactionRequest(payload []byte) (TransactionRequest, error) {
	c := cursor{b: payload}
	r := TransactionRequest{Headers: c.headers(), Op: TransactionOp(c.u16())}
	switch r.Op {
	case TransactionBegin:
		r.Isolation = c.u8()
		r.Name = c.transactionName()
	case TransactionCommit, TransactionRollback:
		r.Name = c.transactionName()
		if flags := c.u8(); flags&1 != 0 {
			r.Next = true
			r.Isolation = c.u8()
			r.NextName = c.transactionName()
		}
	case TransactionSave:
		r.Name = c.transactionName()
	case TransactionGetDTCAddress, TransactionPropagate, TransactionPromote:
	default:
		c.fail("kind %d is unknown", r.Op)
	}
	if c.err != nil {
		return TransactionRequest{}, fmt.Errorf("reading transaction manager request: %w", c.err)
	}
	return r, nil
}

// transactionName reads a name whose length is given in bytes.
func (c *cursor) transactionName() string { return sqltypes.DecodeUTF16(c.bytes(int(c.u8()))) }
