package simulator

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// KindLogin is the kind of statement that a login counts as; its object is the
// database asked for.
const KindLogin = "login"

// Fault is something that goes wrong on purpose. It is one-shot unless Keep is
// set.
type Fault struct {
	// On names statements as engine.StatementInfo.Matches reads it: "select",
	// "select from cdc.dbo_orders_ct", "exec:sp_cdc_help_jobs", "begin" and
	// "commit" (as statement or as a driver's transaction request), "login".
	// Empty means every statement, but no login.
	On string
	// App limits the fault to sessions of that application name.
	App string
	// Nth is the number, from 1, of the matching statement that it happens to,
	// counted from the call of Control; 0 is 1. With Keep it happens to that
	// one and all that follow.
	Nth  int
	Keep bool
	// AfterRows and AfterBytes let that much of the statement's answer reach
	// the client first; bytes are counted before encryption, with packet
	// headers. Zero acts before the statement runs. At most one may be set,
	// and AfterBytes goes with Cut, Stall and Restart only.
	AfterRows  int64
	AfterBytes int64
	// Do is what happens.
	Do Action
}

// Action is what a Fault does; see Fail, Cut, Stall, StallFor, Delay and
// RestartServer.
type Action struct {
	kind  actionKind
	err   *sqltypes.Error
	delay time.Duration
}

type actionKind int

const (
	actionNone actionKind = iota
	actionFail
	actionCut
	actionStall
	actionDelay
	actionRestart
)

// Fail answers with an error instead of the statement's result, or instead of
// the rest of it. The error of a class of 20 or more also ends the connection.
func Fail(number int32, class, state uint8, message string) Action {
	return Action{kind: actionFail, err: sqltypes.Errorf(number, state, class, "%s", message)}
}

// Cut closes the connection.
func Cut() Action { return Action{kind: actionCut} }

// Stall keeps the connection open and says nothing more on it, not even to an
// attention, until the client or the server closes it: a dead network.
func Stall() Action { return Action{kind: actionStall} }

// StallFor is Stall by the server's clock, and then Cut: a dead network that a
// device on the way gives up.
func StallFor(d time.Duration) Action { return Action{kind: actionStall, delay: d} }

// Delay waits by the server's clock and goes on; an attention ends the wait.
func Delay(d time.Duration) Action { return Action{kind: actionDelay, delay: d} }

// RestartServer is Server.Restart in the middle of a statement.
func RestartServer() Action { return Action{kind: actionRestart} }

// String says what the action does.
func (a Action) String() string {
	switch a.kind {
	case actionFail:
		return fmt.Sprintf("fail with %d, level %d, state %d, %q", a.err.Number, a.err.Class, a.err.State, a.err.Message)
	case actionCut:
		return "cut the connection"
	case actionStall:
		if a.delay > 0 {
			return "stall for " + a.delay.String()
		}
		return "stall"
	case actionDelay:
		return "wait " + a.delay.String()
	case actionRestart:
		return "restart the server"
	}
	return "do nothing"
}

// String describes the fault on one line.
func (f Fault) String() string {
	var b strings.Builder
	on := f.On
	if on == "" {
		on = "any statement"
	}
	fmt.Fprintf(&b, "on match %d", max(f.Nth, 1))
	if f.Keep {
		b.WriteString(" and later")
	}
	fmt.Fprintf(&b, " of %q", on)
	if f.App != "" {
		fmt.Fprintf(&b, " by %q", f.App)
	}
	switch {
	case f.AfterRows > 0:
		fmt.Fprintf(&b, " after %d rows", f.AfterRows)
	case f.AfterBytes > 0:
		fmt.Fprintf(&b, " after %d bytes", f.AfterBytes)
	}
	return b.String() + ": " + f.Do.String()
}

// ArmedFault is a fault under control.
type ArmedFault struct {
	fault Fault
	set   *faultSet

	mu      sync.Mutex
	matches int
	fired   int
}

// Fired is how often the fault has happened.
func (a *ArmedFault) Fired() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fired
}

// Remove disarms the fault.
func (a *ArmedFault) Remove() { a.set.remove(a) }

// String is the fault's and how often it has happened.
func (a *ArmedFault) String() string { return fmt.Sprintf("%v (%d times)", a.fault, a.Fired()) }

// count counts the statement if it matches, and reports whether the fault is
// due on it.
func (a *ArmedFault) count(info engine.StatementInfo) (due bool) {
	if a.fault.App != "" && !strings.EqualFold(a.fault.App, info.App) {
		return false
	}
	switch {
	case info.Kind == KindLogin && !strings.HasPrefix(strings.ToLower(a.fault.On), KindLogin):
		return false // a login is no statement
	case a.fault.On != "" && !info.Matches(a.fault.On):
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.matches++
	return a.matches >= max(a.fault.Nth, 1)
}

func (a *ArmedFault) fire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fired++
}

// faultSet is the list of armed faults, in the order of their arming.
type faultSet struct {
	mu    sync.Mutex
	armed []*ArmedFault
}

func (s *faultSet) add(f Fault) *ArmedFault {
	a := &ArmedFault{fault: f, set: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = append(s.armed, a)
	return a
}

func (s *faultSet) remove(a *ArmedFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(a)
}

func (s *faultSet) drop(a *ArmedFault) {
	for i, other := range s.armed {
		if other == a {
			s.armed = append(s.armed[:i:i], s.armed[i+1:]...)
			return
		}
	}
}

// match returns the first armed fault that is due on the statement. All armed
// faults count it; another one that is due too waits for the next match.
func (s *faultSet) match(info engine.StatementInfo) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var chosen *ArmedFault
	for _, a := range s.armed {
		if a.count(info) && chosen == nil {
			chosen = a
		}
	}
	if chosen == nil {
		return Fault{}, false
	}
	chosen.fire()
	if !chosen.fault.Keep {
		s.drop(chosen)
	}
	return chosen.fault, true
}

// empty lets statements pass without building anything when nothing is armed.
func (s *faultSet) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.armed) == 0
}
