package tsql

import "strings"

// parenQuery reads a query in parentheses.
func (p *parser) parenQuery() *SelectQuery {
	p.expect("(")
	q := p.query()
	p.expect(")")
	return q
}

// query reads a whole query, WITH included.
func (p *parser) query() *SelectQuery {
	start := p.pos
	return p.queryAfterWith(start, p.with())
}

// queryAfterWith reads a query whose common table expressions are read
// already.
func (p *parser) queryAfterWith(start int, with []CTE) *SelectQuery {
	defer p.enter()()
	q := &SelectQuery{With: with, Body: p.queryBody()}
	if p.word("ORDER") {
		q.OrderBy = p.orderBy()
		p.offsetFetch(q)
	}
	if p.word("FOR") && (p.peek(1).isWord("XML") || p.peek(1).isWord("JSON") || p.peek(1).isWord("BROWSE")) {
		q.For = p.forClause()
	}
	q.Options = p.queryOptions()
	q.Span = p.span(start)
	return q
}

// with reads common table expressions, nil when there are none.
func (p *parser) with() []CTE {
	if !p.word("WITH") {
		return nil
	}
	if p.peek(1).isWord("XMLNAMESPACES") {
		p.unsupported("XMLNAMESPACES")
	}
	p.pos++
	var list []CTE
	for {
		start := p.pos
		cte := CTE{Name: p.name()}
		if p.op("(") {
			cte.Columns = p.nameList()
		}
		p.expectWord("AS")
		cte.Query = p.parenQuery()
		cte.Span = p.span(start)
		list = append(list, cte)
		if !p.accept(",") {
			return list
		}
	}
}

// queryBody reads UNION and EXCEPT chains.
func (p *parser) queryBody() QueryBody {
	start, n := p.pos, 0
	left := p.intersection()
	for {
		var op SetOperator
		switch {
		case p.acceptWord("UNION", "ALL"):
			op = UnionAll
		case p.acceptWord("UNION"):
			op = Union
		case p.acceptWord("EXCEPT"):
			op = Except
		default:
			return left
		}
		p.grow(&n)
		right := p.intersection()
		left = &SetOperation{Span: p.span(start), Op: op, L: left, R: right}
	}
}

// intersection reads INTERSECT chains, which bind tighter.
func (p *parser) intersection() QueryBody {
	start, n := p.pos, 0
	left := p.queryOperand()
	for p.acceptWord("INTERSECT") {
		p.grow(&n)
		right := p.queryOperand()
		left = &SetOperation{Span: p.span(start), Op: Intersect, L: left, R: right}
	}
	return left
}

func (p *parser) queryOperand() QueryBody {
	start := p.pos
	if p.accept("(") {
		defer p.enter()()
		body := p.queryBody()
		p.expect(")")
		return &ParenQuery{Span: p.span(start), Body: body}
	}
	return p.selectSpec()
}

func (p *parser) selectSpec() *SelectSpec {
	start := p.pos
	p.expectWord("SELECT")
	s := &SelectSpec{}
	if p.acceptWord("DISTINCT") {
		s.Distinct = true
	} else {
		p.acceptWord("ALL")
	}
	s.Top = p.top()
	s.Items = p.selectList()
	if p.acceptWord("INTO") {
		into := p.multiName()
		s.Into = &into
	}
	if p.acceptWord("FROM") {
		s.From = p.fromList()
	}
	if p.acceptWord("WHERE") {
		s.Where = p.condition()
	}
	if p.acceptWord("GROUP", "BY") {
		s.GroupBy = p.groupBy()
	}
	if p.acceptWord("HAVING") {
		s.Having = p.condition()
	}
	s.Span = p.span(start)
	return s
}

// top reads TOP; without parentheses only a constant may follow.
func (p *parser) top() *Top {
	if !p.acceptWord("TOP") {
		return nil
	}
	t := &Top{}
	if p.accept("(") {
		t.N = p.scalar()
		p.expect(")")
	} else {
		switch p.cur().kind {
		case tokInt, tokDecimal, tokFloat:
			t.N = p.primary()
		default:
			p.unexpected()
		}
	}
	t.Percent = p.acceptWord("PERCENT")
	t.WithTies = p.acceptWord("WITH", "TIES")
	return t
}

