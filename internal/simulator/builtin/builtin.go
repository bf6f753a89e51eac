// Package builtin holds the scalar built-in functions of T-SQL that need nothing but
// their arguments and a few facts of the session.
package builtin

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Env is what functions may know about the session that calls them.
type Env interface {
	// Now is the server's clock; all calls within one statement return the same time.
	Now() time.Time
	// Location is the server's time zone.
	Location() *time.Location
	// Session returns session settings that change results.
	Session() Session
}

// Session is the part of a session's state that functions read.
type Session struct {
	// DateFirst is SET DATEFIRST: 7 (Sunday) for us_english.
	DateFirst int
	// Collation is the current database's.
	Collation *sqltypes.Collation
	// Rand is the session's RAND() generator, seeded by RAND(seed). Nil: a fixed seed.
	Rand *Rand
}

type Rand struct{}

// Function is one scalar function.
type Function struct {
	// Name in upper case.
	Name string
	// MinArgs and MaxArgs bound the number of arguments; MaxArgs -1 is unbounded.
	MinArgs, MaxArgs int
	// DatePart says that argument 0 is a date part written as a bare word (DATEADD), given as a text value.
	DatePart bool
	// Deterministic: may be folded when arguments are constants.
	Deterministic bool
	ResultType    func(args []sqltypes.Type) (sqltypes.Type, error)
	Eval          func(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error)
}

// Lookup finds a function by its name in any case.
func Lookup(name string) (*Function, bool) { panic("x") }
