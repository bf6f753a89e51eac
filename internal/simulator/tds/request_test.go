package tds

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// allHeaders is ALL_HEADERS with a transaction descriptor and a header of a
// type that is skipped.
func allHeaders(transaction uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 4+18+10)
	b = binary.LittleEndian.AppendUint32(b, 18)
	b = binary.LittleEndian.AppendUint16(b, headerTransactionDescriptor)
	b = binary.LittleEndian.AppendUint64(b, transaction)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, 10)
	return append(b, 3, 0, 1, 2, 3, 4)
}

func TestParseSQLBatch(t *testing.T) {
	b, err := ParseSQLBatch(appendUTF16(allHeaders(7), "SELECT N'é🙂'"))
	require.NoError(t, err)
	assert.Equal(t, SQLBatch{Headers{Transaction: 7, Outstanding: 1}, "SELECT N'é🙂'"}, b)

	for name, in := range map[string][]byte{
		"no headers":            {1, 0},
		"headers too long":      {200, 0, 0, 0, 1},
		"headers too short":     {3, 0, 0, 0},
		"header too long":       {10, 0, 0, 0, 200, 0, 0, 0, 2, 0},
		"header too short":      {10, 0, 0, 0, 1, 0, 0, 0, 2, 0},
		"descriptor of 2 bytes": {12, 0, 0, 0, 8, 0, 0, 0, 2, 0, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSQLBatch(in)
			require.ErrorContains(t, err, "reading SQLBATCH")
		})
	}
}

