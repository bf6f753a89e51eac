package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runMainVariable makes the test binary be the program itself, so that tests
// can kill it as a process.
const runMainVariable = "SQLSERVER_CDC_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMainVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// waitLimit bounds waiting for a line of a process, or for its end.
const waitLimit = 60 * time.Second

// process is a running sqlserver-cdc.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	exited chan struct{}
	code   int

	// reads is how many lines are read before the pipe is left to fill, as a
	// slow consumer does; negative: all.
	reads int

	mu    sync.Mutex
	lines []string
	grown chan struct{} // has room for one: lines has grown
	dying chan struct{} // closed by kill: what is left in the pipe is read
	once  sync.Once
}

// startProcess runs the program with arguments. It is killed at the end of the
// test if it still runs.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	return startSlow(t, -1, args...)
}

// startSlow is startProcess with a consumer that stops after some lines.
func startSlow(t *testing.T, reads int, args ...string) *process {
	t.Helper()
	p := &process{t: t, reads: reads, exited: make(chan struct{}), grown: make(chan struct{}, 1), dying: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), runMainVariable+"=1")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	p.cmd.Stdout, p.cmd.Stderr = write, write
	require.NoError(t, p.cmd.Start())
	write.Close()
	var reading sync.WaitGroup
	reading.Go(func() {
		defer read.Close()
		for s := bufio.NewScanner(read); s.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, s.Text())
			p.mu.Unlock()
			select {
			case p.grown <- struct{}{}:
			default:
			}
			if len(p.lines) == p.reads {
				<-p.dying
			}
		}
	})
	go func() {
		defer close(p.exited)
		reading.Wait()
		_ = p.cmd.Wait()
		p.code = p.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(p.kill)
	return p
}

// output returns the lines printed so far.
func (p *process) output() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines[:len(p.lines):len(p.lines)]
}

// waitFor waits until what was printed satisfies a condition.
func (p *process) waitFor(what string, is func(lines []string) bool) {
	p.t.Helper()
	limit := time.After(waitLimit)
	for !is(p.output()) {
		select {
		case <-p.grown:
		case <-p.exited:
			if !is(p.output()) {
				require.Fail(p.t, "the process has ended", "waiting for %s; it printed:\n%s", what, strings.Join(p.output(), "\n"))
			}
		case <-limit:
			require.Fail(p.t, "nothing came", "waiting for %s; it printed:\n%s", what, strings.Join(p.output(), "\n"))
		}
	}
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.once.Do(func() { close(p.dying) })
	<-p.exited
}

// exit waits for the end of the process and returns its code.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(waitLimit):
		require.Fail(p.t, "the process does not end", "it printed:\n%s", strings.Join(p.output(), "\n"))
	}
	return p.code
}

var listening = regexp.MustCompile(`Listening on (127\.0\.0\.1:(\d+))`)

// startSimulator runs the stand-in server on a folder and returns its port.
func startSimulator(t *testing.T, data, listen string) (p *process, port int) {
	t.Helper()
	p = startProcess(t, "simulator", "--listen", listen, "--data", data, "--password", simulatorPassword)
	p.waitFor("the server's address", func(lines []string) bool {
		m := listening.FindStringSubmatch(strings.Join(lines, "\n"))
		if m != nil {
			port, _ = strconv.Atoi(m[2])
		}
		return m != nil
	})
	return p, port
}

// simulatorExec runs a script against the folder of a server that is not
// running.
func simulatorExec(t *testing.T, data, script string) {
	t.Helper()
	p := startProcess(t, "simulator", "--data", data, "--exec", script)
	require.Zero(t, p.exit(), "%s", strings.Join(p.output(), "\n"))
}

// printed is a line that the pipeline prints.
type printed struct {
	Op, Position string
	ID           int
}

// events returns what a pipeline has printed.
func events(lines []string) (out []printed) {
	for _, line := range lines {
		var e printed
		if json.Unmarshal([]byte(line), &e) == nil && e.Position != "" {
			out = append(out, e)
		}
	}
	return out
}

