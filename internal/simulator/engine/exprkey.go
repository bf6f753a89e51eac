package engine

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// exprKey prints an expression of the block so that two spellings which GROUP BY
// takes for the same expression print alike: a column is the same however it is
// qualified, and in what case if the database's collation does not tell cases apart.
func (b *block) exprKey(e tsql.Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *tsql.Literal:
		return fmt.Sprintf("%d:%q", e.Kind, e.Text)
	case *tsql.Variable:
		return fold(e.Name)
	case *tsql.GlobalVariable:
		return fold(e.Name)
	case *tsql.ColumnRef:
		use, err := b.resolve(e.Name)
		if err != nil {
			return fmt.Sprintf("%p", e)
		}
		return b.columnKey(use)
	case *tsql.Unary:
		return e.Op + "(" + b.exprKey(e.X) + ")"
	case *tsql.Binary:
		return "(" + b.exprKey(e.L) + e.Op + b.exprKey(e.R) + ")"
	case *tsql.Cast:
		return fmt.Sprintf("cast(%s as %s%v)", b.exprKey(e.X), fold(e.Type.String()), e.Type.Args)
	case *tsql.Convert:
		return fmt.Sprintf("convert(%s%v,%s,%s)", fold(e.Type.String()), e.Type.Args, b.exprKey(e.X), b.exprKey(e.Style))
	case *tsql.Collate:
		return b.exprKey(e.X) + " collate " + fold(e.Collation)
	case *tsql.FuncCall:
		if e.Over != nil {
			return fmt.Sprintf("%p", e)
		}
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = b.exprKey(a)
		}
		return fmt.Sprintf("%s(%v%v%s)", fold(e.Name.String()), e.Star, e.Distinct, strings.Join(parts, ","))
	case *tsql.Case:
		s := "case " + b.exprKey(e.Operand)
		for _, w := range e.Whens {
			s += " when " + b.exprKey(w.When) + " then " + b.exprKey(w.Then)
		}
		return s + " else " + b.exprKey(e.Else)
	case *tsql.IsNull:
		return fmt.Sprintf("(%s is null %v)", b.exprKey(e.X), e.Not)
	case *tsql.Between:
		return fmt.Sprintf("(%s between %s and %s %v)", b.exprKey(e.X), b.exprKey(e.Low), b.exprKey(e.High), e.Not)
	default:
		return fmt.Sprintf("%p", e)
	}
}

// columnKey is the key of a resolved column.
func (b *block) columnKey(u *columnUse) string {
	return fmt.Sprintf("#%d.%d.%d", u.level, u.source, u.ordinal)
}
