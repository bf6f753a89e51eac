package tsql

// CreateMode tells CREATE, ALTER and CREATE OR ALTER of a module apart.
type CreateMode uint8

// The modes of a module statement.
const (
	Create CreateMode = iota
	Alter
	CreateOrAlter
)

// CreateDatabaseStmt is CREATE DATABASE. Files and other options are read and
// dropped, they mean nothing to a stand-in.
type CreateDatabaseStmt struct {
	Span
	Name      string
	Collation string
	Contained bool // CONTAINMENT = PARTIAL
}

// DatabaseSetting is one option of ALTER DATABASE .. SET: upper case name,
// value upper case as written ("ON", "OFF", "IMMEDIATE", "FULL", "150", or
// "" for SINGLE_USER and its kin).
type DatabaseSetting struct {
	Name, Value string
}

// AlterDatabaseStmt is ALTER DATABASE.
type AlterDatabaseStmt struct {
	Span
	Name     string // "" with Current
	Current  bool
	Settings []DatabaseSetting
	Rollback bool // WITH ROLLBACK IMMEDIATE or AFTER n
	// RollbackAfter is the n of ROLLBACK AFTER n SECONDS.
	RollbackAfter int
	NoWait        bool   // WITH NO_WAIT
	Collation     string // COLLATE
	NewName       string // MODIFY NAME
	Other         string // any other clause (ADD FILE, ..), as written
}

// CreateSchemaStmt is CREATE SCHEMA. Elements inside the statement are
// executed after it.
type CreateSchemaStmt struct {
	Span
	Name  string
	Owner string
	Body  []Stmt
}

// AlterSchemaStmt is ALTER SCHEMA .. TRANSFER.
type AlterSchemaStmt struct {
	Span
	Name   string
	Object Name
}

// CreateTableStmt is CREATE TABLE.
type CreateTableStmt struct {
	Span
	Name        Name
	Columns     []ColumnDef
	Constraints []Constraint // table level; column level ones stand in their column
	Indexes     []CreateIndexStmt
	Options     []TableOption // WITH (..)
	FileGroup   string
}

// TableOption is one option of WITH (..): upper case name, value as written.
type TableOption struct {
	Name, Value string
}

// ColumnDef is one column of CREATE TABLE, ALTER TABLE ADD, a table variable
// or a table type.
type ColumnDef struct {
	Span
	Name         string
	Type         TypeName // zero for a computed column
	Collation    string
	Null         NullSpec
	Identity     *Identity
	Computed     Expr
	ComputedText string // source of the computed expression
	Persisted    bool
	Sparse       bool
	ColumnSet    bool // XML COLUMN_SET FOR ALL_SPARSE_COLUMNS
	RowGUIDCol   bool
	FileStream   bool
	Hidden       bool
	Generated    string // GENERATED ALWAYS AS ROW START|END..: "ROW START"
	Masked       string // MASKED WITH (FUNCTION = '..'): the function
	Encrypted    string // ENCRYPTED WITH (..), as written
	Constraints  []Constraint
	Index        *CreateIndexStmt // INDEX inside the column
}

// NullSpec is NULL, NOT NULL or neither.
type NullSpec uint8

// The null specifications.
const (
	NullUnspecified NullSpec = iota
	Nullable
	NotNull
)

// Identity is IDENTITY(Seed, Increment); both may be nil (1, 1). Values are
// literals with an optional sign.
type Identity struct {
	Seed, Increment Expr
	NotForRepl      bool
}

// ConstraintKind is the kind of a Constraint.
type ConstraintKind uint8

// The kinds of constraints.
const (
	PrimaryKey ConstraintKind = iota
	UniqueKey
	ForeignKey
	Check
	Default
	// Connection constraints of graph tables and periods are refused.
)

// Constraint is a column or table constraint. Column level keys have no
// Columns: they are on their column.
type Constraint struct {
	Span
	Name        string // "" when the server is to make one up
	Kind        ConstraintKind
	Clustered   bool // said CLUSTERED
	NonClust    bool // said NONCLUSTERED
	Columns     []IndexColumn
	Options     []TableOption
	Expr        Expr   // Check and Default
	ExprText    string // source of Expr, outer parentheses included as written
	ForColumn   string // Default at table level: DEFAULT x FOR c
	WithValues  bool   // ALTER TABLE ADD .. DEFAULT x WITH VALUES
	References  Name   // ForeignKey
	RefColumns  []string
	OnDelete    string // "", "NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT"
	OnUpdate    string
	NotForRepl  bool
	NotEnforced bool
}

// IndexColumn is one key column of an index or constraint.
type IndexColumn struct {
	Name string
	Desc bool
}

// CreateIndexStmt is CREATE INDEX, or an INDEX clause inside CREATE TABLE.
type CreateIndexStmt struct {
	Span
	Name        string
	Table       Name
	Unique      bool
	Clustered   bool
	ColumnStore bool
	Kind        string // "", "XML", "SPATIAL", "FULLTEXT": refused by the executor
	Columns     []IndexColumn
	Include     []string
	Where       Expr
	WhereText   string
	Options     []TableOption
}

