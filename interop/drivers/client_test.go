//go:build interop

package drivers

import (
	"testing"
)

// mode is a kind of encryption.
type mode string

const (
	plain     mode = "plain"
	loginOnly mode = "login only"
	encrypted mode = "encrypted"
	strict    mode = "strict"
)

// client is a program or library that takes the simulator for SQL Server.
type client struct {
	name  string
	modes []mode
	// open connects as sa and ends with the test.
	open func(t *testing.T, to target, m mode) session
	// cannot says for each command of the scripts that the client has no way
	// to carry out, or "mode …" or "type …", why; "strict …" holds in one mode.
	cannot map[string]string
	// close declares values that the client cannot hold: an answer that is not
	// the expected one is accepted when one of these takes it for the same.
	close []likeness
}

// likeness is a way in which a client's values are less than the server's.
type likeness struct {
	why  string
	same func(expected, got string) bool
}

// session is one connection of a client.
type session interface {
	do(s step) (answer, error)
}

// target is where the simulator listens and how to trust it.
type target struct {
	port      int
	password  string
	authority string // file with the certificate authority, PEM
	host      string
}

// clients are all that there are.
func clients() []client {
	return []client{goMSSQLDB, goSQLCmd, jdbc, tedious, pythonTDS, freeTDS}
}
