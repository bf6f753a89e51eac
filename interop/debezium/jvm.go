package debezium

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// JVM is the process of the runner in src/main/java. It serves many runs of
// connectors, one after the other or at once.
type JVM struct {
	command *exec.Cmd
	ended   chan struct{}

	inMu sync.Mutex
	in   io.WriteCloser

	mu    sync.Mutex
	runs  map[string]*run
	fault error // why the process is of no use any more
}

// run is what the events of one run go to.
type run struct {
	recorder *Recorder
	status   chan runStatus
}

// runStatus is the runner's answer to the command "status".
type runStatus struct {
	Ended   bool  `json:"ended"`
	Records int64 `json:"records"`
	Queued  int64 `json:"queued"`
}

// StartJVM starts the runner that the script "build" has put into target, a
// folder. What it logs goes to log.
func StartJVM(ctx context.Context, target string, log io.Writer) (*JVM, error) {
	java, err := FindJava(ctx)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, java,
		// Connectors start and end all the time: start fast rather than run fast.
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m",
		"-XX:+AutoCreateSharedArchive", "-XX:SharedArchiveFile="+filepath.Join(target, "runner.jsa"),
		"-Xlog:disable", "-Xlog:all=error:stderr",
		// Debezium's converters read dates in the zone of the JVM.
		"-Duser.timezone=UTC", "-Duser.language=en",
		"-jar", filepath.Join(target, "runner.jar"))
	command.Stderr = log
	command.WaitDelay = closePatience
	in, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting the runner's input: %w", err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting the runner's output: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the runner: %w", err)
	}
	j := &JVM{command: command, ended: make(chan struct{}), in: in, runs: map[string]*run{}}
	go j.read(out)
	return j, nil
}

// Close lets the runner stop its runs and end.
func (j *JVM) Close() error {
	j.inMu.Lock()
	err := j.in.Close()
	j.inMu.Unlock()
	select {
	case <-j.ended:
	case <-time.After(3 * closePatience):
		err = errors.Join(err, errors.New("the runner does not end"), j.command.Process.Kill())
		<-j.ended
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !errors.Is(j.fault, io.EOF) {
		err = errors.Join(err, j.fault)
	}
	return err
}

// start starts a run whose events go to the recorder.
func (j *JVM) start(name string, properties Properties, recorder *Recorder) error {
	j.mu.Lock()
	known := j.runs[name]
	if known == nil {
		known = &run{status: make(chan runStatus, 1)}
		j.runs[name] = known
	}
	known.recorder = recorder
	j.mu.Unlock()
	return j.send(map[string]any{"command": "start", "run": name, "properties": properties})
}

func (j *JVM) stop(name string) error {
	return j.send(map[string]any{"command": "stop", "run": name})
}

func (j *JVM) status(ctx context.Context, name string) (runStatus, error) {
	if err := j.send(map[string]any{"command": "status", "run": name}); err != nil {
		return runStatus{}, err
	}
	j.mu.Lock()
	known := j.runs[name]
	j.mu.Unlock()
	select {
	case status := <-known.status:
		return status, nil
	case <-j.ended:
		return runStatus{}, j.failure()
	case <-ctx.Done():
		return runStatus{}, fmt.Errorf("asking for the state of run %q: %w", name, context.Cause(ctx))
	}
}

func (j *JVM) send(command map[string]any) error {
	line, err := json.Marshal(command)
	if err != nil {
		return fmt.Errorf("encoding a command: %w", err)
	}
	j.inMu.Lock()
	defer j.inMu.Unlock()
	if _, err := j.in.Write(append(line, '\n')); err != nil {
		return errors.Join(fmt.Errorf("sending a command to the runner: %w", err), j.failure())
	}
	return nil
}

func (j *JVM) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fault
}

// event is one line of the runner's output.
type event struct {
	Run     string `json:"run"`
	Event   string `json:"event"`
	Message string `json:"message"`
	Record
	runStatus
}

// read hands out the runner's events until its end.
func (j *JVM) read(out io.Reader) {
	err := j.dispatchAll(out)
	if waited := j.command.Wait(); waited != nil {
		err = fmt.Errorf("running the runner: %w", waited)
	}
	j.mu.Lock()
	j.fault = err
	for _, run := range j.runs {
		run.recorder.Fail("the runner has ended: " + err.Error())
	}
	j.mu.Unlock()
	close(j.ended)
}

func (j *JVM) dispatchAll(out io.Reader) error {
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return err // io.EOF at the regular end
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("reading the runner's line %q: %w", line, err)
		}
		j.dispatch(e)
	}
}

func (j *JVM) dispatch(e event) {
	j.mu.Lock()
	run := j.runs[e.Run]
	j.mu.Unlock()
	if run == nil {
		return // "ready", of no run
	}
	switch e.Event {
	case "record":
		run.recorder.Record(e.Record)
	case "status":
		run.status <- e.runStatus
	case "error":
		run.recorder.Fail(e.Message)
	default:
		run.recorder.Reach(Phase(e.Event))
	}
}
