package engine

import (
	"context"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// Param is a parameter of a registered procedure or function.
type Param struct {
	// Name carries its leading @.
	Name string
	Type sqltypes.Type
	// Default is used when the caller leaves the parameter out; nil means the
	// parameter is required (error 201).
	Default *sqltypes.Value
	Output  bool

	// table is set for a table-valued parameter, whose Type is none; tableName
	// is its type's name.
	table     *tsql.TableType
	tableName string
}

// Procedure is a stored procedure written in Go.
type Procedure struct {
	Params []Param
	// Run executes the procedure. args has one value for each parameter, already
	// converted to its type; Run stores output parameters back into args. The
	// returned error, a *sqltypes.Error, is raised as the procedure's own.
	Run func(x *Exec, args []sqltypes.Value) (status int32, err error)
}

// Function is a scalar function written in Go.
type Function struct {
	Params  []Param
	Returns sqltypes.Type
	Call    func(x *Exec, args []sqltypes.Value) (sqltypes.Value, error)
}

// TableFunction is a table-valued function written in Go.
type TableFunction struct {
	Params  []Param
	Columns []Column
	// Rows calls emit for each row; emit keeps no reference to the slice.
	Rows func(x *Exec, args []sqltypes.Value, emit func(row []sqltypes.Value) error) error
	// Query, when set instead of Rows, is the text of a SELECT in which the
	// parameters stand by name: an inline function, planned with its caller.
	Query string
}

// View is a virtual table present in every database, or only in those for
// which Visible answers true.
type View struct {
	Schema, Name string
	Columns      []Column
	Visible      func(db *Database) bool
	Rows         func(x *Exec, db *Database, emit func(row []sqltypes.Value) error) error
}

// DDLPhase tells when a DDL hook is called.
type DDLPhase int

// The phases of a DDL statement. An error returned in DDLBefore refuses the
// statement, in DDLAfter it undoes it.
const (
	DDLBefore DDLPhase = iota
	DDLAfter
)

// DDLEvent describes a statement that changes a table's definition.
type DDLEvent struct {
	Phase DDLPhase
	// Kind is "CREATE TABLE", "ALTER TABLE", "DROP TABLE", "TRUNCATE TABLE",
	// "CREATE INDEX", "DROP INDEX", "RENAME COLUMN" or "RENAME TABLE".
	Kind     string
	Database *Database
	// Before is the table's definition before the statement, After the one
	// after it. After is nil in the first phase and when the table is dropped.
	Before, After *Table
	// Text is the statement's text.
	Text string
	// Columns names the columns that the statement adds, alters, drops or renames.
	Columns []string
	// Action says what happens to Columns: "ADD", "ALTER", "DROP", "RENAME" or
	// nothing when the statement is about the table or an index.
	Action string
	// Index names the index or constraint that the statement adds or drops.
	Index string
}

// StatementInfo describes a statement that is about to run, for faults.
type StatementInfo struct {
	// Kind is the statement's kind in lower case: "select", "insert", "update",
	// "delete", "merge", "begin", "commit", "exec" and so on.
	Kind string
	// Objects are the tables, views, functions and procedures that it names,
	// as "schema.name" in lower case, in order of appearance.
	Objects []string
	Text    string
	SPID    int
	App     string
}

// Matches reports whether the statement is of the kind that pattern names:
// "select", "exec:sp_name" or "select from cdc.dbo_t_ct", case-insensitively.
func (i StatementInfo) Matches(pattern string) bool {
	pattern = strings.ToLower(strings.TrimSpace(pattern))
	kind, object := pattern, ""
	if k, o, ok := strings.Cut(pattern, " from "); ok {
		kind, object = k, o
	} else if k, o, ok := strings.Cut(pattern, ":"); ok {
		kind, object = k, o
	}
	if kind != "" && kind != "*" && kind != i.Kind {
		return false
	}
	if object == "" {
		return true
	}
	for _, o := range i.Objects {
		if o == object || strings.HasSuffix(o, "."+object) {
			return true
		}
	}
	return false
}

// Fault is what happens to a statement. The zero Fault is nothing.
type Fault struct {
	// AfterRows is the number of rows the statement sends before Do is called;
	// 0 calls Do before the statement runs.
	AfterRows int64
	// Do may wait (until ctx ends), cut the connection, or return an error: a
	// *sqltypes.Error fails the statement, any other ends the session's work.
	Do func(ctx context.Context) error
}

// RegisterProcedure adds a procedure. A name that starts with sp_ in schema sys
// is found from every database with or without its schema.
func (in *Instance) RegisterProcedure(schema, name string, p Procedure) {
	in.hooks.procedures[hookName(schema, name)] = &p
}

// RegisterFunction adds a scalar function.
func (in *Instance) RegisterFunction(schema, name string, f Function) {
	in.hooks.functions[hookName(schema, name)] = &f
}

// RegisterTableFunction adds a resolver of table-valued functions, asked with
// the database, schema and name that a statement uses.
func (in *Instance) RegisterTableFunction(resolve func(db *Database, schema, name string) (*TableFunction, bool)) {
	in.hooks.tableFunctions = append(in.hooks.tableFunctions, resolve)
}

// RegisterView adds a virtual table.
func (in *Instance) RegisterView(v View) {
	in.hooks.views[hookName(v.Schema, v.Name)] = &v
}

// OnDDL adds a function that is called before and after each statement that
// changes a table's definition, inside the statement's transaction.
func (in *Instance) OnDDL(hook func(x *Exec, ev DDLEvent) error) {
	in.hooks.ddl = append(in.hooks.ddl, hook)
}

// SetFaultHook installs the function that is asked before every statement; nil
// removes it. It may be called while sessions run.
func (in *Instance) SetFaultHook(hook func(StatementInfo) Fault) {
	if hook == nil {
		in.faultHook.Store(nil)
		return
	}
	in.faultHook.Store(&hook)
}

// hooks are the registrations of one instance. They are written before the
// first login and only read afterwards.
type hooks struct {
	procedures     map[string]*Procedure
	functions      map[string]*Function
	tableFunctions []func(db *Database, schema, name string) (*TableFunction, bool)
	views          map[string]*View
	ddl            []func(x *Exec, ev DDLEvent) error
	restore        []func(x *Exec, ev RestoreEvent) error
}

func newHooks() hooks {
	return hooks{
		procedures: map[string]*Procedure{},
		functions:  map[string]*Function{},
		views:      map[string]*View{},
	}
}

func hookName(schema, name string) string {
	return strings.ToLower(schema + "." + name)
}
