package tsql

// LiteralKind is the lexical class of a constant, which decides its type.
type LiteralKind uint8

// The kinds of constants.
const (
	NullLiteral    LiteralKind = iota
	IntLiteral                 // 123: int, or numeric when it does not fit
	DecimalLiteral             // 1.5: numeric(p, s) by its digits
	FloatLiteral               // 1e5: float
	MoneyLiteral               // $1.5: money; Text without the currency sign
	StringLiteral              // 'x': varchar
	NStringLiteral             // N'x': nvarchar
	BinaryLiteral              // 0x01: varbinary; Text holds the decoded bytes
)

// Literal is a constant. Text is its value: digits as written (a sign is a
// Unary around it), string contents with doubled quotes undone, or bytes.
type Literal struct {
	Span
	Kind LiteralKind
	Text string
}

// Variable is a local variable or parameter; Name includes the @.
type Variable struct {
	Span
	Name string
}

// GlobalVariable is a system function such as @@ROWCOUNT; Name includes both
// @ signs, as written.
type GlobalVariable struct {
	Span
	Name string
}

// ColumnRef is a column name with optional table qualifiers.
type ColumnRef struct {
	Name
}

// PseudoColumn is $action, $identity, $rowguid or $partition; Name is lower
// case with the $.
type PseudoColumn struct {
	Span
	Name      string
	Qualifier Name
}

// DefaultValue is the keyword DEFAULT in the place of a value.
type DefaultValue struct {
	Span
}

// Unary is a prefix operator: "-", "+", "~" or "NOT".
type Unary struct {
	Span
	Op string
	X  Expr
}

// Binary is an infix operator, in normalised spelling: + - * / % & | ^ << >>,
// = <> < <= > >= (!= is <>, !< is >=, !> is <=), AND, OR. Chains of equal
// precedence are left-deep.
type Binary struct {
	Span
	Op   string
	L, R Expr
}

// IsNull is X IS [NOT] NULL.
type IsNull struct {
	Span
	X   Expr
	Not bool
}

// IsDistinct is L IS [NOT] DISTINCT FROM R (SQL Server 2022).
type IsDistinct struct {
	Span
	L, R Expr
	Not  bool
}

// Like is X [NOT] LIKE Pattern [ESCAPE Escape]; Escape may be nil.
type Like struct {
	Span
	X, Pattern, Escape Expr
	Not                bool
}

// In is X [NOT] IN (List) or IN (Query); exactly one of the two is set.
type In struct {
	Span
	X     Expr
	List  []Expr
	Query *SelectQuery
	Not   bool
}

// Between is X [NOT] BETWEEN Low AND High.
type Between struct {
	Span
	X, Low, High Expr
	Not          bool
}

// Exists is EXISTS (Query).
type Exists struct {
	Span
	Query *SelectQuery
}

// Quantified is X Op ANY|SOME|ALL (Query); Op as in Binary comparisons.
type Quantified struct {
	Span
	X     Expr
	Op    string
	All   bool
	Query *SelectQuery
}

// Subquery is a query in parentheses used as a scalar.
type Subquery struct {
	Span
	Query *SelectQuery
}

// Case is CASE [Operand] WHEN .. THEN .. [ELSE ..] END. Without an operand
// the When expressions are conditions. Else may be nil.
type Case struct {
	Span
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one branch of a Case.
type When struct {
	When, Then Expr
}

// Cast is CAST(X AS Type) or TRY_CAST.
type Cast struct {
	Span
	X    Expr
	Type TypeName
	Try  bool
}

// Convert is CONVERT(Type, X [, Style]) or TRY_CONVERT; Style may be nil.
type Convert struct {
	Span
	Type     TypeName
	X, Style Expr
	Try      bool
}

// ParseCall is PARSE(X AS Type [USING Culture]) or TRY_PARSE; Culture may be nil.
type ParseCall struct {
	Span
	X       Expr
	Type    TypeName
	Culture Expr
	Try     bool
}

// Collate is X COLLATE Collation.
type Collate struct {
	Span
	X         Expr
	Collation string
}

// AtTimeZone is X AT TIME ZONE Zone.
type AtTimeZone struct {
	Span
	X, Zone Expr
}

// FuncCall is a call of a built-in or user function, an aggregate or a window
// function. IIF, COALESCE, NULLIF, LEFT, RIGHT and the ODBC {fn f()} form are
// calls too. The datepart of DATEADD and its kin is a ColumnRef argument.
type FuncCall struct {
	Span
	Name     Name
	Args     []Expr
	Star     bool // COUNT(*)
	Distinct bool // COUNT(DISTINCT x)
	NoParens bool // CURRENT_TIMESTAMP, CURRENT_USER, SESSION_USER, SYSTEM_USER, USER
	// IgnoreNulls is IGNORE NULLS of FIRST_VALUE, LAST_VALUE, LAG and LEAD.
	IgnoreNulls bool
	WithinGroup []OrderItem // STRING_AGG, PERCENTILE_..: WITHIN GROUP (ORDER BY ..)
	Over        *Over       // nil: not a window function
}

// NextValue is NEXT VALUE FOR Sequence [OVER (ORDER BY ..)].
type NextValue struct {
	Span
	Sequence Name
	Over     *Over
}

// MethodCall is X.Name(Args) on an xml, hierarchyid or spatial value. A call
// whose target could be a schema (a.b(), a.b.c()) is parsed as a FuncCall.
type MethodCall struct {
	Span
	X    Expr
	Name string
	Args []Expr
	Call bool // false: a property (X.Lat)
}

// StaticMethod is Type::Name(Args).
type StaticMethod struct {
	Span
	Type Name
	Name string
	Args []Expr
	Call bool
}

// Over is the window of a function.
type Over struct {
	Span
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is ROWS or RANGE of a window.
type Frame struct {
	Rows       bool // false: RANGE
	Start, End FrameBound
}

// FrameBoundKind says where a frame begins or ends.
type FrameBoundKind uint8

// The kinds of frame bounds, in order.
const (
	UnboundedPreceding FrameBoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is one end of a frame; N is set for Preceding and Following.
type FrameBound struct {
	Kind FrameBoundKind
	N    Expr
}

func (*Literal) expr()        {}
func (*Variable) expr()       {}
func (*GlobalVariable) expr() {}
func (*ColumnRef) expr()      {}
func (*PseudoColumn) expr()   {}
func (*DefaultValue) expr()   {}
func (*Unary) expr()          {}
func (*Binary) expr()         {}
func (*IsNull) expr()         {}
func (*IsDistinct) expr()     {}
func (*Like) expr()           {}
func (*In) expr()             {}
func (*Between) expr()        {}
func (*Exists) expr()         {}
func (*Quantified) expr()     {}
func (*Subquery) expr()       {}
func (*Case) expr()           {}
func (*Cast) expr()           {}
func (*Convert) expr()        {}
func (*ParseCall) expr()      {}
func (*Collate) expr()        {}
func (*AtTimeZone) expr()     {}
func (*FuncCall) expr()       {}
func (*NextValue) expr()      {}
func (*MethodCall) expr()     {}
func (*StaticMethod) expr()   {}
