package engine

import (
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// errStop ends a row stream early (TOP reached, EXISTS answered); it never
// leaves the executor.
var errStop = errors.New("no more rows wanted")

// raise returns an error of level 16, state 1.
func raise(number int32, format string, args ...any) *sqltypes.Error {
	return sqltypes.Errorf(number, 1, 16, format, args...)
}

// unsupported names a construct that this engine lacks.
func unsupported(what string) *sqltypes.Error {
	return sqltypes.Errorf(40000, 1, 15, "%s is not supported by this server.", what)
}

func errInvalidObject(name string) *sqltypes.Error {
	return sqltypes.Errorf(208, 1, 16, "Invalid object name '%s'.", name)
}

func errInvalidColumn(name string) *sqltypes.Error {
	return sqltypes.Errorf(207, 1, 16, "Invalid column name '%s'.", name)
}

// asServerError turns any error of the layers below into the one a client sees;
// nil when it is not a server error, so that the session's work must end.
func asServerError(err error) *sqltypes.Error {
	var e *sqltypes.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

func errUnknownHint(hint string) error {
	return sqltypes.Errorf(321, 1, 15, "\"%s\" is not a recognized table hints option. If it is intended as a parameter to a table-valued function or to the CHANGETABLE function, ensure that your database compatibility mode is set to 90.", hint)
}
