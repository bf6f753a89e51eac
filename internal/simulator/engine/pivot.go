package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// pivotTable rewrites PIVOT as the query that it stands for: the aggregate of
// each value's rows, grouped by all columns that PIVOT does not name (MS docs:
// FROM - Using PIVOT and UNPIVOT).
func (c *compiler) pivotTable(p *tsql.PivotTable, b *block) (*fromTree, error) {
	if p.Call.Star || p.Call.Distinct || len(p.Call.Args) != 1 || !isAggregate(strings.ToUpper(p.Call.Name.Base())) {
		return nil, unsupported("PIVOT with other than an aggregate of one expression")
	}
	cols, err := c.columnsOf(p.Source, b)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{fold(p.For.Base()): true}
	columnNames(p.Call.Args[0], func(r *tsql.ColumnRef) { used[fold(r.Base())] = true })
	spec := &tsql.SelectSpec{Span: p.Span, From: []tsql.TableSource{p.Source}}
	group := &tsql.GroupBy{}
	for _, name := range cols {
		if used[fold(name)] {
			continue
		}
		ref := columnNamed(name)
		group.Items = append(group.Items, ref)
		spec.Items = append(spec.Items, tsql.SelectItem{Expr: ref})
	}
	if len(group.Items) > 0 {
		spec.GroupBy = group
	}
	for _, v := range p.In {
		call := *p.Call
		is := &tsql.Binary{Op: "=", L: &tsql.ColumnRef{Name: p.For}, R: &tsql.Literal{Kind: tsql.NStringLiteral, Text: v}}
		call.Args = []tsql.Expr{&tsql.Case{Whens: []tsql.When{{When: is, Then: p.Call.Args[0]}}}}
		spec.Items = append(spec.Items, tsql.SelectItem{Expr: &call, Alias: v, HasAlias: true})
	}
	return c.rewritten(spec, p.Alias, b)
}

// unpivotTable rewrites UNPIVOT: a row for each column that is not NULL.
func (c *compiler) unpivotTable(u *tsql.UnpivotTable, b *block) (*fromTree, error) {
	cols, err := c.columnsOf(u.Source, b)
	if err != nil {
		return nil, err
	}
	in := map[string]bool{}
	values := &tsql.ValuesTable{Alias: "unpivot values", Columns: []string{u.Value, u.For}}
	for _, n := range u.In {
		in[fold(n.Base())] = true
		name := &tsql.Cast{X: &tsql.Literal{Kind: tsql.NStringLiteral, Text: n.Base()}, Type: tsql.TypeName{Name: tsql.Name{Parts: []string{"nvarchar"}}, Args: []int{128}}}
		values.Rows = append(values.Rows, []tsql.Expr{&tsql.ColumnRef{Name: n}, name})
	}
	spec := &tsql.SelectSpec{Span: u.Span, From: []tsql.TableSource{&tsql.Join{Kind: tsql.CrossApply, L: u.Source, R: values}}}
	for _, name := range append(cols, u.Value, u.For) {
		if !in[fold(name)] {
			spec.Items = append(spec.Items, tsql.SelectItem{Expr: columnNamed(name)})
		}
	}
	spec.Where = &tsql.IsNull{X: &tsql.ColumnRef{Name: tsql.Name{Parts: []string{values.Alias, u.Value}}}, Not: true}
	return c.rewritten(spec, u.Alias, b)
}

func columnNamed(name string) *tsql.ColumnRef {
	return &tsql.ColumnRef{Name: tsql.Name{Parts: []string{name}}}
}

// columnsOf compiles a source apart, to know its columns.
func (c *compiler) columnsOf(src tsql.TableSource, b *block) ([]string, error) {
	apart := &block{outer: b.outer, ctes: b.ctes, phase: phaseFrom}
	if _, err := c.tableSource(src, apart); err != nil {
		return nil, err
	}
	var names []string
	for _, s := range apart.sources {
		for i := range s.columns {
			names = append(names, s.columns[i].name)
		}
	}
	return names, nil
}

// rewritten compiles a query made here as a derived table.
func (c *compiler) rewritten(spec *tsql.SelectSpec, alias string, b *block) (*fromTree, error) {
	return c.derivedTable(&tsql.DerivedTable{Span: spec.Span, Query: &tsql.SelectQuery{Span: spec.Span, Body: spec}, Alias: alias}, b, false)
}
