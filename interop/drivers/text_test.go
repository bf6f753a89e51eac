//go:build interop

package drivers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fieldEnd separates values in what command-line clients print.
const fieldEnd = "\x1f"

// textClient is a command-line client: it reads batches, each ended by GO, and
// prints what came of them for people to read.
type textClient struct {
	start func(ctx context.Context) *exec.Cmd
	// prompt is what the client prints before what a batch gives.
	prompt *regexp.Regexp
	// failure matches the line before the text of an error: number, level and
	// state.
	failure *regexp.Regexp
	// line takes a line apart that is part of a result set.
	line func(line string) (cells []string, ok bool)
}

// textSession is a running command-line client.
type textSession struct {
	textClient
	ctx   context.Context
	end   context.CancelFunc
	in    io.WriteCloser
	out   *bufio.Reader
	wait  func() error
	steps int
}

func openText(t *testing.T, c textClient) session {
	t.Helper()
	s, err := c.open(t.Context())
	require.NoError(t, err, "run ./interop/drivers/setup first")
	t.Cleanup(func() { _ = s.close() })
	return s
}

func (c textClient) open(ctx context.Context) (*textSession, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // close ends it
	s := &textSession{textClient: c, ctx: ctx, end: cancel}
	command := c.start(ctx)
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// One pipe for both, so that errors keep their place.
	command.Stdout, command.Stderr = writer, writer
	if s.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	_ = writer.Close()
	s.out = bufio.NewReader(reader)
	s.wait = func() error {
		defer reader.Close()
		return command.Wait()
	}
	return s, nil
}

func (s *textSession) close() error {
	_ = s.in.Close()
	defer s.end()
	defer time.AfterFunc(patience, s.end).Stop()
	_, _ = io.Copy(io.Discard, s.out)
	return s.wait()
}

func (s *textSession) do(st step) (answer, error) {
	switch st.Op {
	case "batch":
		return s.batch(st.SQL)
	case "begin", "commit", "save", "rollback":
		return s.batch(transactionSQL(st))
	case "params":
		return s.params(st)
	case "kill":
		return s.kill(st)
	}
	return answer{}, errors.New("unknown command")
}

// batch runs a batch and, behind it, one that prints where its output ends.
func (s *textSession) batch(statement string) (answer, error) {
	defer time.AfterFunc(patience, s.end).Stop()
	s.steps++
	marker := fmt.Sprintf("end of step %d", s.steps)
	if _, err := fmt.Fprintf(s.in, "%s\nGO\nPRINT '%s'\nGO\n", statement, marker); err != nil {
		return answer{}, fmt.Errorf("%w: sending a batch: %w", errGone, err)
	}
	var lines []string
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return answer{}, fmt.Errorf("%w: reading: %w\n%s", errGone, err, strings.Join(lines, "\n"))
		}
		line = strings.TrimSuffix(line, "\n")
		if s.prompt != nil {
			line = s.prompt.ReplaceAllString(line, "")
		}
		if line == marker {
			return oneRun(s.parse(lines), nil)
		}
		lines = append(lines, line)
	}
}

// params runs a statement by sp_executesql, since there are no parameters but
// in the text.
func (s *textSession) params(st step) (answer, error) {
	declarations := make([]string, len(st.Params))
	for i, p := range st.Params {
		declarations[i] = "@" + p.Name + " " + p.Type
	}
	var all answer
	for _, row := range st.Rows {
		call := fmt.Sprintf("EXEC sp_executesql N'%s', N'%s'", strings.ReplaceAll(st.SQL, "'", "''"), strings.Join(declarations, ", "))
		for i, p := range st.Params {
			call += fmt.Sprintf(", @%s = %s", p.Name, literal(p.Type, row[i]))
		}
		if !returnsRows(st.SQL) {
			call += "\nPRINT @@ROWCOUNT"
		}
		a, err := s.batch(call)
		if err != nil {
			return a, err
		}
		if !returnsRows(st.SQL) {
			a.Runs[0].takeCount()
		}
		all.Runs = append(all.Runs, a.Runs...)
	}
	return all, nil
}

