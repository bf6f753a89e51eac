package crashtest

import (
	"errors"
	"regexp"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// fatal is why a pipeline cannot go on, at all, in a database or with a table.
type fatal struct {
	reason string
	text   string
}

// Error implements error.
func (f *fatal) Error() string { return f.text }

// fatalLine is what an input logs that cannot go on in one of its databases, or
// with a table.
var fatalLine = regexp.MustCompile(`(?m)^.*msg="(?:Cannot go on|Table \S+ is held at position \S+) \((\w+)\).*$`)

// fatalOf returns why a pipeline has ended by itself, or what it does not go on
// with, that of denied tables apart; nil if it goes on.
func fatalOf(ended error, stream *streamtest.Stream, denied bool) *fatal {
	var problem sqlserver.Problem
	switch {
	case errors.As(ended, &problem):
		return &fatal{problem.Reason(), ended.Error()}
	case ended != nil:
		return &fatal{"", ended.Error()}
	}
	for _, line := range fatalLine.FindAllStringSubmatch(stream.Log.String(), -1) {
		if !denied || line[1] != sqlserver.ReasonPermission {
			return &fatal{line[1], line[0]}
		}
	}
	return nil
}
