package input_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// settle is how long, in virtual time, a script waits for the events of what
// it did: several polls of the input, and a bit more, so that the script never
// does something at the very moment of a poll.
const settle = 2*time.Second + 7*time.Millisecond

// TestGoldenEvents runs the scripts of testdata/events. Commands:
//
//	sql             runs a script in database db; prints its error, if any
//	capture         captures what is in the log; there is no job beside it
//	start           starts a stream with the input's fields given as YAML
//	stop            stops it; the position stays for the next start
//	wait            lets so much time pass, given as a duration
//	events          prints what the output got since the last time, in short:
//	                op or kind, topic and key, then rows, LSNs and serial
//	                number, or payload and position of what is no row
//	events full     prints all metadata and the payload as it is
//	log             prints the warnings and errors that the stream logged
//
// The clock is virtual, so times, LSNs and positions are exact. After a
// change that is meant, run with -rewrite and read the difference.
func TestGoldenEvents(t *testing.T) {
	ours := event.Version
	event.Version = "3.6.1.Final"
	t.Cleanup(func() { event.Version = ours })
	scripts, err := filepath.Glob("testdata/events/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &goldenScript{server: newServer(t, ""), store: newStore()}
				// The job would race with the script for the next LSN.
				s.server.StopAgent()
				datadriven.RunTest(t, script, s.run)
			})
		})
	}
}

// goldenScript is the state of a script that runs.
type goldenScript struct {
	server   *simulator.Server
	store    *store
	pipeline *pipeline
}

func (s *goldenScript) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "sql":
		if err := s.server.Exec("USE db\nGO\n" + d.Input); err != nil {
			return "error: " + err.Error()
		}
	case "capture":
		require.NoError(t, s.server.CaptureNow("db"))
	case "start":
		require.Nil(t, s.pipeline, "%s: the stream runs already", d.Pos)
		s.pipeline = startPipeline(t, s.server, settings{fields: d.Input, store: s.store})
	case "stop":
		s.pipeline.stop()
		s.pipeline = nil
	case "wait":
		pause, err := time.ParseDuration(strings.TrimSpace(d.Input))
		require.NoError(t, err)
		<-time.After(pause)
	case "events":
		<-time.After(settle)
		return s.events(t, d.HasArg("full"))
	case "log":
		<-time.After(settle)
		return warnings(s.pipeline.logs.String())
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	return ""
}

func (s *goldenScript) events(t *testing.T, full bool) string {
	t.Helper()
	var out strings.Builder
	for _, m := range s.pipeline.next(len(s.pipeline.rest())) {
		if full {
			writeFull(&out, m)
		} else {
			writeShort(t, &out, m)
		}
	}
	return out.String()
}

// writeShort prints what differs from event to event.
func writeShort(t *testing.T, out *strings.Builder, m received) {
	t.Helper()
	name := m.Op
	if m.Kind != "change" {
		name = m.Kind
	}
	key := m.Key
	if key == "" {
		key = "no key"
	}
	fmt.Fprintf(out, "%s %s %s\n", name, m.Topic, key)
	for _, header := range []string{"__debezium.oldkey", "__debezium.newkey"} {
		if v, ok := m.Meta[header]; ok {
			fmt.Fprintf(out, "  %s %v\n", header, v)
		}
	}
	switch {
	case m.NullValue:
		return
	case m.Kind != "change":
		fmt.Fprintf(out, "  %s\n  at %s\n", m.Value, m.Position)
		return
	}
	var envelope struct {
		Before, After json.RawMessage
		Source        struct {
			Snapshot      string
			ChangeLSN     string `json:"change_lsn"`
			CommitLSN     string `json:"commit_lsn"`
			EventSerialNo int    `json:"event_serial_no"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(m.Value), &envelope), "payload: %s", m.Value)
	if !bytes.Equal(envelope.Before, []byte("null")) {
		fmt.Fprintf(out, "  before %s\n", envelope.Before)
	}
	if !bytes.Equal(envelope.After, []byte("null")) {
		fmt.Fprintf(out, "  after  %s\n", envelope.After)
	}
	source := envelope.Source
	if source.Snapshot != "false" {
		fmt.Fprintf(out, "  snapshot %s, commit %s\n", source.Snapshot, source.CommitLSN)
		return
	}
	fmt.Fprintf(out, "  commit %s, change %s, serial %d\n", source.CommitLSN, source.ChangeLSN, source.EventSerialNo)
}

// writeFull prints a message as it is, metadata first, in the order of names.
func writeFull(out *strings.Builder, m received) {
	for _, name := range slices.Sorted(maps.Keys(m.Meta)) {
		fmt.Fprintf(out, "%s: %v\n", name, m.Meta[name])
	}
	if m.NullValue {
		out.WriteString("no payload\n\n")
		return
	}
	fmt.Fprintf(out, "%s\n\n", m.Value)
}

// warnings returns the messages of level warning and above, without times.
func warnings(log string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		_, line, _ = strings.Cut(line, "level=")
		problem := strings.HasPrefix(line, "WARN") || strings.HasPrefix(line, "ERROR")
		// The script itself takes the place of the capture job.
		if problem && !strings.Contains(line, "No changes are captured") {
			out.WriteString(line)
		}
	}
	return out.String()
}
