package tds

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// procedures are the names of the procedures that RPC can call by number
// (MS-TDS 2.2.6.6).
var procedures = map[uint16]string{
	1:  "sp_cursor",
	2:  "sp_cursoropen",
	3:  "sp_cursorprepare",
	4:  "sp_cursorexecute",
	5:  "sp_cursorprepexec",
	6:  "sp_cursorunprepare",
	7:  "sp_cursorfetch",
	8:  "sp_cursoroption",
	9:  "sp_cursorclose",
	10: "sp_executesql",
	11: "sp_prepare",
	12: "sp_execute",
	13: "sp_prepexec",
	14: "sp_prepexecrpc",
	15: "sp_unprepare",
}

// RPC is one call of a procedure; a message may hold several.
type RPC struct {
	// Procedure is the name, also when the client sent a number.
	Procedure string
	Options   uint16
	Params    []Param
}

// Bits of RPC.Options.
const (
	RPCWithRecompile = 1
	RPCNoMetadata    = 2
)

// Param is one parameter of an RPC.
type Param struct {
	// Name carries its leading @, or is empty for a positional parameter.
	Name string
	Type sqltypes.Type
	// Value is NULL for an invalid value, see Invalid.
	Value   sqltypes.Value
	Output  bool
	Default bool
	// Table is set for a table-valued parameter, which has no Value.
	Table *TableValue
	// Invalid says that the value's bytes mean nothing in its type, which SQL
	// Server answers with error 8023.
	Invalid bool
}

// Bits of a parameter's status.
const (
	paramOutput  = 0x01
	paramDefault = 0x02
)

// Bytes that stand between two calls where a parameter's name length would be:
// names have at most 128 characters. The second takes a call out of the batch,
// which no client is known to do; it is refused.
const (
	batchSeparator       = 0xFF
	batchSeparatorNoExec = 0xFE
	procedureByNumber    = 0xFFFF
)

// ParseRPC reads an RPC message.
func ParseRPC(payload []byte) (Headers, []RPC, error) {
	c := cursor{b: payload}
	headers := c.headers()
	var calls []RPC
	for c.err == nil {
		calls = append(calls, c.rpc())
		if c.left() <= 1 { // the last call may have a separator too
			break
		}
		c.u8() // the separator, which ended the parameters
	}
	if c.err != nil {
		return Headers{}, nil, fmt.Errorf("reading RPC: %w", c.err)
	}
	return headers, calls, nil
}

func (c *cursor) rpc() RPC {
	var call RPC
	if n := c.u16(); n == procedureByNumber {
		id := c.u16()
		call.Procedure = procedures[id]
		if call.Procedure == "" && c.err == nil {
			c.fail("procedure number %d is unknown", id)
		}
	} else {
		call.Procedure = sqltypes.DecodeUTF16(c.bytes(2 * int(n)))
	}
	call.Options = c.u16()
	for c.err == nil {
		next, ok := c.peek(0)
		if !ok || next == batchSeparator {
			break
		}
		if next == batchSeparatorNoExec {
			c.fail("calls that are not to be executed (NoExecFlag) are not supported")
			break
		}
		call.Params = append(call.Params, c.param(len(call.Params)))
	}
	return call
}

func (c *cursor) param(ordinal int) Param {
	p := Param{Name: c.bVarChar()}
	status := c.u8()
	p.Output = status&paramOutput != 0
	p.Default = status&paramDefault != 0
	if id, ok := c.peek(0); ok && id == typeTable {
		c.u8()
		p.Table, p.Invalid = c.tableValue()
	} else {
		w := c.typeInfo(false)
		p.Type = w.t
		p.Value, p.Invalid = c.value(w)
	}
	if c.err != nil {
		c.err = fmt.Errorf("parameter %d (%q): %w", ordinal, p.Name, c.err)
	}
	return p
}
