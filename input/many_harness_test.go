package input_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// three are the databases of most tests; each has a table dbo.t with two rows
// and a table dbo.only_<name>, by whose statements faults find it.
var three = []string{"a", "b", "c"}

// betweenAttempts is what a test waits beside whole minutes before it does in
// several statements what an input that tries again each minute must not see by
// halves, or looks at what it does at each.
const betweenAttempts = 7 * time.Second

// newServerOf starts a simulator with databases under change data capture.
func newServerOf(t testing.TB, databases ...string) *simulator.Server {
	t.Helper()
	server := emptyServer(t)
	for _, name := range databases {
		createDatabase(t, server, name)
	}
	return server
}

// createDatabase makes a database as newServerOf does.
func createDatabase(t testing.TB, server *simulator.Server, name string) {
	t.Helper()
	sqlExec(t, server, fmt.Sprintf(`CREATE DATABASE [%[1]s]
GO
USE [%[1]s]
EXEC sys.sp_cdc_enable_db
ALTER DATABASE [%[1]s] SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL)
CREATE TABLE dbo.[only_%[1]s] (id int NOT NULL PRIMARY KEY)
INSERT dbo.t VALUES (1, N'one'), (2, N'two')
%[2]s%[3]s`, name, enable("dbo", "t"), enable("dbo", "only_"+name)))
}

// changeIn runs a script in a database and lets the capture job read its log.
func changeIn(t testing.TB, server *simulator.Server, database, script string) {
	t.Helper()
	sqlExec(t, server, "USE ["+database+"]\n"+script)
	require.NoError(t, server.CaptureNow(database))
}

// inserts returns statements, each a transaction, that insert rows of t.
func inserts(from, to int) string {
	var b strings.Builder
	for id := from; id < to; id++ {
		fmt.Fprintf(&b, "INSERT dbo.t VALUES (%[1]d, N'n%[1]d')\nGO\n", id)
	}
	return b.String()
}

// rowsOf are the short forms of what a table t with some inserts delivers.
func rowsOf(from, to int) []string {
	var out []string
	for id := from; id < to; id++ {
		out = append(out, fmt.Sprintf(`c dbo.t {"id":%[1]d,"name":"n%[1]d"}`, id))
	}
	return out
}

// twoRows are the short forms of a snapshot of t.
var twoRows = []string{`r dbo.t {"id":1,"name":"one"}`, `r dbo.t {"id":2,"name":"two"}`}

// threeDatabases returns fields that read three databases, with few polls in
// the hours that tests let pass.
func threeDatabases(fields string) string {
	if !strings.Contains(fields, "poll_interval") {
		fields = "poll_interval: 5s\n" + fields
	}
	return "database_names: [ " + strings.Join(three, ", ") + " ]\n" + fields
}

// ofDatabase returns the messages of a database.
func ofDatabase(messages []received, database string) []received {
	var out []received
	for _, m := range messages {
		if m.Database == database {
			out = append(out, m)
		}
	}
	return out
}

// await waits until a condition holds, looking at what was received.
func (p *pipeline) await(what string, holds func(all []received) bool) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		if holds(p.rest()) {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case err := <-p.ended:
			p.ended <- err
			require.Fail(p.t, "the stream has ended", "%v, before %s; log:\n%s", err, what, p.logs)
		case <-deadline:
			require.Fail(p.t, "it did not come", "%s: %v\nlog:\n%s", what, shorts(p.rest()), p.logs)
		}
	}
}

// awaitCount waits for n messages of a database.
func (p *pipeline) awaitCount(database string, n int) {
	p.t.Helper()
	p.await(fmt.Sprintf("%d messages of %s", n, database), func(all []received) bool {
		return len(ofDatabase(all, database)) >= n
	})
}
