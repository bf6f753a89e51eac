package tsql

import "strings"

// Span is where a node stands in its batch.
type Span struct {
	Line       int // line of the first token, counted from 1
	Start, End int // byte offsets in the batch text: text[Start:End]
}

// Position returns the span itself; nodes embed Span and so share the method.
func (s Span) Position() Span { return s }

// Text cuts the node's source out of the batch it was parsed from.
func (s Span) Text(batch string) string { return batch[s.Start:s.End] }

// Node is anything that stands somewhere in a batch.
type Node interface {
	Position() Span
}

// Stmt is one statement.
type Stmt interface {
	Node
	stmt()
}

// Expr is a scalar or Boolean expression. T-SQL keeps the two apart in its
// grammar; the executor checks which of them a place allows.
type Expr interface {
	Node
	expr()
}

// Name is a name of one to four parts, outermost first. An empty middle part
// (db..t) is an empty string. Quoting is already removed.
type Name struct {
	Span
	Parts []string
}

// Base is the last part: the object itself.
func (n Name) Base() string { return n.part(1) }

// Schema is the part before the object, "" when absent or empty.
func (n Name) Schema() string { return n.part(2) }

// Database is the third part from the end, "" when absent or empty.
func (n Name) Database() string { return n.part(3) }

// Server is the fourth part from the end, "" when absent or empty.
func (n Name) Server() string { return n.part(4) }

// IsZero reports whether there is no name at all.
func (n Name) IsZero() bool { return len(n.Parts) == 0 }

// String joins the parts with dots, unquoted, as error texts show them.
func (n Name) String() string { return strings.Join(n.Parts, ".") }

func (n Name) part(fromEnd int) string {
	if len(n.Parts) < fromEnd {
		return ""
	}
	return n.Parts[len(n.Parts)-fromEnd]
}

// MaxLength is the length argument of a type written (max).
const MaxLength = -1

// TypeName is a data type as written: nvarchar(50), decimal(10, 2),
// dbo.MyType. Args holds the numbers in parentheses, MaxLength for max.
type TypeName struct {
	Name // one part for system types (lower or upper case as written)
	Args []int
}

// Program is a parsed batch.
type Program struct {
	Text  string // the batch; spans of all nodes index into it
	Stmts []Stmt
}
