package simulator

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// downlevel gives columns the types that the client's protocol has, and returns
// the types of those that changed, nil when none did.
func downlevel(columns []tds.Column, d tds.Dialect) []*sqltypes.Type {
	var changed []*sqltypes.Type
	for i := range columns {
		t := columns[i].Type
		sent := d.Type(t)
		if sent.ID == t.ID {
			continue
		}
		if changed == nil {
			changed = make([]*sqltypes.Type, len(columns))
		}
		changed[i], columns[i].Type = &t, sent
	}
	return changed
}

// toDownlevel converts the values of changed columns to what the client knows.
func toDownlevel(row []sqltypes.Value, changed []*sqltypes.Type, d tds.Dialect) ([]sqltypes.Value, error) {
	row = slices.Clone(row)
	for i, t := range changed {
		if t == nil || row[i].IsNull() {
			continue
		}
		var err error
		if row[i], err = sqltypes.Convert(row[i], *t, d.Type(*t), sqltypes.DefaultStyle); err != nil {
			return nil, err
		}
	}
	return row, nil
}