func (p *parser) selectList() []SelectItem {
	items := []SelectItem{p.selectItem()}
	for p.accept(",") {
		items = append(items, p.selectItem())
	}
	return items
}

func (p *parser) selectItem() SelectItem {
	start := p.pos
	item := p.selectItemBody()
	item.Span = p.span(start)
	return item
}

func (p *parser) selectItemBody() SelectItem {
	if p.accept("*") {
		return SelectItem{Star: true}
	}
	if qualifier, ok := p.starQualifier(); ok {
		return SelectItem{Star: true, Qualifier: qualifier}
	}
	t := p.cur()
	if op, ok := p.assignOp(p.peek(1)); ok && t.kind == tokVariable {
		p.pos += 2
		return SelectItem{Variable: t.text, AssignOp: op, Expr: p.scalar()}
	}
	if p.peek(1).is("=") && (t.isName() || t.kind == tokString) {
		p.pos += 2
		return SelectItem{Alias: t.text, HasAlias: true, Expr: p.scalar()}
	}
	item := SelectItem{Expr: p.scalar()}
	item.Alias, item.HasAlias = p.columnAlias()
	return item
}

// starQualifier passes t.* or a.b.* and returns the names before the star.
func (p *parser) starQualifier() (Name, bool) {
	n := 0
	for p.peek(n).isName() && p.peek(n+1).is(".") {
		n += 2
		if p.peek(n).is(".") {
			n++
		}
	}
	if n == 0 || !p.peek(n).is("*") {
		return Name{}, false
	}
	start := p.pos
	var parts []string
	for !p.op("*") {
		if p.accept(".") {
			parts = append(parts, "")
			continue
		}
		parts = append(parts, p.name())
		p.expect(".")
	}
	qualifier := Name{Span: p.span(start), Parts: parts}
	p.pos++
	return qualifier, true
}

// assignOp reports whether a token assigns: = or a compound like +=.
func (p *parser) assignOp(t *token) (string, bool) {
	if t.kind != tokOp {
		return "", false
	}
	switch t.text {
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=":
		return t.text, true
	}
	return "", false
}

// columnAlias reads [AS] alias of a select item, which may be a string.
func (p *parser) columnAlias() (string, bool) {
	as := p.acceptWord("AS")
	t := p.cur()
	switch {
	case t.kind == tokString || t.kind == tokNString:
	case t.isName() && (as || !p.endsItem(t)):
	case as:
		p.unexpected()
	default:
		return "", false
	}
	p.pos++
	return t.text, true
}

// endsItem reports whether an unreserved word begins what follows an item
// rather than being its alias.
func (p *parser) endsItem(t *token) bool {
	for _, w := range []string{"OUTPUT", "USING", "THROW", "APPLY"} {
		if t.isWord(w) {
			return true
		}
	}
	return p.peek(1).is(":") // a label
}

func (p *parser) offsetFetch(q *SelectQuery) {
	if !p.acceptWord("OFFSET") {
		return
	}
	q.Offset = p.scalar()
	p.rowOrRows()
	if p.acceptWord("FETCH") {
		if _, ok := p.acceptOneOf("NEXT", "FIRST"); !ok {
			p.unexpected()
		}
		q.Fetch = p.scalar()
		p.rowOrRows()
		p.expectWord("ONLY")
	}
}

func (p *parser) rowOrRows() {
	if _, ok := p.acceptOneOf("ROW", "ROWS"); !ok {
		p.unexpected()
	}
}

// queryOptions reads OPTION (..).
func (p *parser) queryOptions() []QueryOption {
	if !p.acceptWord("OPTION") {
		return nil
	}
	p.expect("(")
	var options []QueryOption
	for {
		options = append(options, p.queryOption())
		if !p.accept(",") {
			p.expect(")")
			return options
		}
	}
}

func (p *parser) queryOption() QueryOption {
	var words []string
	for p.cur().kind == tokWord {
		words = append(words, p.upper())
		p.pos++
	}
	if len(words) == 0 {
		p.unexpected()
	}
	o := QueryOption{Name: strings.Join(words, " ")}
	p.accept("=")
	switch {
	case p.op("("):
		p.skipParens()
	case !p.op(",") && !p.op(")"):
		o.Value = p.scalar()
	}
	return o
}
