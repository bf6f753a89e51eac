package tsql

import "strings"

// namedCall reads a call after its name; some built-ins have a syntax of
// their own.
func (p *parser) namedCall(start int, name Name) Expr {
	if len(name.Parts) == 1 && p.tokens[start].kind == tokWord {
		switch strings.ToUpper(name.Base()) {
		case "CAST":
			return p.cast(start, false)
		case "TRY_CAST":
			return p.cast(start, true)
		case "PARSE":
			return p.parseCall(start, false)
		case "TRY_PARSE":
			return p.parseCall(start, true)
		case "IIF":
			return p.iif(start, name)
		case "TRIM":
			return p.trim(start, name)
		}
	}
	return p.call(start, name)
}

// call reads (args) and the clauses that may follow them.
func (p *parser) call(start int, name Name) Expr {
	x := &FuncCall{Name: name}
	p.expect("(")
	switch {
	case p.op("*") && p.peek(1).is(")"):
		x.Star = true
		p.pos += 2
	default:
		if p.acceptWord("DISTINCT") {
			x.Distinct = true
		} else {
			p.acceptWord("ALL")
		}
		x.Args = p.callArgs()
	}
	p.callTail(x)
	x.Span = p.span(start)
	return x
}

// callArgs reads arguments up to and including the closing parenthesis.
func (p *parser) callArgs() []Expr {
	if p.accept(")") {
		return nil
	}
	args := p.exprList()
	p.expect(")")
	return args
}

func (p *parser) callTail(x *FuncCall) {
	if p.acceptWord("WITHIN", "GROUP") {
		p.expect("(")
		x.WithinGroup = p.orderBy()
		p.expect(")")
	}
	if p.acceptWord("IGNORE", "NULLS") {
		x.IgnoreNulls = true
	} else {
		p.acceptWord("RESPECT", "NULLS")
	}
	if p.word("OVER") {
		x.Over = p.over()
	}
}

func (p *parser) iif(start int, name Name) Expr {
	x := &FuncCall{Name: name}
	p.expect("(")
	x.Args = append(x.Args, p.condition())
	p.expect(",")
	x.Args = append(x.Args, p.exprList()...)
	p.expect(")")
	x.Span = p.span(start)
	return x
}

// trim reads TRIM([BOTH] [characters FROM] string). The call's arguments are
// the string and, when given, the characters; LEADING and TRAILING become
// LTRIM and RTRIM, which SQL Server 2022 defines with the same arguments.
func (p *parser) trim(start int, name Name) Expr {
	x := &FuncCall{Name: name}
	p.expect("(")
	switch side, _ := p.acceptOneOf("LEADING", "TRAILING", "BOTH"); side {
	case "LEADING":
		x.Name.Parts = []string{"LTRIM"}
	case "TRAILING":
		x.Name.Parts = []string{"RTRIM"}
	}
	x.Args = []Expr{p.scalar()}
	if p.acceptWord("FROM") {
		x.Args = []Expr{p.scalar(), x.Args[0]}
	}
	p.expect(")")
	x.Span = p.span(start)
	return x
}

func (p *parser) over() *Over {
	p.expectWord("OVER")
	start := p.pos
	o := &Over{}
	p.expect("(")
	if p.acceptWord("PARTITION", "BY") {
		o.PartitionBy = p.exprList()
	}
	if p.word("ORDER") {
		o.OrderBy = p.orderBy()
	}
	if unit, ok := p.acceptOneOf("ROWS", "RANGE"); ok {
		o.Frame = p.frame(unit == "ROWS")
	}
	p.expect(")")
	o.Span = p.span(start)
	return o
}

func (p *parser) frame(rows bool) *Frame {
	f := &Frame{Rows: rows, End: FrameBound{Kind: CurrentRow}}
	if p.acceptWord("BETWEEN") {
		f.Start = p.frameBound()
		p.expectWord("AND")
		f.End = p.frameBound()
		return f
	}
	f.Start = p.frameBound()
	return f
}

func (p *parser) frameBound() FrameBound {
	switch {
	case p.acceptWord("UNBOUNDED", "PRECEDING"):
		return FrameBound{Kind: UnboundedPreceding}
	case p.acceptWord("UNBOUNDED", "FOLLOWING"):
		return FrameBound{Kind: UnboundedFollowing}
	case p.acceptWord("CURRENT", "ROW"):
		return FrameBound{Kind: CurrentRow}
	}
	n := p.scalar()
	if p.acceptWord("PRECEDING") {
		return FrameBound{Kind: Preceding, N: n}
	}
	p.expectWord("FOLLOWING")
	return FrameBound{Kind: Following, N: n}
}

// orderBy reads ORDER BY and its items.
func (p *parser) orderBy() []OrderItem {
	p.expectWord("ORDER", "BY")
	var items []OrderItem
	for {
		item := OrderItem{Expr: p.scalar()}
		if !p.acceptWord("ASC") {
			item.Desc = p.acceptWord("DESC")
		}
		items = append(items, item)
		if !p.accept(",") {
			return items
		}
	}
}
