package tds

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Trace prints the tokens of a response, one a line, for tests and for looking
// at recorded traffic. What it cannot read ends the trace with the reason.
func Trace(payload []byte) string {
	t := tracer{cursor: cursor{b: payload}}
	for t.err == nil && t.left() > 0 {
		t.token()
	}
	if t.err != nil {
		fmt.Fprintf(&t.out, "!! %v\n", t.err)
	}
	return t.out.String()
}

type tracer struct {
	cursor
	out     strings.Builder
	columns []wireType
}

func (t *tracer) printf(format string, args ...any) { fmt.Fprintf(&t.out, format+"\n", args...) }

func (t *tracer) token() {
	switch token := t.u8(); token {
	case tokenLoginAck:
		t.loginAck(t.sized())
	case tokenEnvChange:
		t.envChange(t.sized())
	case tokenError, tokenInfo:
		t.notice(token, t.sized())
	case tokenOrder:
		c := t.sized()
		var columns []string
		for c.left() > 1 {
			columns = append(columns, fmt.Sprint(c.u16()))
		}
		t.printf("ORDER %s", strings.Join(columns, " "))
	case tokenColMetadata:
		t.colMetadata()
	case tokenRow:
		t.row(nil)
	case tokenNBCRow:
		t.row(t.bytes((len(t.columns) + 7) / 8))
	case tokenDone, tokenDoneProc, tokenDoneInProc:
		t.done(token)
	case tokenReturnStatus:
		t.printf("RETURNSTATUS %d", int32(t.u32()))
	case tokenReturnValue:
		t.returnValue()
	case tokenFeatureExtAck:
		t.featureExtAck()
	default:
		t.fail("token 0x%02X is unknown", token)
	}
}

// sized returns the body of a token with a u16 length.
func (t *tracer) sized() *cursor { return &cursor{b: t.bytes(int(t.u16()))} }

func (t *tracer) loginAck(c *cursor) {
	c.u8()
	version := uint32(c.u8())<<24 | uint32(c.u8())<<16 | uint32(c.u8())<<8 | uint32(c.u8())
	program := c.bVarChar()
	major, minor := c.u8(), c.u8()
	build := int(c.u8())<<8 | int(c.u8())
	t.printf("LOGINACK version %08x program %q %d.%d.%d", version, program, major, minor, build)
}

func (t *tracer) envChange(c *cursor) {
	kind := c.u8()
	switch kind {
	case EnvRouting:
		value := &cursor{b: c.bytes(int(c.u16()))}
		protocol, port, host := value.u8(), value.u16(), value.usVarChar()
		t.printf("ENVCHANGE %d protocol %d port %d host %q", kind, protocol, port, host)
	case EnvCollation, EnvBegin, EnvCommit, EnvRollback, EnvResetAck:
		newValue := c.bytes(int(c.u8()))
		oldValue := c.bytes(int(c.u8()))
		t.printf("ENVCHANGE %d new %x old %x", kind, newValue, oldValue)
	default:
		newValue, oldValue := c.bVarChar(), c.bVarChar()
		t.printf("ENVCHANGE %d new %q old %q", kind, newValue, oldValue)
	}
}

func (t *tracer) notice(token uint8, c *cursor) {
	name := "ERROR"
	if token == tokenInfo {
		name = "INFO"
	}
	number, state, class := int32(c.u32()), c.u8(), c.u8()
	text, server, procedure := c.usVarChar(), c.bVarChar(), c.bVarChar()
	t.printf("%s %d state %d class %d %q server %q procedure %q line %d",
		name, number, state, class, text, server, procedure, int32(c.u32()))
}

func (t *tracer) colMetadata() {
	n := int(t.u16())
	if n == noColumns {
		t.printf("COLMETADATA as before")
		return
	}
	t.columns = nil
	t.printf("COLMETADATA %d", n)
	for range n {
		if t.err != nil {
			return
		}
		user, flags := t.u32(), t.u16()
		w := t.typeInfo(true)
		table := ""
		if carriesTableName(w.t.ID) {
			for range t.u8() {
				table += " table " + t.usVarChar()
			}
		}
		t.columns = append(t.columns, w)
		t.printf("  %q %v wire 0x%02X user %d flags 0x%02X%s", t.bVarChar(), w.t, w.id, user, flags, table)
	}
}

// row prints a row; nulls is the bitmap of NBCROW, nil for ROW.
func (t *tracer) row(nulls []byte) {
	name := "ROW"
	if nulls != nil {
		name = "NBCROW"
	}
	var values []string
	for i, w := range t.columns {
		if nulls != nil && nulls[i/8]&(1<<(i%8)) != 0 {
			values = append(values, "NULL")
			continue
		}
		v, invalid := t.value(w)
		values = append(values, printValue(v, invalid))
	}
	t.printf("%s %s", name, strings.Join(values, " | "))
}

func (t *tracer) done(token uint8) {
	name := map[uint8]string{tokenDone: "DONE", tokenDoneProc: "DONEPROC", tokenDoneInProc: "DONEINPROC"}[token]
	status, command, count := t.u16(), t.u16(), t.u64()
	var flags []string
	for _, f := range []struct {
		bit  uint16
		name string
	}{
		{DoneMore, "more"},
		{DoneError, "error"},
		{DoneInTransaction, "transaction"},
		{DoneAttention, "attention"},
		{DoneServerError, "server-error"},
	} {
		if status&f.bit != 0 {
			flags = append(flags, f.name)
		}
	}
	line := fmt.Sprintf("%s [%s] command 0x%X", name, strings.Join(flags, " "), command)
	if status&DoneCount != 0 {
		line += fmt.Sprintf(" count %d", count)
	}
	t.printf("%s", line)
}

func (t *tracer) returnValue() {
	ordinal, name, status := t.u16(), t.bVarChar(), t.u8()
	t.u32()
	t.u16()
	w := t.typeInfo(true)
	v, invalid := t.value(w)
	t.printf("RETURNVALUE %d %q status %d %v %s", ordinal, name, status, w.t, printValue(v, invalid))
}

func (t *tracer) featureExtAck() {
	for t.err == nil {
		id := t.u8()
		if id == featureTerminator {
			return
		}
		t.printf("FEATUREEXTACK %d %x", id, t.bytes(int(t.u32())))
	}
}

func printValue(v sqltypes.Value, invalid bool) string {
	if invalid {
		return "!invalid"
	}
	switch v.Kind() {
	case sqltypes.KindNull:
		return "NULL"
	case sqltypes.KindInt, sqltypes.KindMoney:
		return fmt.Sprint(v.Int64())
	case sqltypes.KindFloat:
		return fmt.Sprint(v.Float64())
	case sqltypes.KindDecimal:
		d := v.Dec()
		sign := ""
		if d.Neg {
			sign = "-"
		}
		return fmt.Sprintf("%s(%d,%d)e-%d", sign, d.Hi, d.Lo, d.Scale)
	case sqltypes.KindText:
		return fmt.Sprintf("%q", v.Str())
	case sqltypes.KindBytes:
		return "0x" + hex.EncodeToString([]byte(v.Raw()))
	case sqltypes.KindGUID:
		return fmt.Sprintf("%x", v.GUID())
	}
	return fmt.Sprintf("day %d tick %d offset %d", v.Days(), v.Ticks(), v.Offset())
}
