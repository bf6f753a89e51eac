package debezium

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Step is one thing that happens in a scenario: one of the types of this file.
type Step interface {
	// String is the step as it is written.
	String() string
}

// SQL runs a script in the first database, with GO between its batches.
type SQL struct{ Script string }

// Capture lets the capture job read the logs of all databases once.
type Capture struct{}

// Start starts the connector with the scenario's properties and some of its own.
type Start struct{ Properties Properties }

// Stop stops the connector in the regular way.
type Stop struct{}

// StopOrFail waits as WaitQuiet does and then stops the connector, unless it
// fails with an error that contains the text: for steps that are played with
// properties under which it fails and others. Records behind the failure show
// which it was.
type StopOrFail struct{ Text string }

// Restart is Stop and Start.
type Restart struct{ Properties Properties }

// Signal puts a row into the signal table.
type Signal struct{ Type, Data string }

// Begin runs statements in a transaction of a session of its own, which stays
// open until Commit or Rollback.
type Begin struct{ Statements string }

// Commit commits what Begin began.
type Commit struct{}

// Rollback undoes what Begin began.
type Rollback struct{}

// Disconnect closes all connections to the server, as its restart does.
type Disconnect struct{}

// Clock moves the server's clock ahead.
type Clock struct{ Ahead time.Duration }

// WaitRecords waits until the connector has emitted so many records behind
// those that were waited for before.
type WaitRecords struct{ Count int }

// WaitQuiet waits until the connector has looked for changes and nothing is on
// its way. Every record so far counts as waited for. With Capturing the capture
// job reads the log before, and again until that brings no record, for a
// connector that waits for its own writes.
type WaitQuiet struct{ Capturing bool }

// WaitPhase waits until the connector has come to a phase since its last start.
type WaitPhase struct{ Phase Phase }

// WaitError waits until the connector has failed with an error that contains
// the text.
type WaitError struct{ Text string }

// WaitUntil waits until a condition of SQL holds in the first database.
type WaitUntil struct{ Condition string }

const (
	stepMark    = "--> "
	stopOrError = "stop or error "
)

// String is the script.
func (s SQL) String() string { return strings.TrimSpace(s.Script) }

// String is "capture".
func (Capture) String() string { return stepMark + "capture" }

// String is "start" and its properties.
func (s Start) String() string { return stepMark + "start" + assignments(s.Properties) }

// String is "stop".
func (Stop) String() string { return stepMark + "stop" }

// String is "stop or error" and the text.
func (s StopOrFail) String() string { return stepMark + stopOrError + s.Text }

// String is "restart" and its properties.
func (s Restart) String() string { return stepMark + "restart" + assignments(s.Properties) }

// String is "signal", the type and the data.
func (s Signal) String() string { return stepMark + "signal " + s.Type + " " + s.Data }

// String is "begin" and the statements.
func (s Begin) String() string { return stepMark + "begin " + s.Statements }

// String is "commit".
func (Commit) String() string { return stepMark + "commit" }

// String is "rollback".
func (Rollback) String() string { return stepMark + "rollback" }

// String is "disconnect".
func (Disconnect) String() string { return stepMark + "disconnect" }

// String is "clock" and the duration.
func (s Clock) String() string { return stepMark + "clock +" + s.Ahead.String() }

// String is "wait" and the count.
func (s WaitRecords) String() string { return fmt.Sprintf("%swait %d records", stepMark, s.Count) }

// String is "wait quiet" and "capturing" if so.
func (s WaitQuiet) String() string {
	if s.Capturing {
		return stepMark + "wait quiet capturing"
	}
	return stepMark + "wait quiet"
}

// String is "wait" and the phase.
func (s WaitPhase) String() string { return stepMark + "wait " + string(s.Phase) }

// String is "wait error" and the text.
func (s WaitError) String() string { return stepMark + "wait error " + s.Text }

// String is "wait until" and the condition.
func (s WaitUntil) String() string { return stepMark + "wait until " + s.Condition }

// parseStep reads a step other than SQL, without its mark.
func parseStep(text string) (Step, error) {
	if failure, ok := strings.CutPrefix(text, stopOrError); ok {
		return StopOrFail{Text: failure}, nil
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "capture":
		return Capture{}, noArguments(verb, rest)
	case "disconnect":
		return Disconnect{}, noArguments(verb, rest)
	case "stop":
		return Stop{}, noArguments(verb, rest)
	case "start":
		properties, err := parseAssignments(rest)
		return Start{Properties: properties}, err
	case "restart":
		properties, err := parseAssignments(rest)
		return Restart{Properties: properties}, err
	case "signal":
		kind, data, ok := strings.Cut(rest, " ")
		if !ok {
			return nil, fmt.Errorf("signal: want a type and data, got %q", rest)
		}
		return Signal{Type: kind, Data: strings.TrimSpace(data)}, nil
	case "begin":
		if rest == "" {
			return nil, errors.New("begin: want statements")
		}
		return Begin{Statements: rest}, nil
	case "commit":
		return Commit{}, noArguments(verb, rest)
	case "rollback":
		return Rollback{}, noArguments(verb, rest)
	case "clock":
		ahead, err := time.ParseDuration(rest)
		if err != nil || ahead <= 0 {
			return nil, fmt.Errorf("clock: want a duration ahead such as +5s, got %q", rest)
		}
		return Clock{Ahead: ahead}, nil
	case "wait":
		return parseWait(rest)
	}
	return nil, fmt.Errorf("unknown step %q", verb)
}

func parseWait(rest string) (Step, error) {
	if text, ok := strings.CutPrefix(rest, "error "); ok {
		return WaitError{Text: text}, nil
	}
	if condition, ok := strings.CutPrefix(rest, "until "); ok {
		return WaitUntil{Condition: condition}, nil
	}
	switch rest {
	case "quiet":
		return WaitQuiet{}, nil
	case "quiet capturing":
		return WaitQuiet{Capturing: true}, nil
	case string(PhaseSnapshotDone), string(PhaseStreaming), string(PhaseStarted):
		return WaitPhase{Phase: Phase(rest)}, nil
	}
	count, unit, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || strings.TrimSuffix(unit, "s") != "record" {
		return nil, fmt.Errorf("wait: want a number of records, quiet, until, a phase or error, got %q", rest)
	}
	return WaitRecords{Count: n}, nil
}

func noArguments(verb, rest string) error {
	if rest != "" {
		return fmt.Errorf("%s: wants nothing more, got %q", verb, rest)
	}
	return nil
}

// parseAssignments reads name=value pairs with blanks between them.
func parseAssignments(text string) (Properties, error) {
	properties := Properties{}
	for field := range strings.FieldsSeq(text) {
		if err := properties.set(field); err != nil {
			return nil, err
		}
	}
	return properties, nil
}
