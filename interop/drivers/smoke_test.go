//go:build interop

package drivers

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// TestSmoke runs every script through every client over every kind of
// encryption.
func TestSmoke(t *testing.T) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			for _, m := range []mode{plain, loginOnly, encrypted, strict} {
				if !slices.Contains(c.modes, m) {
					assert.NotEmpty(t, c.cannot["mode "+string(m)], "no reason why %s is not run", m)
					t.Logf("not run: %s: %s", m, c.cannot["mode "+string(m)])
					continue
				}
				t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
					t.Parallel()
					runScripts(t, c, m)
				})
			}
		})
	}
}

// runScripts runs all scripts, in the order of their names, on one connection
// to a server of its own.
func runScripts(t *testing.T, c client, m mode) {
	scripts, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	p := player{client: c, mode: m, session: c.open(t, startSimulator(t, m), m), skipped: map[string]int{}}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txt"), func(t *testing.T) {
			p.failures = nil
			datadriven.RunTest(t, script, p.play)
			for _, failure := range p.failures {
				t.Error(failure)
			}
		})
	}
	for what, times := range p.skipped {
		t.Logf("not run, %d times: %s: %s", times, what, c.cannot[what])
	}
}

// startSimulator starts a server with an Agent on a port of the loopback
// interface. Without encryption it has no certificate, since some clients
// encrypt the login whenever the server can.
func startSimulator(t *testing.T, m mode) target {
	t.Helper()
	to := target{password: "Sm0ke.test", host: "localhost", authority: filepath.Join(t.TempDir(), "ca.pem")}
	options := simulator.Options{Logins: map[string]string{"sa": to.password}}
	if m == plain {
		options.Encryption = simulator.EncryptionUnsupported
	}
	server, err := simulator.New(options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	require.NoError(t, os.WriteFile(to.authority, server.CertificatePEM(), 0o600))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	to.port = listener.Addr().(*net.TCPAddr).Port
	return to
}

// player runs the commands of scripts in a client.
type player struct {
	client  client
	mode    mode
	session session
	skipped map[string]int
	// failures of the current script, which goes on after one.
	failures []string
	broken   bool // the client is gone
}

// play returns what a script has to hold: the answer, or the expected one when
// the client cannot give it or gives it as nearly as it can.
func (p *player) play(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if reason := p.cannot(d); reason != "" {
		p.skipped[reason]++
		return d.Expected
	}
	if p.broken {
		return d.Expected
	}
	got, err := p.answer(d)
	if errors.Is(err, errGone) {
		p.broken = true
	}
	if err != nil {
		p.failures = append(p.failures, fmt.Sprintf("%s: %s: %v\n%s", d.Pos, d.Cmd, err, d.Input))
		return d.Expected
	}
	if rewriting() || p.client.alike(d.Expected, got) {
		if rewriting() {
			return got
		}
		return d.Expected
	}
	p.failures = append(p.failures, fmt.Sprintf("%s: %s\n%s\nexpected:\n%sgot:\n%s", d.Pos, d.FullCmd(), d.Input, d.Expected, got))
	return d.Expected
}

func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// cannot names the key in client.cannot that a command falls under.
func (p *player) cannot(d *datadriven.TestData) string {
	keys := []string{d.Cmd}
	for _, arg := range d.CmdArgs {
		if arg.Key == "needs" {
			keys = append(keys, arg.Vals...)
		}
	}
	if d.Cmd == "roundtrip" {
		name, _, _ := strings.Cut(d.Input, "\n")
		name, _, _ = strings.Cut(name, "(")
		keys = append(keys, "type "+name)
	}
	for _, key := range keys {
		for _, key := range []string{key, string(p.mode) + " " + key} {
			if _, cannot := p.client.cannot[key]; cannot {
				return key
			}
		}
	}
	return ""
}

// handshakeCost is how many times less often a client connects when it
// encrypts, so that a run takes two minutes and not ten.
const handshakeCost = 10

func (p *player) answer(d *datadriven.TestData) (string, error) {
	if d.Cmd == "roundtrip" {
		return p.roundTrip(d.Input)
	}
	s, err := parseStep(d)
	if err != nil {
		return "", err
	}
	if p.mode != plain {
		s.Times /= handshakeCost
	}
	a, err := p.session.do(s)
	return a.String(), err
}

// roundTrip returns the values that came back.
func (p *player) roundTrip(input string) (string, error) {
	rt, err := parseRoundTrip(input)
	if err != nil {
		return "", err
	}
	for _, s := range []step{rt.table(), rt.parameters()} {
		a, err := p.session.do(s)
		if err != nil {
			return "", err
		}
		for _, r := range a.Runs {
			if r.Error != nil {
				return a.String(), nil
			}
		}
	}
	different, err := p.session.do(rt.different())
	if err != nil {
		return "", err
	}
	values, err := p.session.do(rt.values())
	return different.String() + values.String(), err
}

// alike compares answers line by line and value by value.
func (c client) alike(expected, got string) bool {
	want, have := strings.Split(expected, "\n"), strings.Split(got, "\n")
	return slices.EqualFunc(want, have, func(e, g string) bool {
		return e == g || slices.EqualFunc(strings.Split(e, " | "), strings.Split(g, " | "), c.sameValue)
	})
}

func (c client) sameValue(expected, got string) bool {
	return expected == got || slices.ContainsFunc(c.close, func(l likeness) bool { return l.same(expected, got) })
}
