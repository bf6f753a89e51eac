package crashtest

import (
	"errors"
	"regexp"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// fatal is why a pipeline cannot go on in a database.
type fatal struct {
	reason string
	text   string
}

// Error implements error.
func (f *fatal) Error() string { return f.text }

// fatalLine is what an input logs that cannot go on in one of its databases.
var fatalLine = regexp.MustCompile(`(?m)^.*"Cannot go on \((\w+)\).*$`)

// fatalOf returns why a pipeline has ended by itself, or why it does not go on
// in one of its databases; nil if it does.
func fatalOf(ended error, stream *streamtest.Stream) *fatal {
	var problem sqlserver.Problem
	switch {
	case errors.As(ended, &problem):
		return &fatal{problem.Reason(), ended.Error()}
	case ended != nil:
		return &fatal{"", ended.Error()}
	}
	if line := fatalLine.FindStringSubmatch(stream.Log.String()); line != nil {
		return &fatal{line[1], line[0]}
	}
	return nil
}
