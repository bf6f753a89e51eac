package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// children lists the direct operands of an expression, subqueries apart.
func children(e tsql.Expr) []tsql.Expr {
	switch e := e.(type) {
	case *tsql.Unary:
		return []tsql.Expr{e.X}
	case *tsql.Binary:
		return []tsql.Expr{e.L, e.R}
	case *tsql.IsNull:
		return []tsql.Expr{e.X}
	case *tsql.IsDistinct:
		return []tsql.Expr{e.L, e.R}
	case *tsql.Like:
		return []tsql.Expr{e.X, e.Pattern, e.Escape}
	case *tsql.In:
		return append([]tsql.Expr{e.X}, e.List...)
	case *tsql.Between:
		return []tsql.Expr{e.X, e.Low, e.High}
	case *tsql.Quantified:
		return []tsql.Expr{e.X}
	case *tsql.Case:
		list := []tsql.Expr{e.Operand, e.Else}
		for _, w := range e.Whens {
			list = append(list, w.When, w.Then)
		}
		return list
	case *tsql.Cast:
		return []tsql.Expr{e.X}
	case *tsql.Convert:
		return []tsql.Expr{e.X, e.Style}
	case *tsql.ParseCall:
		return []tsql.Expr{e.X}
	case *tsql.Collate:
		return []tsql.Expr{e.X}
	case *tsql.AtTimeZone:
		return []tsql.Expr{e.X, e.Zone}
	case *tsql.MethodCall:
		return append([]tsql.Expr{e.X}, e.Args...)
	case *tsql.FuncCall:
		list := append([]tsql.Expr(nil), e.Args...)
		if e.Over != nil {
			list = append(list, e.Over.PartitionBy...)
			for _, o := range e.Over.OrderBy {
				list = append(list, o.Expr)
			}
		}
		return list
	}
	return nil
}

// hasAggregate reports whether an expression calls an aggregate of its own block.
func hasAggregate(e tsql.Expr) bool {
	if e == nil {
		return false
	}
	if f, ok := e.(*tsql.FuncCall); ok && f.Over == nil && len(f.Name.Parts) == 1 && isAggregate(strings.ToUpper(f.Name.Base())) {
		return true
	}
	for _, k := range children(e) {
		if hasAggregate(k) {
			return true
		}
	}
	return false
}

// columnNames calls f for each column reference in the expression.
func columnNames(e tsql.Expr, f func(*tsql.ColumnRef)) {
	if e == nil {
		return
	}
	if r, ok := e.(*tsql.ColumnRef); ok {
		f(r)
		return
	}
	for _, k := range children(e) {
		columnNames(k, f)
	}
}
