package input_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// metadataRow is a row of the tables of docs/messages.md: which kinds of
// messages have a metadata key.
type metadataRow struct {
	key   string
	cells map[string]string // by kind: yes, - or when
	by    string            // the field that asks for it, empty: always there
}

// metadataTable reads the two tables.
func metadataTable(t *testing.T) (rows []metadataRow) {
	t.Helper()
	text, err := os.ReadFile("../docs/messages.md")
	require.NoError(t, err)
	code := regexp.MustCompile("`([^`]+)`")
	var kinds []string
	for line := range strings.Lines(string(text)) {
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			kinds = nil
		case cells[0] == "key":
			kinds = cells[1:7]
		case kinds == nil || strings.HasPrefix(cells[0], "---"):
		default:
			row := metadataRow{cells: map[string]string{}}
			for i, kind := range kinds {
				row.cells[kind] = cells[i+1]
			}
			if len(cells) == 9 {
				row.by = strings.Trim(cells[7], "`")
			}
			for _, key := range code.FindAllStringSubmatch(cells[0], -1) {
				row.key = key[1]
				rows = append(rows, row)
			}
		}
	}
	require.Len(t, rows, 21)
	return rows
}

// The numbers that the message key takes where one update row changes it.
const oldKey, newKey = 77, 78

// has reports whether a message is to have the key.
func (r metadataRow) has(t *testing.T, m received) bool {
	t.Helper()
	switch cell := r.cells[m.Kind]; cell {
	case "yes":
		return true
	case "-":
		return false
	case "with a key":
		return m.Table != "keyless"
	case "where the payload has it":
		return !strings.Contains(m.Value, `"`+r.key+`":null`)
	case "delete of a key change":
		return m.Op == "d" && strings.Contains(m.Key, fmt.Sprint(oldKey))
	case "create of a key change":
		return m.Op == "c" && strings.Contains(m.Key, fmt.Sprint(newKey))
	case "of a key change":
		return strings.Contains(m.Key, fmt.Sprint(oldKey))
	default:
		require.Fail(t, "an unknown cell", "%q", cell)
		return false
	}
}

// metadataHistory is played while the stream runs: every kind of message, with
// a key and without, a key that changes and a structure that does.
var metadataHistory = []string{
	"DELETE dbo.people WHERE id = 1\nDELETE dbo.keyless\nINSERT dbo.keyless VALUES (2)",
	fmt.Sprintf("INSERT dbo.people VALUES (2, N'Ann', %d)\nUPDATE dbo.people SET n = %d\nUPDATE dbo.people SET name = N'Bea'", oldKey, newKey),
	"ALTER TABLE dbo.people ALTER COLUMN name nvarchar(20)\nINSERT dbo.people VALUES (3, N'Cem', 3)",
}

// Exactly the metadata of docs/messages.md are there, on every kind of message,
// whatever is asked for, and they say what the payload says.
func TestMetadata_IsAsDocumented(t *testing.T) {
	rows := metadataTable(t)
	var all []string
	for _, row := range rows {
		if row.by == "metadata_include" {
			all = append(all, row.key)
		}
	}
	includes := [][]string{nil, all}
	for _, key := range all {
		includes = append(includes, []string{key})
	}
	for _, include := range includes {
		for _, headers := range []bool{false, true} {
			forms := []string{"", "structured: true", "schemas_enable: true"}
			if len(include) == 1 {
				forms = forms[:1]
			}
			for _, more := range forms {
				t.Run(fmt.Sprintf("%v, headers %t, %s", include, headers, more), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						messages := playMetadata(t, fmt.Sprintf("metadata_include: [%s]\nextended_headers_enabled: %t\n%s", strings.Join(include, ", "), headers, more))
						for _, m := range messages {
							var want []string
							for _, row := range rows {
								asked := row.by == "" || row.by == "extended_headers_enabled" && headers || row.by == "metadata_include" && slices.Contains(include, row.key)
								if asked && row.has(t, m) {
									want = append(want, row.key)
								}
							}
							require.ElementsMatch(t, want, slices.Collect(maps.Keys(m.Meta)), "%s", m)
							requireSameAsPayload(t, m)
						}
					})
				})
			}
		}
	}
}

