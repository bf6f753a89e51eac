package tds

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// tvp is TVP_TYPE_INFO of the type dbo.x without its columns.
func tvp(tail ...byte) []byte {
	return append([]byte{0xF3, 0, 3, 'd', 0, 'b', 0, 'o', 0, 1, 'x', 0}, tail...)
}

func TestParseRPC_TableValue(t *testing.T) {
	columns := []byte{2, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0, 0, 0, 0, 0, 2, 0x38, 0} // the second has the default flag
	_, calls, err := ParseRPC(rpcMessage(rpcByName, rpcParam("@t", 0, tvp(append(columns, 0, 1, 4, 7, 0, 0, 0, 1, 0, 0)...)...)))
	require.NoError(t, err)
	assert.Equal(t, &TableValue{
		Schema: "dbo", Name: "x",
		Columns: []BulkColumn{{Type: sqltypes.Simple(sqltypes.Int)}, {Type: sqltypes.Simple(sqltypes.Int), Default: true}},
		Rows:    [][]sqltypes.Value{{sqltypes.IntOf(7)}, {{}}},
	}, calls[0].Params[0].Table)

	one := []byte{1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0}
	for name, tail := range map[string][]byte{
		"cut columns":            {2, 0, 0},
		"cut":                    one,
		"cut row":                append(append([]byte(nil), one...), 0, 1, 4),
		"no end":                 append(append([]byte(nil), one...), 0, 1, 0),
		"token between":          append(append([]byte(nil), one...), 0x12, 0),
		"token in rows":          append(append([]byte(nil), one...), 0, 2, 0),
		"rows without columns":   {0, 0, 0, 1, 1, 1, 1, 0},
		"rows of NULL":           {0xFF, 0xFF, 0, 1, 0},
		"order of other columns": append(append([]byte(nil), one...), 0x11, 2, 0, 1, 0, 2, 0, 0, 0),
		"order outside":          append(append([]byte(nil), one...), 0x11, 1, 0, 2, 0, 0, 0),
		"order of column 0":      append(append([]byte(nil), one...), 0x11, 1, 0, 0, 0, 0, 0),
		"text":                   {1, 0, 0, 0, 0, 0, 0, 0, 0xF3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ParseRPC(rpcMessage(rpcByName, rpcParam("@t", 0, tvp(tail...)...)))
			require.Error(t, err)
		})
	}
}
