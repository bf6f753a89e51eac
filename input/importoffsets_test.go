package input_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// importOffsets imports offsets for the pipeline that startPipeline runs.
func importOffsets(t *testing.T, server *simulator.Server, s settings, offsets, connector string) ([]input.Imported, error) {
	t.Helper()
	env := service.NewEnvironment()
	require.NoError(t, errors.Join(
		input.Register(env),
		env.RegisterCache("test_cache", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.Cache, error) {
			return s.store, nil
		}),
	))
	pipeline := "input:\n  " + strings.ReplaceAll(strings.TrimSpace(inputYAML(s.fields)), "\n", "\n  ") +
		"\noutput:\n  drop: {}\ncache_resources:\n  - label: offsets\n    test_cache: {}\n"
	return input.ImportOffsets(t.Context(), env, input.Import{Pipeline: pipeline, Offsets: []byte(offsets), Connector: connector}, input.WithDialer(server.DialContext))
}

// offsetAt is a line of the offsets topic.
func offsetAt(commit, change string, serial any) string {
	return fmt.Sprintf(`["shop",{"server":"server1","database":"db"}]`+"\t"+`{"commit_lsn":%q,"change_lsn":%q,"event_serial_no":%v}`+"\n", commit, change, serial)
}

// offsetOf is the offset that a connector stores with a message's record: it
// has the numbers of the source block.
func offsetOf(m received) string {
	return offsetAt(m.Meta["commit_lsn"].(string), m.Meta["change_lsn"].(string), m.Meta["event_serial_no"])
}

const numbers = "metadata_include: [ commit_lsn, change_lsn, event_serial_no ]\n"

// Wherever a connector has stopped, the pipeline goes on behind it: nothing is
// missing, and nothing repeated, but in a transaction whose events the
// connector delivers in another order.
func TestImportOffsets_GoesOnExactly(t *testing.T) {
	for name, test := range map[string]struct {
		statements string
		reordered  bool
	}{
		"rows of tables one after the other": {statements: "INSERT dbo.t VALUES (5, 15, 0)\nINSERT dbo.u VALUES (1)\nUPDATE dbo.t SET v = 1 WHERE id = 1\nDELETE dbo.u"},
		"one transaction over two tables":    {statements: "BEGIN TRAN\nINSERT dbo.t VALUES (5, 15, 0)\nINSERT dbo.u VALUES (1)\nUPDATE dbo.t SET v = 1\nDELETE dbo.u\nCOMMIT\nINSERT dbo.u VALUES (2)"},
		"a changed key":                      {statements: "UPDATE dbo.t SET id = 9 WHERE id = 1\nINSERT dbo.u VALUES (1)"},
		"a deferred update":                  {statements: "UPDATE dbo.t SET u = u + 1\nINSERT dbo.u VALUES (1)", reordered: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, deferredTable+"CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "u"))
				fields := noData + numbers
				s := settings{fields: fields, store: newStore()}
				whole := startPipeline(t, server, s)
				require.Empty(t, whole.settled())
				change(t, server, test.statements)
				events := whole.settled()
				whole.stop()
				require.NotEmpty(t, events)
				replayed := false
				for i := range race.Every(len(events), 3) {
					m := events[i]
					s.store = newStore()
					done, err := importOffsets(t, server, s, offsetOf(m), "")
					require.NoError(t, err)
					rest := events[i+1:]
					for len(rest) > 0 && offsetOf(rest[0]) == offsetOf(m) {
						rest = rest[1:] // of the same change row
					}
					if done[0].Replays {
						replayed = true
						rest = events[firstOf(events, m.Meta["commit_lsn"]):]
					}
					p := startPipeline(t, server, s)
					assert.Equal(t, placed(rest), placed(p.settled()), "behind %s", m)
					p.stop()
				}
				assert.Equal(t, test.reordered, replayed)
			})
		})
	}
}

// firstOf returns the index of the first message of a transaction.
func firstOf(messages []received, commit any) int {
	for i, m := range messages {
		if m.Meta["commit_lsn"] == commit {
			return i
		}
	}
	return len(messages)
}

// Behind a finished snapshot, or a poll without a row, an offset stands for all
// of its transaction. The stream tells of no structure that consumers know.
func TestImportOffsets_BetweenTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := historyServer(t)
		second := commitOf(t, server, "2")[2:]
		commit := second[:8] + ":" + second[8:16] + ":" + second[16:]
		s := settings{fields: "include_schema_changes: true\n", store: newStore()}
		done, err := importOffsets(t, server, s, offsetAt(commit, "NULL", 0), "shop")
		require.NoError(t, err)
		assert.Equal(t, "db server1.db offsets", done[0].Database+" "+done[0].Key+" "+done[0].Cache)
		p := startPipeline(t, server, s)
		p.want(inserted("3")...)
		change(t, server, "INSERT dbo.t VALUES (4)")
		p.want(inserted("4")...)
		p.quiet()
	})
}