// playMetadata returns the messages of the history.
func playMetadata(t *testing.T, fields string) []received {
	t.Helper()
	server := newQuietServer(t, lines(
		"CREATE TABLE dbo.people (id int NOT NULL PRIMARY KEY, name nvarchar(9), n int NOT NULL)", "CREATE TABLE dbo.keyless (a int)",
		enable("dbo", "people"), enable("dbo", "keyless"), "INSERT dbo.people VALUES (1, N'Ann', 1)", "INSERT dbo.keyless VALUES (1)"))
	p := startPipeline(t, server, settings{fields: lines(
		"include_schema_changes: true", "provide_transaction_metadata: true", "heartbeat_interval: 1s", "message_key_columns: 'dbo.people:n'",
		"notification_enabled_channels: [sink]", "notification_sink_topic_name: notes", fields)})
	p.settled()
	for _, script := range metadataHistory {
		change(t, server, script)
		<-time.After(2 * time.Second)
	}
	seen, alters := map[string]bool{}, 0
	messages := p.everything()
	for _, m := range messages {
		seen[m.Kind+" "+m.Op] = true
		if strings.Contains(m.Value, `"type":"ALTER"`) {
			alters++
		}
	}
	require.Equal(t, 1, alters)
	require.ElementsMatch(t, []string{"change r", "change c", "change u", "change d", "tombstone ", "schema_change ", "transaction ", "heartbeat ", "notification "}, slices.Collect(maps.Keys(seen)))
	return messages
}

// requireSameAsPayload compares the metadata with the source block, and types
// with those that are documented.
func requireSameAsPayload(t *testing.T, m received) {
	t.Helper()
	var payload struct {
		Op     string
		Source *struct {
			Snapshot, DB, Schema, Table string
			Commit                      *string `json:"commit_lsn"`
			Change                      *string `json:"change_lsn"`
			Serial                      *int64  `json:"event_serial_no"`
			Time                        int64   `json:"ts_ms"`
		}
		Time int64 `json:"ts_ms"`
	}
	if m.NullValue {
		require.Equal(t, "tombstone", m.Kind)
		require.Equal(t, true, m.Meta["kafka_tombstone_message"])
		return
	}
	text := m.Value
	if strings.HasPrefix(text, `{"schema":`) {
		text = rowText(t, text, "payload")
	}
	require.NoError(t, json.Unmarshal([]byte(text), &payload), "%s", text)
	require.Equal(t, m.Op, payload.Op)
	if payload.Source == nil {
		return
	}
	s := payload.Source
	require.Equal(t, []string{s.DB, s.Schema, s.Table}, []string{m.Database, m.Schema, m.Table}, "%s", m)
	for key, want := range map[string]any{
		"commit_lsn": *s.Commit, "snapshot": s.Snapshot, "source_ts_ms": s.Time,
	} {
		if got, there := m.Meta[key]; there {
			require.Equal(t, want, got, "%s of %s", key, m)
		}
	}
	if got, there := m.Meta["change_lsn"]; there {
		require.Equal(t, *s.Change, got)
	}
	if got, there := m.Meta["event_serial_no"]; there {
		require.Equal(t, *s.Serial, got)
	}
}

// Positions sort as text in the order of the stream, snapshot, transactions and
// schema changes included, whatever the workload and the sizes of batches and
// pages; a heartbeat repeats the one before it.
func TestPosition_SortsAsTextInStreamOrder(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				w := &stepWriter{random: random, tables: 3, rows: map[[2]int]bool{}}
				var script strings.Builder
				for i := range w.tables {
					fmt.Fprintf(&script, "CREATE TABLE dbo.t%d (id int NOT NULL PRIMARY KEY, step int NOT NULL)\n%s", i, enable("dbo", fmt.Sprintf("t%d", i)))
				}
				server := newQuietServer(t, script.String()+w.transactions(5))
				p := startPipeline(t, server, settings{fields: pageSizes(1+random.IntN(3)) + lines(
					fmt.Sprintf("max_batch_size: %d", 1+random.IntN(5)), "include_schema_changes: true", "provide_transaction_metadata: true", "heartbeat_interval: 300ms")})
				p.settled()
				for range 4 {
					change(t, server, w.transactions(4)+"UPDATE dbo.t0 SET id = id + 10\nUPDATE dbo.t0 SET id = id - 10")
					<-time.After(700 * time.Millisecond)
				}
				p.settled()
				last, width := "", len(p.all[0].Position)
				for i, m := range p.all {
					require.Len(t, m.Position, width)
					if m.Kind == "heartbeat" {
						require.LessOrEqual(t, last, m.Position, "%d: %s", i, m)
						continue
					}
					require.Less(t, last, m.Position, "%d: %s", i, m)
					last = m.Position
				}
				assert.Greater(t, len(p.all), 60)
			})
		})
	}
}
