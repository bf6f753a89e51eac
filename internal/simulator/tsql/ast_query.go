package tsql

// SelectQuery is a whole query: common table expressions, a body, and what
// applies to the body's result. It is a statement (through SelectStmt), a
// subquery, a view's body or an INSERT's source.
type SelectQuery struct {
	Span
	With    []CTE
	Body    QueryBody
	OrderBy []OrderItem
	Offset  Expr       // OFFSET n ROWS; nil: none
	Fetch   Expr       // FETCH NEXT n ROWS ONLY; nil: none
	For     *ForClause // FOR XML, FOR JSON, FOR BROWSE
	Options []QueryOption
}

// SelectStmt is a query run as a statement, also SELECT @v = .. and
// SELECT .. INTO.
type SelectStmt struct {
	Span
	Query *SelectQuery
}

// CTE is one common table expression. Columns may be empty.
type CTE struct {
	Span
	Name    string
	Columns []string
	Query   *SelectQuery
}

// QueryBody is *SelectSpec, *SetOperation or *ParenQuery.
type QueryBody interface {
	Node
	queryBody()
}

// SetOperator is the operator of a SetOperation.
type SetOperator uint8

// The set operators.
const (
	Union SetOperator = iota
	UnionAll
	Except
	Intersect
)

// SetOperation combines two bodies; INTERSECT binds tighter than the others.
type SetOperation struct {
	Span
	Op   SetOperator
	L, R QueryBody
}

// SelectSpec is one SELECT .. FROM .. WHERE .. GROUP BY .. HAVING.
type SelectSpec struct {
	Span
	Distinct bool
	Top      *Top
	Items    []SelectItem
	Into     *Name
	From     []TableSource // comma list: cross joins
	Where    Expr
	GroupBy  *GroupBy
	Having   Expr
}

// ParenQuery is a body in parentheses, as an operand of a set operation.
type ParenQuery struct {
	Span
	Body QueryBody
}

// Top is TOP (N) [PERCENT] [WITH TIES].
type Top struct {
	N        Expr
	Percent  bool
	WithTies bool
}

// SelectItem is one item of a select or OUTPUT list: an expression with an
// optional alias, a star, or an assignment to a variable.
type SelectItem struct {
	Span
	Expr      Expr   // nil for a star
	Alias     string // "" when none; HasAlias tells [] apart
	HasAlias  bool
	Star      bool
	Qualifier Name   // of a star: t.*
	Variable  string // SELECT @v = Expr; with the @
	AssignOp  string // "=", "+=", ..; set with Variable
}

// GroupBy is the GROUP BY clause. Items are all grouping expressions, each
// once for every place where it is written. Sets is nil for a plain list; for
// ROLLUP, CUBE and GROUPING SETS it holds the grouping sets that they stand
// for, as indexes of Items. GROUP BY () is one empty set.
type GroupBy struct {
	Items []Expr
	Sets  [][]int
}

// OrderItem is one item of an ORDER BY.
type OrderItem struct {
	Expr Expr
	Desc bool
}

// ForClause is FOR XML, FOR JSON or FOR BROWSE.
type ForClause struct {
	Span
	Kind string // "XML", "JSON", "BROWSE"
	Mode string // "PATH", "AUTO", "RAW", "EXPLICIT"; "" for BROWSE
	// Element is the row element of PATH('x') and RAW('x'); HasElement tells
	// PATH('') from PATH.
	Element    string
	HasElement bool
	Options    []ForOption
}

// ForOption is one option after the mode: upper-case name ("ROOT", "TYPE",
// "ELEMENTS", "ELEMENTS XSINIL", "INCLUDE_NULL_VALUES", ..) and its argument.
type ForOption struct {
	Name     string
	Value    string
	HasValue bool
}

// QueryOption is one hint of OPTION (..): Name in upper case ("RECOMPILE",
// "MAXRECURSION", "MAXDOP", "OPTIMIZE FOR UNKNOWN", ..), Value its number or
// nil.
type QueryOption struct {
	Name  string
	Value Expr
}

// TableSource is an item of a FROM clause.
type TableSource interface {
	Node
	tableSource()
}

// TableRef is a table, view, CTE or synonym by name.
type TableRef struct {
	Span
	Name  Name
	Alias string
	Hints []TableHint
}

// TableHint is one hint of WITH (..), upper case: "NOLOCK", "TABLOCKX",
// "INDEX", "FORCESEEK", .. Args are the indexes of INDEX (names or numbers).
type TableHint struct {
	Name string
	Args []string
}

// VariableTable is a table variable or table-valued parameter.
type VariableTable struct {
	Span
	Name  string // with the @
	Alias string
	Hints []TableHint
}

// DerivedTable is a query in parentheses.
type DerivedTable struct {
	Span
	Query   *SelectQuery
	Alias   string
	Columns []string
}

// ValuesTable is (VALUES (..), (..)) AS Alias (Columns).
type ValuesTable struct {
	Span
	Rows    [][]Expr
	Alias   string
	Columns []string
}

// FuncTable is a table-valued function: a FuncCall, or a MethodCall such as
// x.nodes('..'). With is the column list of OPENJSON .. WITH.
type FuncTable struct {
	Span
	Call    Expr
	Alias   string
	Columns []string
	With    []OpenColumn
}

// OpenColumn is one column of OPENJSON .. WITH.
type OpenColumn struct {
	Name   string
	Type   TypeName
	Path   string
	AsJSON bool
}

// PivotTable is Source PIVOT (aggregate(..) FOR column IN (values)) AS Alias.
type PivotTable struct {
	Span
	Source TableSource
	Call   *FuncCall
	For    Name
	In     []string // the values as written, which name the new columns
	Alias  string
}

// UnpivotTable is Source UNPIVOT (value FOR name IN (columns)) AS Alias.
type UnpivotTable struct {
	Span
	Source TableSource
	Value  string
	For    string
	In     []Name
	Alias  string
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The joins and applies.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	CrossApply
	OuterApply
)

// Join combines two sources. On is nil for cross joins and applies.
type Join struct {
	Span
	Kind JoinKind
	L, R TableSource
	On   Expr
	Hint string // "HASH", "MERGE", "LOOP", "REMOTE" or ""
}

func (*SelectStmt) stmt() {}

func (*SelectSpec) queryBody()   {}
func (*SetOperation) queryBody() {}
func (*ParenQuery) queryBody()   {}

func (*TableRef) tableSource()      {}
func (*VariableTable) tableSource() {}
func (*DerivedTable) tableSource()  {}
func (*ValuesTable) tableSource()   {}
func (*FuncTable) tableSource()     {}
func (*Join) tableSource()          {}
func (*PivotTable) tableSource()    {}
func (*UnpivotTable) tableSource()  {}
