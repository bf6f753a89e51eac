package tsql

// Target is what a DML statement writes to: a table, view, CTE or alias of
// its FROM clause by name, or a table variable.
type Target struct {
	Span
	Name     Name
	Variable string // "@t"; then Name is empty
	Alias    string // MERGE INTO t AS Alias
	Hints    []TableHint
}

// InsertStmt is INSERT. Exactly one of Rows, Query, Exec and DefaultValues is
// the source.
type InsertStmt struct {
	Span
	With          []CTE
	Top           *Top
	Target        Target
	Columns       []string // empty: all
	Output        *OutputClause
	Rows          [][]Expr
	Query         *SelectQuery
	Exec          *ExecStmt
	DefaultValues bool
	Options       []QueryOption
}

// OutputClause is OUTPUT [INTO]. SQL Server allows one with INTO followed by
// one without: Then is that second one.
type OutputClause struct {
	Span
	Items       []SelectItem // columns qualified inserted or deleted
	Into        *Target
	IntoColumns []string
	Then        *OutputClause
}

// UpdateStmt is UPDATE.
type UpdateStmt struct {
	Span
	With    []CTE
	Top     *Top
	Target  Target
	Set     []SetItem
	Output  *OutputClause
	From    []TableSource
	Where   Expr
	Cursor  string // WHERE CURRENT OF
	Options []QueryOption
}

// SetItem is one assignment of an UPDATE: column = value, @v = value, or
// @v = column = value (then both are set). Op is "=", "+=" and so on.
type SetItem struct {
	Span
	Column   Name
	Variable string
	Op       string
	Value    Expr
	Method   *MethodCall // column.WRITE(..) and xml.modify(..); Value is nil then
}

// DeleteStmt is DELETE.
type DeleteStmt struct {
	Span
	With    []CTE
	Top     *Top
	Target  Target
	Output  *OutputClause
	From    []TableSource
	Where   Expr
	Cursor  string
	Options []QueryOption
}

// MergeStmt is MERGE.
type MergeStmt struct {
	Span
	With    []CTE
	Top     *Top
	Target  Target
	Using   TableSource
	On      Expr
	Whens   []MergeWhen
	Output  *OutputClause
	Options []QueryOption
}

// MergeMatch is the condition class of a WHEN clause.
type MergeMatch uint8

// The WHEN clauses of MERGE.
const (
	WhenMatched MergeMatch = iota
	WhenNotMatchedByTarget
	WhenNotMatchedBySource
)

// MergeAction is what a WHEN clause does.
type MergeAction uint8

// The actions of a WHEN clause.
const (
	MergeUpdate MergeAction = iota
	MergeDelete
	MergeInsert
)

// MergeWhen is one WHEN .. THEN clause.
type MergeWhen struct {
	Span
	Match         MergeMatch
	And           Expr // nil: none
	Action        MergeAction
	Set           []SetItem // MergeUpdate
	Columns       []string  // MergeInsert; empty: all
	Values        []Expr    // MergeInsert
	DefaultValues bool      // MergeInsert
}

// TruncateStmt is TRUNCATE TABLE.
type TruncateStmt struct {
	Span
	Table Name
}

// InsertBulkStmt is INSERT BULK, which a client sends before the rows of a
// bulk load.
type InsertBulkStmt struct {
	Span
	Table   Name
	Columns []ColumnDef // name, type, collation only
	Options []string    // upper case: "TABLOCK", "CHECK_CONSTRAINTS", "KEEP_NULLS", ..
}

func (*InsertStmt) stmt()     {}
func (*UpdateStmt) stmt()     {}
func (*DeleteStmt) stmt()     {}
func (*MergeStmt) stmt()      {}
func (*TruncateStmt) stmt()   {}
func (*InsertBulkStmt) stmt() {}
