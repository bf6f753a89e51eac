package input_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// statementLog is every statement that the input has run on a server.
type statementLog struct {
	mu   sync.Mutex
	list []engine.StatementInfo
}

// statementsOf logs the statements of a server from now on, in place of faults.
func statementsOf(server *simulator.Server) *statementLog {
	l := &statementLog{}
	server.Instance().SetFaultHook(func(info engine.StatementInfo) engine.Fault {
		if info.App == "sqlserver-cdc" {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.list = append(l.list, info)
		}
		return engine.Fault{}
	})
	return l
}

// take returns what was logged since the last call.
func (l *statementLog) take() []engine.StatementInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// changesNothing reports whether a statement is of a kind that changes nothing, or
// runs such by one of the procedures that run texts: their own statements are
// logged too.
func changesNothing(info engine.StatementInfo) bool {
	switch info.Kind {
	case "select", "declare", "set", "if", "begin", "rollback", "block", "expression":
		return true
	case "exec":
		return slices.ContainsFunc(info.Objects, func(name string) bool { return runners[name] })
	default:
		return false
	}
}

var runners = map[string]bool{"sp_executesql": true, "sp_prepare": true, "sp_execute": true, "sp_unprepare": true}

// lockHints are those that take other locks than reading does.
var lockHints = regexp.MustCompile(`(?i)\b(TABLOCKX?|UPDLOCK|XLOCK|HOLDLOCK|SERIALIZABLE|REPEATABLEREAD|PAGLOCK|ROWLOCK)\b`)

func kindsOf(list []engine.StatementInfo) (kinds []string) {
	for _, info := range list {
		kinds = append(kinds, info.Kind)
	}
	return kinds
}

// Unless it is asked to, the input writes nothing and takes no locks but those of
// reading, on the primary and on a replica, through a snapshot, changes, a newer
// capture instance, rejections, lost connections and its looks after tables and
// capture job. After the snapshot it never begins a transaction: each statement,
// and so each look for changes, sees what is there by then (MS docs, "Offload
// read-only workload to secondary replica": every statement reads under a
// snapshot of its own transaction; Debezium ends its transaction before each look,
// DBZ-1642).
func TestCases_StatementsOnlyRead(t *testing.T) {
	for _, mode := range []string{"direct", "function"} {
		for _, intent := range []string{"ReadWrite", "ReadOnly"} {
			t.Run(mode+" "+intent, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := newGroup(t)
					change(t, g.primary, "CREATE TABLE dbo.pair (a int NOT NULL, b varchar(20) NOT NULL, PRIMARY KEY (a, b))\nCREATE TABLE dbo.heap (v int)\n"+
						enable("dbo", "pair")+enable("dbo", "heap")+"INSERT dbo.pair VALUES (1, 'x'), (1, 'y'), (2, 'x')\nINSERT dbo.heap VALUES (1)")
					log := statementsOf(g.primary)
					rejections := 1
					p := startPipeline(t, g.primary, settings{
						dial:   g.option,
						fields: "application_intent: " + intent + "\ndata_query_mode: " + mode + "\nstart_position: now\npoll_interval: 10s\n" + pageSizes(2),
						output: func(_ context.Context, batch []received) error {
							if batch[0].Op == "d" && rejections > 0 {
								rejections--
								return errRejected
							}
							return nil
						},
					})
					require.Len(t, p.settled(), 2+3+1)
					assert.Zero(t, openTransactions(t, g.primary), "the snapshot's has ended")
					snapshot := log.take()
					require.Contains(t, kindsOf(snapshot), "begin", "rows are read at one point in time")

					change(t, g.primary, "UPDATE dbo.pair SET b = b + 'z'\nDELETE dbo.customers")
					<-time.After(time.Minute)
					change(t, g.primary, "ALTER TABLE dbo.heap ADD w int NULL")
					change(t, g.primary, enableAs("dbo", "heap", "second"))
					change(t, g.primary, "INSERT dbo.heap VALUES (2, 2)")
					g.primary.Restart()
					<-time.After(12 * time.Minute)
					change(t, g.primary, "DELETE dbo.heap")
					<-time.After(time.Minute)
					require.Zero(t, rejections)
					events := p.settled()
					require.Equal(t, `d dbo.heap {"v":2,"w":2}`, events[len(events)-1].String())
					stream := log.take()
					require.NotContains(t, kindsOf(stream), "begin", "no transaction after the snapshot")

					for _, info := range slices.Concat(snapshot, stream) {
						require.True(t, changesNothing(info), "%s %q: %s", info.Kind, info.Objects, info.Text)
						require.NotRegexp(t, lockHints, info.Text)
					}
				})
			})
		}
	}
}

// An idle look is one statement, whatever the number of tables, and holds nothing
// when it is over. Only the looks after tables and capture job come on top, each
// minute.
func TestCases_IdleLook(t *testing.T) {
	for mode, fields := range queryModes {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var script strings.Builder
				for i := range 30 {
					fmt.Fprintf(&script, "CREATE TABLE dbo.t%d (id int NOT NULL PRIMARY KEY)\n%s", i, enable("dbo", fmt.Sprintf("t%d", i)))
				}
				server := newServer(t, script.String())
				p := startPipeline(t, server, settings{fields: fields + "poll_interval: 5s"})
				defer p.stop()
				// Capture comes to the LSN at which the instances were made with its
				// first row for idle times.
				<-time.After(10 * time.Minute)
				log := statementsOf(server)
				<-time.After(10 * time.Minute)
				looks, others := 0, 0
				for _, info := range log.take() {
					switch {
					case info.Kind != "exec": // a part of one
					case strings.Contains(info.Text, "sys.fn_cdc_get_max_lsn()"):
						looks++
					default:
						others++
					}
				}
				assert.InDelta(t, 120, looks, 1)
				assert.LessOrEqual(t, others, 11*6)
				assert.Empty(t, openWork(t, server))
			})
		})
	}
}
