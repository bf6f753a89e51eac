package engine

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// exprKey prints an expression so that two spellings which GROUP BY takes for
// the same expression print alike: case of names and qualifiers apart.
func exprKey(e tsql.Expr) string {
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
		return "[" + fold(e.Base()) + "]"
	case *tsql.Unary:
		return e.Op + "(" + exprKey(e.X) + ")"
	case *tsql.Binary:
		return "(" + exprKey(e.L) + e.Op + exprKey(e.R) + ")"
	case *tsql.Cast:
		return fmt.Sprintf("cast(%s as %s%v)", exprKey(e.X), fold(e.Type.String()), e.Type.Args)
	case *tsql.Convert:
		return fmt.Sprintf("convert(%s%v,%s,%s)", fold(e.Type.String()), e.Type.Args, exprKey(e.X), exprKey(e.Style))
	case *tsql.Collate:
		return exprKey(e.X) + " collate " + fold(e.Collation)
	case *tsql.FuncCall:
		if e.Over != nil {
			return fmt.Sprintf("%p", e)
		}
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = exprKey(a)
		}
		return fmt.Sprintf("%s(%v%v%s)", fold(e.Name.String()), e.Star, e.Distinct, strings.Join(parts, ","))
	case *tsql.Case:
		s := "case " + exprKey(e.Operand)
		for _, w := range e.Whens {
			s += " when " + exprKey(w.When) + " then " + exprKey(w.Then)
		}
		return s + " else " + exprKey(e.Else)
	case *tsql.IsNull:
		return fmt.Sprintf("(%s is null %v)", exprKey(e.X), e.Not)
	case *tsql.Between:
		return fmt.Sprintf("(%s between %s and %s %v)", exprKey(e.X), exprKey(e.Low), exprKey(e.High), e.Not)
	default:
		return fmt.Sprintf("%p", e)
	}
}

// columnKey is the key of a resolved column of the block itself.
func (b *block) columnKey(u *columnUse) string {
	return fmt.Sprintf("#%d.%d", u.source, u.ordinal)
}
