package simulator

import (
	"errors"
	"io"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// bulkRows are a bulk load's rows as the engine reads them.
type bulkRows struct{ load *tds.BulkLoad }

var _ engine.BulkRows = bulkRows{}

func (b bulkRows) Types() []sqltypes.Type {
	types := make([]sqltypes.Type, len(b.load.Columns))
	for i, c := range b.load.Columns {
		types[i] = c.Type
	}
	return types
}

// Next gives the errors of the stream SQL Server's numbers.
func (b bulkRows) Next(row []sqltypes.Value) error {
	err := b.load.Next(row)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, tds.ErrBulkValue):
		return sqltypes.Errorf(9803, 1, 16, "Invalid data in the stream: %v.", err)
	}
	return sqltypes.Errorf(4804, 1, 16, "While reading current row from host, a premature end-of-message was encountered--an incoming "+
		"data stream was interrupted when the server expected to see more data. The host program may have terminated. "+
		"Ensure that you are using a supported client application programming interface (API): %v.", err)
}
