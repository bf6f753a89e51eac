package simulator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// rpcByNumber is a call by ProcID (MS-TDS 2.2.6.6).
func rpcByNumber(id byte, params ...[]byte) []byte {
	b := []byte{0xFF, 0xFF, id, 0, 0, 0}
	for _, p := range params {
		b = append(b, p...)
	}
	return b
}

// intParam is an unnamed int parameter, NULL for nil.
func intParam(status byte, v ...byte) []byte {
	b := []byte{0, status, 0x26, 4, byte(len(v))}
	return append(b, v...)
}

// textParam is an unnamed nvarchar parameter.
func textParam(s string) []byte {
	b := []byte{0, 0, 0xE7, 0x40, 0x1F, 0x09, 0x04, 0xD0, 0x00, 0x34}
	text := sqltypes.AppendUTF16(nil, s)
	return append(append(b, byte(len(text)), byte(len(text)>>8)), text...)
}

func (c *rawClient) call(calls ...[]byte) string {
	c.t.Helper()
	body := headers()
	for i, call := range calls {
		if i > 0 {
			body = append(body, 0xFF)
		}
		body = append(body, call...)
	}
	c.send(tds.PacketRPC, 1, body)
	return c.receive()
}

func TestWire_PreparedStatements(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE PROCEDURE addone @n int, @sum int OUTPUT AS SET @sum = @n + 1 RETURN 5")
	c := newRawServerClient(t, s)
	const noHandle = `ERROR 8179 state 1 class 16 "Could not find prepared statement with handle `
	handle := intParam(1)
	five, one := intParam(0, 5, 0, 0, 0), intParam(0, 1, 0, 0, 0)

	assert.Equal(t, lines(
		`RETURNSTATUS 0`,
		`RETURNVALUE 0 "" status 1 int 1`,
		`DONEPROC [] command 0xE0`,
	), c.call(rpcByNumber(11, handle, textParam("@a int"), textParam("SELECT @a AS n"))), "sp_prepare")
	assert.Equal(t, lines(
		`COLMETADATA 1`,
		`  "n" int wire 0x26 user 0 flags 0x09`,
		`ROW 5`,
		`DONEINPROC [more] command 0xC1 count 1`,
		`RETURNSTATUS 0`,
		`DONEPROC [] command 0xE0`,
	), c.call(rpcByNumber(12, one, five)), "sp_execute")
	assert.Contains(t, c.call(rpcByNumber(13, handle, textParam("@a int"), textParam("SELECT @a + 1 AS n"), five)), "ROW 6\n", "sp_prepexec")
	described := c.call(rpcByNumber(11, handle, textParam("@a int"), textParam("SELECT @a AS n"), intParam(0, 1, 0, 0, 0)))
	assert.Contains(t, described, "COLMETADATA 1", "sp_prepare with RETURN_METADATA")
	assert.NotContains(t, described, "ROW")

	assert.Contains(t, c.call(rpcByNumber(12, intParam(0, 99, 0, 0, 0))), noHandle+"99.")
	assert.Contains(t, c.call(rpcByNumber(12, intParam(0, 0xFF, 0xFF, 0xFF, 0xFF))), noHandle+"-1.")
	assert.Contains(t, c.call(rpcByNumber(12, intParam(0))), noHandle+"0.")
	assert.Contains(t, c.call(rpcByNumber(12)), noHandle+"0.")
	assert.Contains(t, c.call(rpcByNumber(12, textParam("1"))), "ERROR 214")
	assert.Contains(t, c.call(rpcByNumber(12, one)), "ERROR 8178", "the parameter is missing")

	assert.NotContains(t, c.call(rpcByNumber(15, one)), "ERROR", "sp_unprepare")
	assert.Contains(t, c.call(rpcByNumber(15, one)), noHandle+"1.")
	assert.Contains(t, c.call(rpcByNumber(12, one, five)), noHandle+"1.")

	called := c.call(rpcByNumber(14, handle, textParam("addone"), five, intParam(1, 0, 0, 0, 0)))
	assert.Contains(t, called, "RETURNSTATUS 5\n", "sp_prepexecrpc")
	assert.Contains(t, called, `RETURNVALUE 3 "" status 1 int 6`)
	assert.Contains(t, c.call(rpcByNumber(12, intParam(0, 4, 0, 0, 0), one, intParam(1, 0, 0, 0, 0))), `status 1 int 2`)

	other := newRawServerClient(t, s)
	assert.Contains(t, other.call(rpcByNumber(12, intParam(0, 2, 0, 0, 0), five)), noHandle+"2.", "handles belong to a connection")
	c.send(tds.PacketSQLBatch, 1|8, sqltypes.AppendUTF16(headers(), "SELECT 1"))
	assert.Contains(t, c.receive(), "ENVCHANGE 18")
	assert.Contains(t, c.call(rpcByNumber(12, intParam(0, 2, 0, 0, 0), five)), noHandle+"2.", "a reset drops handles")
	assert.Contains(t, c.call(rpcByNumber(2, intParam(1), textParam("SELECT 1"))), "ERROR 40000", "cursors")
}

