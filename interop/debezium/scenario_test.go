package debezium

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSteps(t *testing.T) {
	about, steps, err := ParseSteps(strings.NewReader(`-- What it
-- shows.
CREATE TABLE t (id int)
-- a comment in SQL
GO
INSERT t VALUES (1)
--> capture
--> start snapshot.mode=no_data max.batch.size=3
--> wait streaming
--> begin UPDATE t SET id = 2
--> commit
--> clock +1m30s
--> signal execute-snapshot {"type": "BLOCKING"}
--> wait until EXISTS (SELECT * FROM t)
--> wait 1 record
--> wait 12 records
--> wait quiet
--> wait quiet capturing
--> restart
DELETE t
--> stop or error no such thing
`))
	require.NoError(t, err)
	assert.Equal(t, "What it shows.", about)
	assert.Equal(t, []Step{
		SQL{Script: "CREATE TABLE t (id int)\n-- a comment in SQL\nGO\nINSERT t VALUES (1)"},
		Capture{},
		Start{Properties: Properties{"snapshot.mode": "no_data", "max.batch.size": "3"}},
		WaitPhase{Phase: PhaseStreaming},
		Begin{Statements: "UPDATE t SET id = 2"},
		Commit{},
		Clock{Ahead: 90 * time.Second},
		Signal{Type: "execute-snapshot", Data: `{"type": "BLOCKING"}`},
		WaitUntil{Condition: "EXISTS (SELECT * FROM t)"},
		WaitRecords{Count: 1},
		WaitRecords{Count: 12},
		WaitQuiet{},
		WaitQuiet{Capturing: true},
		Restart{Properties: Properties{}},
		SQL{Script: "DELETE t"},
		StopOrFail{Text: "no such thing"},
	}, steps)
}

func TestParseSteps_PrintsAsWritten(t *testing.T) {
	text := `--> capture
--> start a=1 b=2
--> wait snapshot_done
--> begin SELECT 1
--> rollback
--> disconnect
--> clock +2s
--> signal log {}
--> wait until 1 = 1
--> wait 3 records
--> wait quiet
--> wait quiet capturing
--> wait error text
--> stop or error text
--> restart
--> stop
`
	_, steps, err := ParseSteps(strings.NewReader(text))
	require.NoError(t, err)
	var printed strings.Builder
	for _, step := range steps {
		printed.WriteString(step.String() + "\n")
	}
	assert.Equal(t, text, printed.String())
}

func TestParseSteps_Errors(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1\n--> dance": `line 2: unknown step "dance"`,
		"--> capture twice":   `line 1: capture: wants nothing more, got "twice"`,
		"--> start here":      `line 1: want name=value, got "here"`,
		"--> wait a while":    `line 1: wait: want a number of records, quiet, until, a phase or error, got "a while"`,
		"--> wait 0 records":  `line 1: wait: want a number of records, quiet, until, a phase or error, got "0 records"`,
		"--> clock -5s":       `line 1: clock: want a duration ahead such as +5s, got "-5s"`,
		"--> signal log":      `line 1: signal: want a type and data, got "log"`,
		"--> begin":           `line 1: begin: want statements`,
	} {
		_, _, err := ParseSteps(strings.NewReader(text))
		assert.EqualError(t, err, want)
	}
}

func TestScenarios_Variants(t *testing.T) {
	properties := &fstest.MapFile{Data: []byte("topic.prefix=p\ndatabase.names=shop")}
	steps := &fstest.MapFile{Data: []byte("-- About.\n--> capture")}
	scenarios, err := Scenarios(fstest.MapFS{
		"one/steps.sql": steps, "one/debezium.properties": properties,
		"two/steps.sql": steps, "two/b.properties": properties, "two/a.properties": properties,
		"not-a-folder": steps,
	})
	require.NoError(t, err)
	var files []string
	for _, s := range scenarios {
		files = append(files, s.Name+" "+s.File("events.txt"))
		assert.Equal(t, "About.", s.About)
	}
	assert.Equal(t, []string{"one one/events.txt", "two/a two/a.events.txt", "two/b two/b.events.txt"}, files)
}

func TestScenarios_Errors(t *testing.T) {
	const properties = "topic.prefix=p\ndatabase.names=shop\n"
	tests := []struct{ name, properties, steps, want string }{
		{"databases", "topic.prefix=p", "", "no database.names"},
		{"prefix", "database.names=shop", "", "no topic.prefix"},
		{"signal table", properties, "--> signal log {}", `"--> signal log {}": no table in signal.data.collection`},
		{"two starts", properties, "--> start\n--> start", `"--> start": it runs already`},
		{"no start", properties, "--> wait quiet", `"--> wait quiet": nothing runs`},
		{"after a stop", properties, "--> start\n--> stop\n--> wait 1 record", `"--> wait 1 records": nothing runs`},
		{"after a stop or an error", properties, "--> start\n--> stop or error x\n--> stop", `"--> stop": nothing runs`},
		{"after an error", properties, "--> start\n--> wait error x\n--> stop", `"--> stop": nothing runs`},
		{"no transaction", properties, "--> commit", `"--> commit": no transaction is open`},
		{"two transactions", properties, "--> begin SELECT 1\n--> begin SELECT 2", `"--> begin SELECT 2": a transaction is open already`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Scenarios(fstest.MapFS{
				"s/steps.sql":           &fstest.MapFile{Data: []byte(tt.steps)},
				"s/debezium.properties": &fstest.MapFile{Data: []byte(tt.properties)},
			})
			assert.EqualError(t, err, `reading scenarios "s": debezium.properties: `+tt.want)
		})
	}
}

// Every scenario says what it shows, has its own topics, since all run in one
// JVM, and its events.
func TestScenarios_OfThisFolder(t *testing.T) {
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	prefixes := map[string]string{}
	for _, s := range scenarios {
		assert.NotEmpty(t, s.About, s.Name)
		prefix := s.Properties["topic.prefix"]
		assert.Empty(t, prefixes[prefix], "topic.prefix %s is that of %s and %s", prefix, prefixes[prefix], s.Name)
		prefixes[prefix] = s.Name
		if !generated(s) {
			assert.FileExists(t, "testdata/"+s.File("events.txt"))
		}
	}
}
