//go:build interop

package drivers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a client in another language: it reads steps from its standard
// input and writes answers to its standard output, a line of JSON each. Where
// to connect is in its environment.
type process struct {
	steps   *json.Encoder
	answers *bufio.Reader
	errors  *bytes.Buffer
	end     context.CancelFunc
}

// errGone says that a client answers no more.
var errGone = errors.New("the client has ended")

// patience is the most that a step may take, on a machine busy with others.
const patience = 60 * time.Second

func openProcess(t *testing.T, to target, m mode, name string, args ...string) session {
	t.Helper()
	// It outlives the test's context, to end by itself.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(),
		"INTEROP_HOST="+to.host,
		"INTEROP_PORT="+strconv.Itoa(to.port),
		"INTEROP_USER=sa",
		"INTEROP_PASSWORD="+to.password,
		"INTEROP_MODE="+string(m),
		"INTEROP_CA="+to.authority,
	)
	p := &process{errors: &bytes.Buffer{}, end: cancel}
	command.Stderr = p.errors
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start(), "run ./interop/drivers/setup first")
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := command.Wait(); err != nil && !t.Failed() {
			t.Errorf("%s: %v\n%s", name, err, p.errors)
		}
	})
	p.steps, p.answers = json.NewEncoder(in), bufio.NewReaderSize(out, 1<<20)
	return p
}

func (p *process) do(s step) (answer, error) {
	defer time.AfterFunc(patience, p.end).Stop()
	if err := p.steps.Encode(s); err != nil {
		return answer{}, fmt.Errorf("%w: sending a step: %w\n%s", errGone, err, p.errors)
	}
	line, err := p.answers.ReadBytes('\n')
	if err != nil {
		return answer{}, fmt.Errorf("%w: reading an answer: %w\n%s", errGone, err, p.errors)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, fmt.Errorf("answer %.200q: %w", line, err)
	}
	if a.Refused != "" {
		return a, fmt.Errorf("adapter: %s", a.Refused)
	}
	return a, nil
}
