package tsql

// DeclareStmt is DECLARE of one or more variables.
type DeclareStmt struct {
	Span
	Vars []VarDecl
}

// VarDecl is one declared variable: a scalar with an optional initial value,
// or a table.
type VarDecl struct {
	Span
	Name  string // with the @
	Type  TypeName
	Value Expr
	Table *TableType // not nil: a table variable
	// Cursor marks a cursor variable, which has no type.
	Cursor bool
}

// SetVariableStmt is SET @v = expr; Op is "=", "+=" and so on.
type SetVariableStmt struct {
	Span
	Name   string
	Op     string
	Value  Expr
	Method *MethodCall // SET @x.modify(..)
}

// SetOptionStmt is SET of on/off options: NOCOUNT, XACT_ABORT,
// IMPLICIT_TRANSACTIONS, ANSI_NULLS, QUOTED_IDENTIFIER, STATISTICS IO, ..
// Names are upper case.
type SetOptionStmt struct {
	Span
	Names []string
	On    bool
}

// SetValueStmt is SET of an option with a value: LOCK_TIMEOUT, ROWCOUNT,
// TEXTSIZE, DATEFIRST, DATEFORMAT, LANGUAGE, DEADLOCK_PRIORITY, CONTEXT_INFO.
// A bare word value (LOW, dmy, us_english) is a StringLiteral.
type SetValueStmt struct {
	Span
	Name  string
	Value Expr
}

// IsolationLevel is a level of SET TRANSACTION ISOLATION LEVEL.
type IsolationLevel uint8

// The isolation levels, numbered as the TDS protocol does.
const (
	ReadUncommitted IsolationLevel = iota + 1
	ReadCommitted
	RepeatableRead
	Serializable
	Snapshot
)

// SetIsolationStmt is SET TRANSACTION ISOLATION LEVEL.
type SetIsolationStmt struct {
	Span
	Level IsolationLevel
}

// SetIdentityInsertStmt is SET IDENTITY_INSERT t ON|OFF.
type SetIdentityInsertStmt struct {
	Span
	Table Name
	On    bool
}

// BlockStmt is BEGIN .. END.
type BlockStmt struct {
	Span
	Body []Stmt
}

// IfStmt is IF cond stmt [ELSE stmt].
type IfStmt struct {
	Span
	Cond Expr
	Then Stmt
	Else Stmt // nil: none
}

// WhileStmt is WHILE cond stmt.
type WhileStmt struct {
	Span
	Cond Expr
	Body Stmt
}

// BreakStmt is BREAK.
type BreakStmt struct{ Span }

// ContinueStmt is CONTINUE.
type ContinueStmt struct{ Span }

// TryStmt is BEGIN TRY .. END TRY BEGIN CATCH .. END CATCH.
type TryStmt struct {
	Span
	Try, Catch []Stmt
}

// ThrowStmt is THROW; without arguments all three are nil.
type ThrowStmt struct {
	Span
	Number, Message, State Expr
}

// RaiserrorStmt is RAISERROR(message or number, severity, state, args).
type RaiserrorStmt struct {
	Span
	Message, Severity, State Expr
	Args                     []Expr
	Options                  []string // "LOG", "NOWAIT", "SETERROR"
}

// PrintStmt is PRINT.
type PrintStmt struct {
	Span
	Value Expr
}

// ReturnStmt is RETURN [value].
type ReturnStmt struct {
	Span
	Value Expr
}

// GotoStmt is GOTO label.
type GotoStmt struct {
	Span
	Label string
}

// LabelStmt is a label.
type LabelStmt struct {
	Span
	Label string
}

// WaitForStmt is WAITFOR DELAY or TIME.
type WaitForStmt struct {
	Span
	Time  bool // false: DELAY
	Value Expr
}

// BeginTranStmt is BEGIN TRANSACTION [name].
type BeginTranStmt struct {
	Span
	Name     string // a name, or a variable with its @
	WithMark bool
}

// CommitStmt is COMMIT.
type CommitStmt struct {
	Span
	Name string
	Work bool // COMMIT WORK: no name allowed
}

// RollbackStmt is ROLLBACK [TRAN name]; the name is a transaction's or a
// savepoint's.
type RollbackStmt struct {
	Span
	Name string
	Work bool
}

// SaveTranStmt is SAVE TRANSACTION name.
type SaveTranStmt struct {
	Span
	Name string
}

