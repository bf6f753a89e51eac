package tds

import (
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// AppendReturnStatus appends the integer that a procedure returned.
func AppendReturnStatus(dst []byte, status int32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, tokenReturnStatus), uint32(status))
}

// outputParameter is the status of a RETURNVALUE that is an output parameter
// of a procedure, not the value of a function.
const outputParameter = 1

// AppendReturnValue appends an output parameter (MS-TDS 2.2.7.19); ordinal is
// its position in the call, from 0.
func AppendReturnValue(dst []byte, name string, ordinal int, t sqltypes.Type, v sqltypes.Value) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, tokenReturnValue), uint16(ordinal))
	dst = append(appendBVarChar(dst, name), outputParameter)
	dst = binary.LittleEndian.AppendUint32(dst, userType(t))
	dst = binary.LittleEndian.AppendUint16(dst, columnNullable)
	dst = appendTypeInfo(dst, t, true)
	return compileColumn(t, true).appendTo(dst, v)
}
