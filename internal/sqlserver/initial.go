package sqlserver

import (
	"context"
	"errors"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"
)

// InitialStatementError is a statement of the configuration that failed on a
// new connection. It tells which by its number: the statement may hold a
// secret, and so may what the server says of it, which quotes values and the
// place of a syntax error.
type InitialStatementError struct {
	Number int // from 1
	Err    error
}

// Error names the statement and, of the server's error, its numbers.
func (e *InitialStatementError) Error() string {
	var server mssql.Error
	if errors.As(e.Err, &server) {
		return fmt.Sprintf("running database_initial_statements, number %d: error %d of the server, severity %d, state %d, line %d",
			e.Number, server.Number, server.Class, server.State, server.LineNo)
	}
	return fmt.Sprintf("running database_initial_statements, number %d: %v", e.Number, e.Err)
}

// Unwrap returns the cause, which may hold a secret when printed.
func (e *InitialStatementError) Unwrap() error { return e.Err }

// runInitial runs the statements that every connection begins with.
func (c *Conn) runInitial(ctx context.Context, statements []string) error {
	for i, text := range statements {
		if err := c.Exec(ctx, text); err != nil {
			return &InitialStatementError{Number: i + 1, Err: err}
		}
	}
	return nil
}