// ExecStmt is EXEC of a procedure, or of strings. A procedure's name that
// starts a batch without EXEC is one too.
type ExecStmt struct {
	Span
	ReturnVar    string // EXEC @r = p
	Proc         Name
	ProcVariable string // EXEC @p: the name is in a variable
	Args         []ExecArg
	Strings      []Expr // EXEC ('a' + @b): the operands in order; then no Proc
	AsKind, As   string // EXEC ('..') AS USER = '..'
	At           string // EXEC ('..') AT linked server: refused by the executor
	Recompile    bool
	ResultSets   string // "", "NONE", "UNDEFINED", or the definitions as written
}

// ExecArg is one argument of EXEC. Value is a literal, a variable, a
// DefaultValue, or a bare word taken as a string.
type ExecArg struct {
	Span
	Name   string // "@p" of a named argument
	Value  Expr
	Output bool
}

// ExecuteAsStmt is EXECUTE AS USER|LOGIN = '..', CALLER.
type ExecuteAsStmt struct {
	Span
	Kind string // "USER", "LOGIN", "CALLER"
	Name Expr
}

// RevertStmt is REVERT.
type RevertStmt struct{ Span }

// UseStmt is USE.
type UseStmt struct {
	Span
	Database string
}

// KillStmt is KILL spid.
type KillStmt struct {
	Span
	SPID       Expr
	StatusOnly bool
}

// CheckpointStmt is CHECKPOINT.
type CheckpointStmt struct{ Span }

// ReconfigureStmt is RECONFIGURE [WITH OVERRIDE].
type ReconfigureStmt struct{ Span }

// BackupStmt is BACKUP DATABASE or LOG.
type BackupStmt struct {
	Span
	Log      bool
	Database string
	To       []string // DISK paths
	Options  []TableOption
}

// RestoreStmt is RESTORE DATABASE or LOG.
type RestoreStmt struct {
	Span
	Log      bool
	Kind     string // "" or "HEADERONLY", "FILELISTONLY", "VERIFYONLY"
	Database string
	From     []string
	Options  []TableOption // "REPLACE", "KEEP_CDC", "RECOVERY", ..
}

// DeclareCursorStmt is DECLARE name CURSOR FOR query, or SET @name = CURSOR FOR
// query.
type DeclareCursorStmt struct {
	Span
	Name    string
	Options []string // upper case, both syntaxes: "LOCAL", "FAST_FORWARD", "INSENSITIVE", ..
	Query   *SelectQuery
}

// CursorStmt is OPEN, CLOSE or DEALLOCATE of a cursor.
type CursorStmt struct {
	Span
	Verb string // "OPEN", "CLOSE", "DEALLOCATE"
	Name string // or a variable with its @
}

// FetchStmt is FETCH [direction FROM] cursor [INTO vars].
type FetchStmt struct {
	Span
	Direction string // "NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"
	N         Expr   // ABSOLUTE and RELATIVE
	Cursor    string
	Into      []string
}

func (*DeclareStmt) stmt()           {}
func (*SetVariableStmt) stmt()       {}
func (*SetOptionStmt) stmt()         {}
func (*SetValueStmt) stmt()          {}
func (*SetIsolationStmt) stmt()      {}
func (*SetIdentityInsertStmt) stmt() {}
func (*BlockStmt) stmt()             {}
func (*IfStmt) stmt()                {}
func (*WhileStmt) stmt()             {}
func (*BreakStmt) stmt()             {}
func (*ContinueStmt) stmt()          {}
func (*TryStmt) stmt()               {}
func (*ThrowStmt) stmt()             {}
func (*RaiserrorStmt) stmt()         {}
func (*PrintStmt) stmt()             {}
func (*ReturnStmt) stmt()            {}
func (*GotoStmt) stmt()              {}
func (*LabelStmt) stmt()             {}
func (*WaitForStmt) stmt()           {}
func (*BeginTranStmt) stmt()         {}
func (*CommitStmt) stmt()            {}
func (*RollbackStmt) stmt()          {}
func (*SaveTranStmt) stmt()          {}
func (*ExecStmt) stmt()              {}
func (*ExecuteAsStmt) stmt()         {}
func (*RevertStmt) stmt()            {}
func (*UseStmt) stmt()               {}
func (*KillStmt) stmt()              {}
func (*CheckpointStmt) stmt()        {}
func (*ReconfigureStmt) stmt()       {}
func (*BackupStmt) stmt()            {}
func (*RestoreStmt) stmt()           {}
func (*DeclareCursorStmt) stmt()     {}
func (*CursorStmt) stmt()            {}
func (*FetchStmt) stmt()             {}