func TestParseTransactionRequest(t *testing.T) {
	name := func(s string) []byte {
		u := appendUTF16(nil, s)
		return append([]byte{uint8(len(u))}, u...)
	}
	request := func(op byte, rest ...byte) []byte { return append(append(allHeaders(9), op, 0), rest...) }
	headers := Headers{Transaction: 9, Outstanding: 1}
	tests := []struct {
		name string
		in   []byte
		want TransactionRequest
	}{
		{"begin", request(5, append([]byte{IsolationSnapshot}, name("t1")...)...), TransactionRequest{Headers: headers, Op: TransactionBegin, Isolation: IsolationSnapshot, Name: "t1"}},
		{"commit", request(7, 0, 0), TransactionRequest{Headers: headers, Op: TransactionCommit}},
		{"rollback and begin", request(8, append(append(name("sp"), 1, 2), name("next")...)...), TransactionRequest{Headers: headers, Op: TransactionRollback, Name: "sp", Next: true, Isolation: 2, NextName: "next"}},
		{"save", request(9, name("sp")...), TransactionRequest{Headers: headers, Op: TransactionSave, Name: "sp"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseTransactionRequest(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
	_, err := ParseTransactionRequest(request(77))
	require.ErrorContains(t, err, "kind 77 is unknown")
	_, err = ParseTransactionRequest(request(9))
	require.ErrorContains(t, err, "unexpected EOF")
}

// rpcParam writes one parameter as a client does.
func rpcParam(name string, status uint8, rest ...byte) []byte {
	return append(append(appendBVarChar(nil, name), status), rest...)
}

func rpcMessage(parts ...[]byte) []byte {
	b := allHeaders(0)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

var (
	rpcExecuteSQL = []byte{0xFF, 0xFF, 10, 0, 0, 0}
	rpcByName     = append(append([]byte{3, 0}, appendUTF16(nil, "p_x")...), 2, 0)
)

func TestParseRPC(t *testing.T) {
	_, calls, err := ParseRPC(rpcMessage(
		rpcExecuteSQL,
		rpcParam("@a", 1, 0x26, 4, 4, 0xFE, 0xFF, 0xFF, 0xFF),
		rpcParam("", 2, 0x1F),
		[]byte{0xFF},
		rpcByName,
		[]byte{0xFF},
		rpcByName,
		rpcParam("@d", 0, 0x28, 3, 1, 0, 0),
	))
	require.NoError(t, err)
	require.Len(t, calls, 3)
	assert.Equal(t, "sp_executesql", calls[0].Procedure)
	require.Len(t, calls[0].Params, 2)
	assert.Equal(t, Param{Name: "@a", Type: sqltypes.Simple(sqltypes.Int), Value: sqltypes.IntOf(-2), Output: true}, calls[0].Params[0])
	assert.Equal(t, Param{Type: sqltypes.Type{}, Default: true}, calls[0].Params[1])
	assert.Equal(t, RPC{Procedure: "p_x", Options: RPCNoMetadata}, calls[1])
	assert.Equal(t, sqltypes.DateOf(1), calls[2].Params[0].Value)
}

func TestParseRPC_Malformed(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		want string
	}{
		{"unknown number", rpcMessage([]byte{0xFF, 0xFF, 99, 0, 0, 0}), "procedure number 99 is unknown"},
		{"unknown type", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0x01)), `parameter 0 ("@a"): type 0x01 is unknown`},
		{"table type", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0xF3)), "unexpected EOF"},
		{"cut value", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0x26, 4, 4, 0)), "unexpected EOF"},
		{"int of 3 bytes", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0x26, 3, 0)), "type 0x26 of 3 bytes is unknown"},
		{"decimal(39,0)", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0x6A, 17, 39, 0, 0)), "decimal(39,0) is not a type"},
		{"time(8)", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0x29, 8, 0)), "time of scale 8 is not a type"},
		{"varbinary(8001)", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0xA5, 0x41, 0x1F, 0xFF, 0xFF)), "varbinary of 8001 bytes is not a type"},
		{"PLP total and chunks differ", rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0xA5, 0xFF, 0xFF, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0)), "value of 1 bytes announced 5"},
		{"separator at the end", rpcMessage(rpcByName, []byte{0xFF}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ParseRPC(tt.in)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// Values whose bytes are whole but mean nothing in their type are kept apart
// from malformed messages: SQL Server answers them with error 8023.
func TestParseRPC_InvalidValues(t *testing.T) {
	tests := map[string][]byte{
		"date after 9999":         {0x28, 3, 0xFF, 0xFF, 0xFF},
		"time of 24 hours":        {0x29, 0, 3, 0x80, 0x51, 0x01},
		"offset of 15 hours":      {0x2B, 0, 8, 0, 0, 0, 0, 0, 0, 0x84, 0x03},
		"datetime before 1753":    {0x6F, 8, 8, 0x00, 0x2E, 0xFF, 0xFF, 0, 0, 0, 0},
		"smalldatetime of 1440 m": {0x6F, 4, 4, 0, 0, 0xA0, 0x05},
		"NaN":                     {0x6D, 8, 8, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F},
		"infinite real":           {0x6D, 4, 4, 0, 0, 0x80, 0x7F},
		"decimal(2,0) of 100":     {0x6A, 5, 2, 0, 5, 1, 100, 0, 0, 0},
		"half a character":        {0xE7, 4, 0, 9, 4, 0xD0, 0, 0x34, 3, 0, 'a', 0, 'b'},
		"variant of no type":      {0x62, 9, 0, 0, 0, 3, 0, 0, 0, 0x01, 0, 0},
	}
	for name, value := range tests {
		t.Run(name, func(t *testing.T) {
			_, calls, err := ParseRPC(rpcMessage(rpcExecuteSQL, rpcParam("@bad", 0, value...), rpcParam("@good", 0, 0x26, 1, 1, 5)))
			require.NoError(t, err)
			require.Len(t, calls[0].Params, 2)
			assert.True(t, calls[0].Params[0].Invalid)
			assert.False(t, calls[0].Params[1].Invalid)
			assert.Equal(t, int64(5), calls[0].Params[1].Value.Int64())
		})
	}
}

func FuzzParseRPC(f *testing.F) {
	f.Add(rpcMessage(rpcExecuteSQL, rpcParam("@a", 1, 0x26, 4, 4, 1, 0, 0, 0), []byte{0xFF}, rpcByName))
	f.Add(rpcMessage(rpcExecuteSQL, rpcParam("@a", 0, 0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 'a', 0, 0, 0, 0, 0)))
	f.Add(rpcMessage(rpcExecuteSQL, rpcParam("@v", 0, 0x62, 73, 31, 0, 0, 6, 0, 0, 0, 0x38, 0, 1, 0, 0, 0)))
	f.Add(rpcMessage(rpcExecuteSQL, rpcParam("@x", 0, 0xF1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
	f.Add(rpcMessage(rpcByName, rpcParam("@t", 0, 0xF3, 0, 0, 1, 'x', 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0x10, 1, 0, 1, 0, 2, 0x11, 1, 0, 1, 0, 0, 1, 4, 7, 0, 0, 0, 0)))
	f.Add(rpcMessage(rpcByName, rpcParam("@t", 0, 0xF3, 0, 0, 1, 'x', 0, 0xFF, 0xFF, 0, 0)))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, calls, err := ParseRPC(in)
		if err != nil {
			return
		}
		for _, call := range calls {
			for _, p := range call.Params {
				if !p.Value.IsNull() { // what was read can be sent back
					AppendReturnValue(nil, p.Name, 0, p.Type, p.Value)
				}
			}
		}
	})
}

func FuzzParseSQLBatch(f *testing.F) {
	f.Add(appendUTF16(allHeaders(1), "SELECT 1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := ParseSQLBatch(in)
		if err == nil {
			again, err := ParseSQLBatch(appendUTF16(allHeaders(b.Transaction), b.Text))
			require.NoError(t, err)
			require.Equal(t, b.Text, again.Text)
		}
	})
}

func FuzzParseTransactionRequest(f *testing.F) {
	f.Add(append(allHeaders(1), 7, 0, 0, 0))
	f.Fuzz(func(_ *testing.T, in []byte) { _, _ = ParseTransactionRequest(in) })
}