// The newest LSN of a quiet database, where no transaction ended, is a place to go on
// from. What was imported is as good a proof of the database's history as what was
// read: another one is found out at the first start.
func TestImportOffsets_QuietDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, other := newQuietServer(t, customers), newQuietServer(t, customers)
		change(t, server, insertRow(3))
		for id := range 30 {
			change(t, other, insertRow(100+id))
		}
		<-time.After(11 * time.Minute)
		require.NoError(t, server.CaptureNow("db"))
		sets, err := server.Query("USE db\nSELECT CONVERT(varchar(22), start_lsn, 2), CONVERT(varchar(22), tran_id, 1) FROM cdc.lsn_time_mapping WHERE start_lsn = sys.fn_cdc_get_max_lsn()")
		require.NoError(t, err)
		idle := sets[len(sets)-1].Rows[0]
		require.Equal(t, "0x00", idle[1].Str(), "no transaction")
		newest := idle[0].Str()
		s := settings{fields: noData, store: newStore()}
		_, err = importOffsets(t, server, s, offsetAt(newest[:8]+":"+newest[8:16]+":"+newest[16:], "NULL", 0), "")
		require.NoError(t, err)
		imported := s.store.copyOf()

		p := startPipeline(t, server, s)
		change(t, server, insertRow(4))
		p.want(insertedRow(4))
		p.stop()
		p = startPipeline(t, other, settings{fields: noData, store: imported})
		<-time.After(time.Minute)
		assert.Contains(t, p.logs.String(), "Cannot go on (")
		assert.Empty(t, p.rest())
	})
}

// What cannot be gone on from is refused, and nothing is stored.
func TestImportOffsets_Refuses(t *testing.T) {
	const other = `["shop",{"server":"server2","database":"db"}]` + "\t" + `{"commit_lsn":"00000025:00000d98:00a2","change_lsn":"NULL"}`
	for name, test := range map[string]struct {
		offsets func(t *testing.T, server *simulator.Server, s settings) string
		want    string
	}{
		"a snapshot under way": {func(*testing.T, *simulator.Server, settings) string {
			return strings.Replace(offsetAt("00000025:00000d98:00a2", "NULL", 1), `{"commit`, `{"snapshot":"INITIAL","snapshot_completed":false,"commit`, 1)
		}, "the connector has stopped in a snapshot"},
		"another server": {func(*testing.T, *simulator.Server, settings) string { return other }, `there are some of ["server2"]`},
		"another database": {func(*testing.T, *simulator.Server, settings) string {
			return strings.Replace(offsetAt("00000025:00000d98:00a2", "NULL", 1), `"db"`, `"other"`, 1)
		}, "there is no offset of it"},
		"two connectors": {func(*testing.T, *simulator.Server, settings) string {
			line := offsetAt("00000025:00000d98:00a2", "NULL", 1)
			return line + strings.Replace(line, "shop", "shop2", 1)
		}, "several connectors"},
		"not reached": {func(*testing.T, *simulator.Server, settings) string {
			return offsetAt("ffffffff:00000000:0001", "NULL", 1)
		}, "lies after the newest captured LSN"},
		"cleaned away": {func(t *testing.T, server *simulator.Server, _ settings) string {
			first := commitOf(t, server, "1")[2:]
			cleanup(t, server)
			return offsetAt(first[:8]+":"+first[8:16]+":"+first[16:], "NULL", 1)
		}, `instance "dbo_t" holds only those from`},
		"a transaction that the database does not know": {func(t *testing.T, server *simulator.Server, _ settings) string {
			first := commitOf(t, server, "1")[2:]
			return offsetAt(first[:8]+":"+first[8:16]+":ffff", "NULL", 1)
		}, "it is another database than the offset is of, or was restored"},
		"what is left of a position": {func(t *testing.T, server *simulator.Server, s settings) string {
			p := startPipeline(t, server, s)
			<-time.After(settle)
			p.stop()
			for _, key := range []string{"position.a", "position.b", "snapshot.a", "snapshot.b"} {
				require.NoError(t, s.store.Delete(t.Context(), "server1.db."+key))
			}
			return offsetAt("00000025:00000d98:00a2", "NULL", 1)
		}, "To import all the same: stop the pipeline and remove the keys"},
		"a position is there": {func(t *testing.T, server *simulator.Server, s settings) string {
			p := startPipeline(t, server, s)
			<-time.After(settle)
			p.stop()
			return offsetAt("00000025:00000d98:00a2", "NULL", 1)
		}, "has a position already"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _ := historyServer(t)
				s := settings{fields: noData, store: newStore()}
				offsets := test.offsets(t, server, s)
				before := s.store.copyOf()
				_, err := importOffsets(t, server, s, offsets, "")
				require.ErrorContains(t, err, test.want)
				assert.Equal(t, before.values, s.store.values)
			})
		})
	}
}
