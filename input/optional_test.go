package input_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outline is a message in short: a schema change with the columns that it shows
// as optional, a change with those that its schema does.
func outline(t *testing.T, m received) string {
	t.Helper()
	switch m.Kind {
	case "schema_change":
		var value struct {
			Payload struct {
				TableChanges []struct {
					Type  string
					Table struct {
						Columns []struct {
							Name     string
							Optional bool
						}
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(m.Value), &value))
		var optional []string
		for _, c := range value.Payload.TableChanges[0].Table.Columns {
			if c.Optional {
				optional = append(optional, c.Name)
			}
		}
		return fmt.Sprintf("%s %s", value.Payload.TableChanges[0].Type, optional)
	case "change":
		var optional []string
		for _, name := range []string{"id", "b", "at"} {
			if strings.Contains(m.Value, `"optional":true,"field":"`+name+`"}`) ||
				strings.Contains(m.Value, `"optional":true,"name":"io.debezium.time.NanoTimestamp","version":1,"field":"`+name+`"}`) {
				optional = append(optional, name)
			}
		}
		return fmt.Sprintf("%s %s %s", m.Op, m.Key[strings.LastIndex(m.Key, `"id":`)+5:], optional)
	default:
		return m.Kind
	}
}

func outlines(t *testing.T, messages []received) []string {
	t.Helper()
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = outline(t, m)
	}
	return list
}

const optionalFields = "include_schema_changes: true\nvalue_schemas_enable: true\ntombstones_on_delete: false\n"

// A field that becomes optional by an unexpected NULL is told of before the
// event that shows it, once, and is so after a restart too.
func TestOptional_InTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, lines(
			"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, b bit NOT NULL, at datetime2(7) NOT NULL)", enable("dbo", "t"),
			"INSERT dbo.t VALUES (1, 1, '2024-01-01'), (2, 0, '2024-01-01'), (3, 1, '2024-01-01')"))
		kept := newStore()
		p := startPipeline(t, server, settings{store: kept, fields: optionalFields})
		assert.Equal(t, []string{"CREATE []", "r 1} []", "r 2} []", "r 3} []"}, outlines(t, p.settled()))
		p.stop()
		change(t, server, "UPDATE dbo.t SET b = 0 WHERE id = 3\nDELETE dbo.t WHERE id = 1\nINSERT dbo.t VALUES (4, 1, '2024-01-01')")
		sqlExec(t, server, "USE db\nUPDATE cdc.dbo_t_CT SET b = NULL WHERE __$operation = 1")
		p = startPipeline(t, server, settings{store: kept, fields: optionalFields})
		got := p.settled()
		assert.Equal(t, []string{"u 3} []", "ALTER [b]", "d 1} [b]", "c 4} [b]"}, outlines(t, got))
		for i := range got[1:] {
			assert.Less(t, got[i].Position, got[i+1].Position)
		}
		p.stop()
		p = startPipeline(t, server, settings{store: kept, fields: optionalFields})
		defer p.stop()
		assert.Empty(t, p.settled())
		change(t, server, "INSERT dbo.t VALUES (5, 1, '2024-01-01')")
		assert.Equal(t, []string{"c 5} [b]"}, outlines(t, p.settled()))
	})
}

// In a snapshot it is a value outside the range of its type that makes a field
// optional; a snapshot that goes on after a crash tells of it again, since the
// message may not have arrived, and the stream keeps it.
func TestOptional_InASnapshot(t *testing.T) {
	const fields = optionalFields + "event_converting_failure_handling_mode: warn\nmax_batch_size: 1\nsnapshot_fetch_size: 1\n"
	script := lines(
		"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, b bit NOT NULL, at datetime2(7) NOT NULL)", enable("dbo", "t"),
		"INSERT dbo.t VALUES (1, 1, '2024-01-01'), (2, 0, '9999-12-31'), (3, 1, '2024-01-01'), (4, 1, '2024-01-01')")
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, script)
		p := startPipeline(t, server, settings{fields: fields})
		defer p.stop()
		got := p.settled()
		assert.Equal(t, []string{"CREATE []", "r 1} []", "ALTER [at]", "r 2} [at]", "r 3} [at]", "r 4} [at]"}, outlines(t, got))
		for i := range got[1:] {
			assert.Less(t, got[i].Position, got[i+1].Position)
		}
		change(t, server, "INSERT dbo.t VALUES (5, 1, '2024-01-01')")
		assert.Equal(t, []string{"c 5} [at]"}, outlines(t, p.settled()))
	})
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, script)
		accepted, left := crash(t, server, settings{fields: fields, store: newStore()}, 5)
		assert.Equal(t, []string{"CREATE []", "r 1} []", "ALTER [at]", "r 2} [at]", "r 3} [at]"}, outlines(t, accepted))
		p := startPipeline(t, server, settings{fields: fields, store: left})
		defer p.stop()
		rest := outlines(t, p.settled())
		assert.Equal(t, []string{"ALTER [at]", "r 4} [at]"}, rest[len(rest)-2:])
		change(t, server, "INSERT dbo.t VALUES (5, 1, '2024-01-01')")
		assert.Equal(t, []string{"c 5} [at]"}, outlines(t, p.settled()))
	})
}
