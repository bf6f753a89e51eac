package tds

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// SQLBatch is a batch of statements as text (MS-TDS 2.2.6.7).
type SQLBatch struct {
	Headers
	Text string
}

// ParseSQLBatch reads a SQLBATCH message.
func ParseSQLBatch(payload []byte) (SQLBatch, error) {
	c := cursor{b: payload}
	b := SQLBatch{Headers: c.headers()}
	b.Text = sqltypes.DecodeUTF16(c.bytes(c.left()))
	if c.err != nil {
		return SQLBatch{}, fmt.Errorf("reading SQLBATCH: %w", c.err)
	}
	return b, nil
}