// takeCount makes the printed count what it is.
func (r *run) takeCount() {
	if n := len(r.Messages); n > 0 {
		count, _ := strconv.ParseInt(r.Messages[n-1], 10, 64)
		r.Messages = r.Messages[:n-1]
		if r.Error == nil {
			r.Affected = &count
		}
	}
}

// kill kills a second process while it runs a statement.
func (s *textSession) kill(st step) (answer, error) {
	victim, err := s.open(s.ctx)
	if err != nil {
		return answer{}, err
	}
	if _, err := victim.batch(st.SQL); err != nil {
		return answer{}, err
	}
	if _, err := fmt.Fprintf(victim.in, "%s\nGO\n", st.Then); err != nil {
		return answer{}, err
	}
	victim.end()
	if err := victim.wait(); err == nil {
		return answer{}, errors.New("a killed process ended well")
	}
	return answer{}, nil
}

var affected = regexp.MustCompile(`^\(\d+ rows? affected\)$`)

// underline is the line below the names of columns.
var underline = regexp.MustCompile(`^-+(` + fieldEnd + `-+)*$`)

// parse reads what a batch printed.
func (s *textSession) parse(lines []string) run {
	var r run
	open := false // a result set whose count is still to come
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := s.failure.FindStringSubmatch(line); m != nil && i+1 < len(lines) {
			i++
			r.printedError(m, lines[i])
			open = false
			continue
		}
		if s.endsSet(lines[i:]) {
			open = false
			continue
		}
		if affected.MatchString(line) {
			open = false
			continue
		}
		underlined := i+1 < len(lines) && underline.MatchString(lines[i+1])
		if cells, ok := s.line(line); ok || open || underlined {
			if !open {
				r.Sets = append(r.Sets, resultSet{Columns: cells})
				open = true
				continue
			}
			set := &r.Sets[len(r.Sets)-1]
			if row, ok := textRow(cells, len(set.Columns)); ok {
				set.Rows = append(set.Rows, row)
			}
			continue
		}
		if line != "" && !isContextText(line) {
			r.Messages = append(r.Messages, line)
		}
	}
	return r
}

// isContextText tells the texts of isContextChange's messages, and the status
// that procedures return by themselves.
func isContextText(line string) bool {
	return strings.HasPrefix(line, "Changed database context") || line == "The statement has been terminated." ||
		strings.HasPrefix(line, "(return status = ")
}

// endsSet tells the blank line behind the rows of a set from an empty value.
func (s *textSession) endsSet(lines []string) bool {
	if lines[0] != "" {
		return false
	}
	return len(lines) == 1 || affected.MatchString(lines[1]) || s.failure.MatchString(lines[1]) ||
		len(lines) > 2 && underline.MatchString(lines[2])
}

func (r *run) printedError(m []string, text string) {
	number, _ := strconv.ParseInt(m[1], 10, 32)
	level, _ := strconv.Atoi(m[2])
	state, _ := strconv.Atoi(m[3])
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\t\""), `"`)
	switch {
	case isContextChange(int32(number)):
	case level <= 10:
		r.Messages = append(r.Messages, text)
	case r.Error == nil:
		r.Error = &sqlError{Number: int32(number), Level: level, State: state, Message: text}
	}
}

// textRow is a row of as many values as there are columns; lines of dashes and
// blank ones are none.
func textRow(cells []string, columns int) ([]cell, bool) {
	if len(cells) != columns || strings.Trim(strings.Join(cells, ""), "-") == "" && strings.Join(cells, "") != "" {
		return nil, false
	}
	row := make([]cell, len(cells))
	for i, text := range cells {
		row[i] = textCell(text)
		row[i].null = text == "NULL"
	}
	return row, true
}