// AlterIndexStmt is ALTER INDEX name|ALL ON t REBUILD|REORGANIZE|DISABLE|SET.
type AlterIndexStmt struct {
	Span
	Name   string // "" for ALL
	All    bool
	Table  Name
	Action string // "REBUILD", "REORGANIZE", "DISABLE", "SET"
}

// DropIndexStmt is DROP INDEX; one entry per index.
type DropIndexStmt struct {
	Span
	IfExists bool
	Items    []DropIndexItem
}

// DropIndexItem is one index of DROP INDEX i ON t (or the old t.i).
type DropIndexItem struct {
	Name  string
	Table Name
}

// AlterTableStmt is ALTER TABLE. Exactly one action is set.
type AlterTableStmt struct {
	Span
	Table          Name
	AddColumns     []ColumnDef
	AddConstraints []Constraint // with or without AddColumns
	NoCheck        bool         // WITH NOCHECK ADD
	Drop           []AlterDrop
	AlterColumn    *AlterColumn
	Rename         string
	EnableCheck    *EnableConstraint
	Trigger        *EnableTrigger
	Switch         *SwitchPartition
	Rebuild        bool
	SetOptions     []TableOption // SET (LOCK_ESCALATION = ..)
	ChangeTracking string        // "ENABLE" or "DISABLE"
}

// AlterDrop is one item of ALTER TABLE .. DROP.
type AlterDrop struct {
	Name     string
	Column   bool // false: a constraint
	IfExists bool
}

// AlterColumn is ALTER TABLE .. ALTER COLUMN: a new type, or one ADD|DROP of
// a property.
type AlterColumn struct {
	Span
	Name      string
	Type      TypeName // zero for ADD|DROP
	Collation string
	Null      NullSpec
	Sparse    bool
	Add, Drop string // "ROWGUIDCOL", "PERSISTED", "SPARSE", "MASKED", "NOT FOR REPLICATION", "HIDDEN"
	Masked    string // the function of ADD MASKED WITH (FUNCTION = '..')
}

// EnableConstraint is ALTER TABLE .. [WITH CHECK|NOCHECK] CHECK|NOCHECK
// CONSTRAINT.
type EnableConstraint struct {
	Names  []string // empty with All
	All    bool
	Enable bool
}

// EnableTrigger is ALTER TABLE .. ENABLE|DISABLE TRIGGER.
type EnableTrigger struct {
	Names  []string
	All    bool
	Enable bool
}

// SwitchPartition is ALTER TABLE .. SWITCH [PARTITION n] TO t [PARTITION m].
type SwitchPartition struct {
	From   Expr
	Target Name
	To     Expr
}

// CreateViewStmt is CREATE or ALTER VIEW.
type CreateViewStmt struct {
	Span
	Mode    CreateMode
	Name    Name
	Columns []string
	Query   *SelectQuery
	Options []string // "SCHEMABINDING", "ENCRYPTION", "VIEW_METADATA"
}

// Param is a parameter of a procedure or function.
type Param struct {
	Span
	Name     string // with the @
	Type     TypeName
	Default  Expr // nil: none
	Output   bool
	ReadOnly bool
	Varying  bool
}

// CreateProcedureStmt is CREATE or ALTER PROCEDURE.
type CreateProcedureStmt struct {
	Span
	Mode      CreateMode
	Name      Name
	Params    []Param
	Options   []string // "RECOMPILE", "ENCRYPTION", "SCHEMABINDING", "NATIVE_COMPILATION"
	ExecuteAs string   // "", "OWNER", "CALLER", "SELF" or a user name
	Body      []Stmt
}

// CreateFunctionStmt is CREATE or ALTER FUNCTION. A scalar function has
// Returns and Body, an inline one Query, a multi-statement one ReturnTable,
// its variable and Body.
type CreateFunctionStmt struct {
	Span
	Mode           CreateMode
	Name           Name
	Params         []Param
	Returns        TypeName
	Query          *SelectQuery
	ReturnVariable string
	ReturnTable    *TableType
	Body           []Stmt
	Options        []string
	ExecuteAs      string
}

// TableType is a TABLE (..) type: of a table variable, a table type or a
// multi-statement function.
type TableType struct {
	Columns     []ColumnDef
	Constraints []Constraint
	Indexes     []CreateIndexStmt
}

// CreateTriggerStmt is CREATE or ALTER TRIGGER.
type CreateTriggerStmt struct {
	Span
	Mode      CreateMode
	Name      Name
	Table     Name   // DML triggers
	Scope     string // "DATABASE" or "ALL SERVER" for DDL triggers
	InsteadOf bool
	Events    []string // "INSERT", "UPDATE", "DELETE", or DDL events
	Body      []Stmt
}