// A call that fails does not stop those that follow it in the message.
func TestWire_FailingCalls(t *testing.T) {
	s, _ := newServerDB(t)
	c := newRawServerClient(t, s)
	bad := []byte{0, 0, 0x6D, 8, 8, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F} // not a number
	answer := c.call(
		rpcByNumber(10, textParam("SELECT 1 AS n")),
		rpcByNumber(10, textParam("SELECT @f"), textParam("@f float"), bad),
		rpcByNumber(10, textParam("SELECT * FROM nosuch")),
		rpcByNumber(12, intParam(0, 99, 0, 0, 0)),
		rpcByNumber(10, textParam("SELECT 2 AS n")),
	)
	var shape []string
	for _, line := range strings.Split(strings.TrimSpace(answer), "\n") {
		words := strings.Fields(line)
		switch words[0] {
		case "ERROR", "ROW":
			shape = append(shape, words[0]+" "+words[1])
		case "DONEPROC":
			shape = append(shape, line)
		}
	}
	assert.Equal(t, []string{
		"ROW 1", "DONEPROC [more] command 0xE0",
		"ERROR 8023", "DONEPROC [more error] command 0x0",
		"ERROR 208", "DONEPROC [more error] command 0xE0",
		"ERROR 8179", "DONEPROC [more error] command 0xE0",
		"ROW 2", "DONEPROC [] command 0xE0",
	}, shape, answer)
}

// go-mssqldb 1.10 leaves a response that has an error and more than five tokens
// behind it unread when the query fails, and its next request waits for ever.
// What the server sends is whole: one DONE ends it, and the next request runs.
func TestWire_StatementsBehindAFailedOne(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (id int)")
	c := newRawServerClient(t, s)
	c.batch("CREATE TABLE t (id int); SELECT 1 AS a; CREATE TABLE t (id int); SELECT 2 AS a; SELECT 3 AS a")
	answer := c.receive()
	assert.Equal(t, 2, strings.Count(answer, "ERROR 2714"), answer)
	done := 0
	for _, line := range strings.Split(answer, "\n") {
		if strings.HasPrefix(line, "DONE") && !strings.Contains(line, "more") {
			done++
		}
	}
	assert.Equal(t, 1, done, answer)
	c.batch("SELECT 4 AS a")
	assert.Contains(t, c.receive(), "ROW 4\n")
}

// With fNoMetaData the columns are not described (MS-TDS 2.2.6.6, 2.2.7.4).
func TestWire_CallWithoutMetadata(t *testing.T) {
	s, _ := newServerDB(t)
	c := newRawServerClient(t, s)
	call := rpcByNumber(10, textParam("SELECT 1 AS n"))
	silent := append([]byte(nil), call...)
	silent[4] = tds.RPCNoMetadata
	answer := c.call(call, silent)
	assert.Equal(t, 1, strings.Count(answer, "COLMETADATA as before\nROW 1\n"), answer)
	c.send(tds.PacketRPC, 1, append(append(append(headers(), call...), 0xFE), call...))
	assert.Contains(t, c.receive(), "NoExecFlag")
}
