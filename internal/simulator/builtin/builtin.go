// Package builtin holds the scalar built-in functions of T-SQL that need nothing but
// their arguments and a few facts of the session: text, dates, mathematics, hashes and
// the like. Functions that must not evaluate all their arguments (COALESCE, IIF, CASE),
// aggregates, and those that read the catalogue belong to the executor.
package builtin

import (
	"math/rand/v2"
	"strings"
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
	// DateFirst is SET DATEFIRST: 7 (Sunday) for us_english; 0 means 7.
	DateFirst int
	// Collation is the current database's; nil means the server's default.
	Collation *sqltypes.Collation
	// Rand is the session's random generator; nil takes the process's.
	Rand *Rand
}

// Rand is a session's random generator, which RAND(seed) restarts. The zero Rand draws
// from the process's until then. It belongs to one session and is not for several
// goroutines. Its numbers are not SQL Server's.
type Rand struct {
	source *rand.Rand
}

// NewRand returns a generator that starts from seed.
func NewRand(seed int64) *Rand {
	r := &Rand{}
	r.reseed(seed)
	return r
}

func (r *Rand) reseed(seed int64) {
	r.source = rand.New(rand.NewPCG(uint64(seed), 0))
}

// float64 returns the next number in [0, 1).
func (r *Rand) float64() float64 {
	if r == nil || r.source == nil {
		return rand.Float64()
	}
	return r.source.Float64()
}

func (r *Rand) uint64() uint64 {
	if r == nil || r.source == nil {
		return rand.Uint64()
	}
	return r.source.Uint64()
}

// Function is one scalar function.
type Function struct {
	// Name in upper case.
	Name string
	// MinArgs and MaxArgs bound the number of arguments; MaxArgs -1 is unbounded.
	MinArgs, MaxArgs int
	// DatePart says that argument 0 is a date part written as a bare word, as in
	// DATEADD(day, 1, d). It is passed as a text value.
	DatePart bool
	// Deterministic functions of constants may be computed once.
	Deterministic bool
	// ResultType gives the type of the result, or the error that SQL Server reports for
	// arguments of these types. It wants the number of arguments to be right.
	ResultType func(args []sqltypes.Type) (sqltypes.Type, error)
	// Eval computes the result, a value of ResultType(types).
	Eval func(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error)

	// nulls says that NULL arguments do not simply give NULL.
	nulls bool
}

// CheckArgs reports a wrong number of arguments: error 174 or 189.
func (f *Function) CheckArgs(n int) error {
	name := strings.ToLower(f.Name)
	switch {
	case n >= f.MinArgs && (f.MaxArgs < 0 || n <= f.MaxArgs):
		return nil
	case f.MinArgs == f.MaxArgs:
		return sqltypes.Errorf(174, 1, 15, "The %s function requires %d argument(s).", name, f.MinArgs)
	case f.MaxArgs < 0:
		return sqltypes.Errorf(189, 1, 15, "The %s function requires %d to %d arguments.", name, f.MinArgs, maxArguments)
	default:
		return sqltypes.Errorf(189, 1, 15, "The %s function requires %d to %d arguments.", name, f.MinArgs, f.MaxArgs)
	}
}

// maxArguments is the most that any function takes: CONCAT's limit.
const maxArguments = 254

// Lookup finds a function by its name in any case.
func Lookup(name string) (*Function, bool) {
	f, ok := functions[strings.ToUpper(name)]
	return f, ok
}

// functions is the table of all functions by upper-case name.
var functions = register(
	textFunctions, searchFunctions, characterFunctions, clockFunctions, dateFunctions, datePartFunctions,
	mathFunctions, roundingFunctions, hashFunctions, miscFunctions, formatFunctions, bitFunctions, jsonFunctions, byteFunctions, bucketFunctions,
)

func register(groups ...[]Function) map[string]*Function {
	table := make(map[string]*Function)
	for _, group := range groups {
		for _, f := range group {
			if !f.nulls {
				f.Eval = strict(f.Eval)
			}
			table[f.Name] = &f
		}
	}
	return table
}

// strict gives NULL when any argument is NULL.
func strict(eval evalFunc) evalFunc {
	return func(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		for _, a := range args {
			if a.IsNull() {
				return sqltypes.Null(), nil
			}
		}
		return eval(env, args, types)
	}
}

type (
	evalFunc = func(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error)
	typeFunc = func(args []sqltypes.Type) (sqltypes.Type, error)
)