// CreateTypeStmt is CREATE TYPE .. FROM or AS TABLE.
type CreateTypeStmt struct {
	Span
	Name  Name
	From  TypeName
	Null  NullSpec
	Table *TableType
}

// CreateSynonymStmt is CREATE SYNONYM.
type CreateSynonymStmt struct {
	Span
	Name, For Name
}

// SequenceStmt is CREATE or ALTER SEQUENCE. Nil bounds are not given; the No
// flags are NO MINVALUE and its kin.
type SequenceStmt struct {
	Span
	Mode             CreateMode
	Name             Name
	Type             TypeName // zero: not given
	Start, Increment Expr     // START WITH or RESTART WITH; INCREMENT BY
	Min, Max         Expr
	NoMin, NoMax     bool
	Restart          bool // RESTART, with Start when WITH is given
	Cycle, NoCycle   bool
	Cache, NoCache   bool
}

// DropStmt is DROP of everything that is dropped by name alone. Kind is upper
// case: "TABLE", "VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "DATABASE",
// "SCHEMA", "TYPE", "SYNONYM", "SEQUENCE", "LOGIN", "USER", "ROLE", ..
type DropStmt struct {
	Span
	Kind     string
	IfExists bool
	Names    []Name
}

// PrincipalStmt is CREATE or ALTER of LOGIN, USER or ROLE.
type PrincipalStmt struct {
	Span
	Mode          CreateMode
	Kind          string // "LOGIN", "USER", "ROLE", "APPLICATION ROLE"
	Name          string
	Password      string        // WITH PASSWORD = '..'
	HasPassword   bool          //
	ForLogin      string        // CREATE USER .. FOR LOGIN
	WithoutLogin  bool          //
	FromWindows   bool          // CREATE LOGIN .. FROM WINDOWS
	Owner         string        // CREATE ROLE .. AUTHORIZATION
	NewName       string        // ALTER .. WITH NAME =
	Enable        bool          // ALTER LOGIN .. ENABLE
	Disable       bool          // ALTER LOGIN .. DISABLE
	AddMember     string        // ALTER ROLE .. ADD MEMBER
	DropMember    string        // ALTER ROLE .. DROP MEMBER
	DefaultSchema string        // WITH DEFAULT_SCHEMA =
	ServerRole    bool          // ALTER SERVER ROLE
	Options       []TableOption // DEFAULT_DATABASE, CHECK_POLICY, ..
}

// PermissionStmt is GRANT, DENY or REVOKE.
type PermissionStmt struct {
	Span
	Verb        string       // "GRANT", "DENY", "REVOKE"
	Permissions []Permission // "SELECT", "VIEW SERVER STATE", "ALL", ..
	Class       string       // "OBJECT", "SCHEMA", "DATABASE", .. or ""
	On          Name         // empty: the database or server
	Principals  []string
	GrantOption bool // WITH GRANT OPTION, or REVOKE GRANT OPTION FOR
	Cascade     bool
	As          string
}

// Permission is one permission, upper case, with optional columns.
type Permission struct {
	Name    string
	Columns []string
}

// AuthorizationStmt is ALTER AUTHORIZATION ON class::name TO principal.
type AuthorizationStmt struct {
	Span
	Class string
	On    Name
	To    string // "SCHEMA OWNER" or a principal
}

// EnableTriggerStmt is ENABLE or DISABLE TRIGGER .. ON ...
type EnableTriggerStmt struct {
	Span
	EnableTrigger
	On Name
}

// OtherStmt is a statement that is recognised and skipped to its end, but not
// modelled: UPDATE STATISTICS, DBCC, CREATE SEQUENCE, .. The executor ignores
// or refuses it by What, its leading keywords in upper case.
type OtherStmt struct {
	Span
	What string
}

func (*CreateDatabaseStmt) stmt()  {}
func (*AlterDatabaseStmt) stmt()   {}
func (*CreateSchemaStmt) stmt()    {}
func (*AlterSchemaStmt) stmt()     {}
func (*CreateTableStmt) stmt()     {}
func (*CreateIndexStmt) stmt()     {}
func (*AlterIndexStmt) stmt()      {}
func (*DropIndexStmt) stmt()       {}
func (*AlterTableStmt) stmt()      {}
func (*CreateViewStmt) stmt()      {}
func (*CreateProcedureStmt) stmt() {}
func (*CreateFunctionStmt) stmt()  {}
func (*CreateTriggerStmt) stmt()   {}
func (*CreateTypeStmt) stmt()      {}
func (*CreateSynonymStmt) stmt()   {}
func (*DropStmt) stmt()            {}
func (*PrincipalStmt) stmt()       {}
func (*PermissionStmt) stmt()      {}
func (*AuthorizationStmt) stmt()   {}
func (*EnableTriggerStmt) stmt()   {}
func (*SequenceStmt) stmt()        {}
func (*OtherStmt) stmt()           {}
