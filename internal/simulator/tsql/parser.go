package tsql

// Options are the session settings that change how a batch is read.
type Options struct {
	// QuotedIdentifierOff makes "x" a string (SET QUOTED_IDENTIFIER OFF).
	QuotedIdentifierOff bool
}

// Parse reads one batch. Errors are *sqltypes.Error with the line set.
func Parse(sql string, opts Options) (*Program, error) { panic("not yet") }

// ParseExpr reads one expression, such as a default or a computed column
// kept as text in the catalogue.
func ParseExpr(sql string, opts Options) (Expr, error) { panic("not yet") }

// Batch is one batch of a script.
type Batch struct {
	Text  string
	Line  int // line of the script at which Text begins, counted from 1
	Count int // GO n: run it n times
}

// SplitBatches cuts a script at its GO lines. Blank batches are left out.
func SplitBatches(script string) []Batch { panic("not yet") }
