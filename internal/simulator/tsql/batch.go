package tsql

import (
	"strconv"
	"strings"
)

// Batch is one batch of a script.
type Batch struct {
	Text  string
	Line  int // line of the script at which Text begins, counted from 1
	Count int // GO n: run it n times
}

// SplitBatches cuts a script at its GO lines, as sqlcmd does: GO stands alone
// on its line, optionally with a count, and not inside a string, a quoted
// name or a block comment. Blank batches are left out.
func SplitBatches(script string) []Batch {
	var batches []Batch
	var state scanState
	start, startLine, line := 0, 1, 1
	add := func(end, count int) {
		if text := script[start:end]; strings.TrimSpace(text) != "" {
			batches = append(batches, Batch{Text: text, Line: startLine, Count: count})
		}
	}
	for pos := 0; pos < len(script); line++ {
		end := pos + strings.IndexByte(script[pos:], '\n') + 1
		if end == pos {
			end = len(script)
		}
		if count, ok := goLine(script[pos:end]); ok && state.outside() {
			add(pos, count)
			start, startLine = end, line+1
		} else {
			state.pass(script[pos:end])
		}
		pos = end
	}
	add(len(script), 1)
	return batches
}

// goLine reports whether a line is GO or GO n, optionally followed by a
// semicolon or a line comment.
func goLine(line string) (count int, ok bool) {
	if comment := strings.Index(line, "--"); comment >= 0 {
		line = line[:comment]
	}
	fields := strings.Fields(strings.TrimRight(strings.TrimSpace(line), ";"))
	if len(fields) == 0 || len(fields) > 2 || !strings.EqualFold(fields[0], "GO") {
		return 0, false
	}
	if len(fields) == 1 {
		return 1, true
	}
	n, err := strconv.Atoi(fields[1])
	return n, err == nil && n > 0
}

// scanState is where a scan of a script stands: in what kind of quoting, and
// how deep in nested comments.
type scanState struct {
	closing  byte // of the open quotation, 0 outside
	comments int
}

func (s *scanState) outside() bool { return s.closing == 0 && s.comments == 0 }

// pass moves over one line.
func (s *scanState) pass(line string) {
	for i := 0; i < len(line); i++ {
		pair := line[i:min(i+2, len(line))]
		switch {
		case s.closing == ']' && pair == "]]":
			i++
		case s.closing != 0:
			// A doubled quotation mark leaves and enters again, which is the same.
			if line[i] == s.closing {
				s.closing = 0
			}
		case pair == "/*":
			s.comments++
			i++
		case s.comments > 0:
			if pair == "*/" {
				s.comments--
				i++
			}
		case pair == "--":
			return
		case line[i] == '[':
			s.closing = ']'
		case line[i] == '\'' || line[i] == '"':
			s.closing = line[i]
		}
	}
}