// pipelineFile writes a pipeline that prints op, position and id of each event.
func pipelineFile(t *testing.T, dir string, port int, fields string) string {
	t.Helper()
	offsets := filepath.Join(dir, "offsets")
	require.NoError(t, os.MkdirAll(offsets, 0o700))
	file := filepath.Join(dir, "pipeline.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
http: { enabled: false }
input:
  sqlserver_cdc:
    host: 127.0.0.1
    port: %d
    user: sa
    password: %q
    encrypt: 'false'
    database_names: [ db ]
    topic_prefix: server1
    checkpoint_cache: offsets
    poll_interval: 50ms
    max_batch_size: 10
    tombstones_on_delete: false
    %s
pipeline:
  processors:
    - mapping: |
        root.op = @op
        root.position = @position
        root.id = if this.after != null { this.after.id } else { this.before.id }
output: { stdout: {} }
cache_resources: [ { label: offsets, file: { directory: %q } } ]
`, port, simulatorPassword, fields, offsets), 0o600))
	return file
}

const processTables = `CREATE DATABASE db
GO
USE db
EXEC sys.sp_cdc_enable_db
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v nvarchar(100) NULL)
DECLARE @i int = 0
WHILE @i < 2000 BEGIN SET @i = @i + 1; INSERT dbo.t VALUES (@i, N'row') END
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL
`

// offsetsOf returns what the pipeline of pipelineFile has saved of its snapshot.
func offsetsOf(t *testing.T, dir string) (all string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "offsets", "*snapshot*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all += string(text)
	}
	return all
}

// Nothing is lost however often pipeline and server are killed, and nothing
// that was saved comes again.
func TestProcess_KillAndGoOn(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "server")
	simulatorExec(t, data, processTables)
	server, port := startSimulator(t, data, "127.0.0.1:0")
	file := pipelineFile(t, dir, port, "snapshot_fetch_size: 20\n    checkpoint_limit: 40\n    max_batch_size: 39\n    max_queue_size: 40")
	seen := map[int]int{}
	count := func(p *process) (read int) {
		for _, e := range events(p.output()) {
			if e.Op == "r" {
				seen[e.ID]++
				read++
			}
		}
		return read
	}

	// kill -9 of the pipeline in the middle of the snapshot.
	p := startSlow(t, 300, "run", file)
	p.waitFor("a part of the snapshot", func(lines []string) bool { return len(lines) == 300 })
	// What is acknowledged is saved a moment later.
	require.Eventually(t, func() bool { return strings.Contains(offsetsOf(t, dir), "after") }, time.Minute, time.Millisecond)
	p.kill()
	read := count(p)
	require.Less(t, read, 2000)
	p = startProcess(t, "run", file)
	p.waitFor("the rest of the snapshot", func(lines []string) bool {
		got := events(lines)
		return len(got) > 0 && got[len(got)-1].ID == 2000
	})
	again := count(p) - (2000 - read)
	require.Len(t, seen, 2000)
	require.Less(t, again, read, "the snapshot goes on in its middle")

	// kill -9 of the server while streaming, changes meanwhile, the same
	// address again: the stream goes on over a new connection.
	server.kill()
	simulatorExec(t, data, "USE db\nINSERT dbo.t VALUES (3001, N'a'), (3002, N'b')\nDELETE dbo.t WHERE id <= 2")
	server, _ = startSimulator(t, data, "127.0.0.1:"+strconv.Itoa(port))
	changes := func(lines []string) (out []printed) {
		for _, e := range events(lines) {
			if e.Op != "r" {
				out = append(out, e)
			}
		}
		return out
	}
	p.waitFor("changes after the server's restart", func(lines []string) bool { return len(changes(lines)) >= 4 })
	before := changes(p.output())

	// kill -9 of the pipeline and the server, and both again: the LSNs are
	// those of before, and the stream goes on behind the last saved one.
	p.kill()
	server.kill()
	simulatorExec(t, data, "USE db\nUPDATE dbo.t SET v = N'c' WHERE id = 3001")
	startSimulator(t, data, "127.0.0.1:"+strconv.Itoa(port))
	p = startProcess(t, "run", file)
	p.waitFor("the update", func(lines []string) bool {
		got := events(lines)
		return len(got) > 0 && got[len(got)-1].Op == "u"
	})
	after := events(p.output())
	for _, e := range after[:len(after)-1] {
		require.Contains(t, before, e, "what comes again is what came before")
	}
	require.Greater(t, after[len(after)-1].Position, before[len(before)-1].Position)

	// A signal ends it in time, with success and with everything saved.
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, p.exit())
	p = startProcess(t, "run", file)
	simulatorLine(t, p)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, p.exit())
	require.Empty(t, events(p.output()))
}

// simulatorLine waits until the input has connected.
func simulatorLine(t *testing.T, p *process) {
	t.Helper()
	p.waitFor("the input to connect", func(lines []string) bool {
		return strings.Contains(strings.Join(lines, "\n"), "Input type sqlserver_cdc is now active")
	})
}

// A folder that does not exist reads like an empty cache: it is found out
// before the first message.
func TestProcess_WrongCacheFolder(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "server")
	simulatorExec(t, data, processTables)
	_, port := startSimulator(t, data, "127.0.0.1:0")
	file := pipelineFile(t, dir, port, "")
	require.NoError(t, os.Remove(filepath.Join(dir, "offsets")))
	p := startProcess(t, "run", file)
	p.waitFor("the error", func(lines []string) bool {
		return strings.Contains(strings.Join(lines, "\n"), "the checkpoint cache does not keep key")
	})
	require.Empty(t, events(p.output()))
}

// A pipeline that cannot go on, and was told to stop then, ends with 2.
func TestProcess_FatalStop(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "server")
	simulatorExec(t, data, processTables)
	_, port := startSimulator(t, data, "127.0.0.1:0")
	p := startProcess(t, "run", pipelineFile(t, dir, port, "on_fatal: stop\n    table_include_list: [ 'dbo\\.none' ]"))
	require.Equal(t, codeFatal, p.exit())
	require.Contains(t, strings.Join(p.output(), "\n"), "sp_cdc_enable_table")
	require.NotContains(t, strings.Join(p.output(), "\n"), simulatorPassword)
}
