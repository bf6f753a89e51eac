package crashtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// processServer is a simulator in a process of its own, with its databases in
// a folder. To restart it is to kill it, and to start another on the folder.
type processServer struct {
	command []string
	dir     string

	mu      sync.Mutex
	process *exec.Cmd
	client  *rpc.Client
	address string
	fired   map[Misfortune]int // in the processes that were killed
}

// NewProcessServer starts a simulator by a command that calls [Serve] with the
// arguments that follow those given.
func NewProcessServer(command ...string) (Server, error) {
	dir, err := os.MkdirTemp("", "crashtest")
	if err != nil {
		return nil, err
	}
	s := &processServer{command: command, dir: dir, address: "127.0.0.1:0", fired: map[Misfortune]int{}}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// start runs the process on the address of the last one.
func (s *processServer) start() error {
	cmd := exec.CommandContext(context.Background(), s.command[0], append(s.command[1:], s.dir, s.address)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		return errors.Join(fmt.Errorf("starting the simulator's process: %w", err), cmd.Wait())
	}
	s.process, s.address = cmd, address[:len(address)-1]
	s.client = rpc.NewClient(duplex{lines, in})
	return nil
}

// Serve is the main function of a server's process. It calls back by its
// standard input and output, and ends with its input.
func Serve(dir, address string) error {
	server, err := simulator.New(simulator.Options{
		Dir: dir, Logins: logins, Encryption: simulator.EncryptionUnsupported,
	})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	go func() { _ = server.Serve(listener) }()
	calls := rpc.NewServer()
	if err := calls.RegisterName(callName, &callee{&localServer{Server: server}}); err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	calls.ServeConn(duplex{os.Stdin, os.Stdout})
	return server.Close()
}

const callName = "Server"

// callee has a server's methods as package rpc wants them.
type callee struct{ server *localServer }

// Exec is Server.Exec.
func (c *callee) Exec(script string, _ *struct{}) error { return c.server.Exec(script) }

// Query is Server.Query.
func (c *callee) Query(script string, text *string) (err error) {
	*text, err = c.server.Query(script)
	return err
}

// Capture is Server.Capture.
func (c *callee) Capture(database string, _ *struct{}) error { return c.server.Capture(database) }

// Arm is Server.Arm.
func (c *callee) Arm(f Fault, _ *struct{}) error { return c.server.Arm(f) }

// Fired is Server.Fired.
func (c *callee) Fired(_ struct{}, fired *map[Misfortune]int) (err error) {
	*fired, err = c.server.Fired()
	return err
}

func (s *processServer) call(method string, argument, answer any) error {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	return client.Call(callName+"."+method, argument, answer)
}

// Exec implements [Server].
func (s *processServer) Exec(script string) error { return s.call("Exec", script, &struct{}{}) }

// Query implements [Server].
func (s *processServer) Query(script string) (text string, err error) {
	err = s.call("Query", script, &text)
	return text, err
}

// Capture implements [Server].
func (s *processServer) Capture(database string) error {
	return s.call("Capture", database, &struct{}{})
}

// Arm implements [Server].
func (s *processServer) Arm(f Fault) error { return s.call("Arm", f, &struct{}{}) }

// Fired implements [Server].
func (s *processServer) Fired() (map[Misfortune]int, error) {
	now := map[Misfortune]int{}
	if err := s.call("Fired", struct{}{}, &now); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for do, n := range s.fired {
		now[do] += n
	}
	return now, nil
}

// Restart implements [Server]: it kills the process.
func (s *processServer) Restart() error {
	fired, err := s.Fired()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fired = fired
	s.kill()
	return s.start()
}

func (s *processServer) kill() {
	_ = s.process.Process.Kill()
	_ = s.client.Close()
	_ = s.process.Wait()
}

// Dial implements [Server].
func (s *processServer) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	address := s.address
	s.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// Close implements [Server].
func (s *processServer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
	return os.RemoveAll(s.dir)
}

// duplex joins what is read and what is written.
type duplex struct {
	io.Reader
	io.WriteCloser
}
