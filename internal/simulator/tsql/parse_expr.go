package tsql

// Precedence, loosest first (MS docs: Operator precedence): OR, AND, NOT,
// comparisons and predicates, + - & ^ |, * / %, unary, postfix.

// scalar reads an expression that is a value, not a condition.
func (p *parser) scalar() Expr {
	x := p.additive()
	if isCondition(x) {
		p.unexpected()
	}
	return x
}

// condition reads an expression that is true, false or unknown.
func (p *parser) condition() Expr {
	x := p.any()
	if !isCondition(x) {
		p.fail(4145, "An expression of non-boolean type specified in a context where a condition is expected, near '%s'.", p.near())
	}
	return x
}

// near is the current token for error texts, the last one at the end.
func (p *parser) near() string {
	if p.cur().kind == tokEOF && p.pos > 0 {
		return p.shown(&p.tokens[p.pos-1])
	}
	return p.shown(p.cur())
}

// isCondition tells conditions from values.
func isCondition(x Expr) bool {
	switch x := x.(type) {
	case *IsNull, *IsDistinct, *Like, *In, *Between, *Exists, *Quantified:
		return true
	case *Unary:
		return x.Op == "NOT"
	case *Binary:
		return comparisons[x.Op] || x.Op == "AND" || x.Op == "OR"
	case *FuncCall:
		return x.Name.Base() == "UPDATE" || x.Name.Base() == "CONTAINS" || x.Name.Base() == "FREETEXT"
	}
	return false
}

var comparisons = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

// any reads a condition or a value, whichever stands there.
func (p *parser) any() Expr {
	defer p.enter()()
	start, n := p.pos, 0
	left := p.and()
	for p.word("OR") {
		left = p.logical(left, start, &n, "OR", p.and)
	}
	return left
}

func (p *parser) and() Expr {
	start, n := p.pos, 0
	left := p.not()
	for p.word("AND") {
		left = p.logical(left, start, &n, "AND", p.not)
	}
	return left
}

func (p *parser) logical(left Expr, start int, n *int, op string, operand func() Expr) Expr {
	p.grow(n)
	p.requireCondition(left)
	p.pos++
	right := operand()
	p.requireCondition(right)
	return &Binary{Span: p.span(start), Op: op, L: left, R: right}
}

func (p *parser) requireCondition(x Expr) {
	if !isCondition(x) {
		p.fail(4145, "An expression of non-boolean type specified in a context where a condition is expected, near '%s'.", p.near())
	}
}

func (p *parser) not() Expr {
	start := p.pos
	if !p.acceptWord("NOT") {
		return p.predicate()
	}
	defer p.enter()()
	x := p.not()
	p.requireCondition(x)
	return &Unary{Span: p.span(start), Op: "NOT", X: x}
}

// predicate reads a comparison, an IS, LIKE, IN, BETWEEN, or just a value.
func (p *parser) predicate() Expr {
	start := p.pos
	left := p.additive()
	if isCondition(left) {
		return left
	}
	if op, ok := p.comparison(); ok {
		return p.compare(left, start, op)
	}
	if p.acceptWord("IS") {
		not := p.acceptWord("NOT")
		if p.acceptWord("DISTINCT", "FROM") {
			right := p.scalar()
			return &IsDistinct{Span: p.span(start), L: left, R: right, Not: not}
		}
		p.expectWord("NULL")
		return &IsNull{Span: p.span(start), X: left, Not: not}
	}
	not := p.word("NOT") && (p.peek(1).isWord("LIKE") || p.peek(1).isWord("IN") || p.peek(1).isWord("BETWEEN"))
	if not {
		p.pos++
	}
	switch {
	case p.acceptWord("LIKE"):
		x := &Like{X: left, Pattern: p.scalar(), Not: not}
		x.Escape = p.likeEscape()
		x.Span = p.span(start)
		return x
	case p.acceptWord("IN"):
		return p.in(left, start, not)
	case p.acceptWord("BETWEEN"):
		x := &Between{X: left, Low: p.scalar(), Not: not}
		p.expectWord("AND")
		x.High = p.scalar()
		x.Span = p.span(start)
		return x
	}
	return left
}

// comparison passes a comparison operator. SQL Server allows blanks between
// its two characters.
func (p *parser) comparison() (string, bool) {
	t := p.cur()
	if t.kind != tokOp || !comparisons[t.text] {
		return "", false
	}
	p.pos++
	if op := t.text + p.cur().text; p.cur().kind == tokOp && (op == "<=" || op == ">=" || op == "<>") {
		p.pos++
		return op, true
	}
	return t.text, true
}

func (p *parser) compare(left Expr, start int, op string) Expr {
	if quantifier, ok := p.acceptOneOf("ANY", "SOME", "ALL"); ok {
		q := &Quantified{X: left, Op: op, All: quantifier == "ALL", Query: p.parenQuery()}
		q.Span = p.span(start)
		return q
	}
	right := p.scalar()
	return &Binary{Span: p.span(start), Op: op, L: left, R: right}
}

// likeEscape reads ESCAPE 'c' or the ODBC {escape 'c'}.
func (p *parser) likeEscape() Expr {
	if p.acceptWord("ESCAPE") {
		return p.scalar()
	}
	if p.op("{") && p.peek(1).isWord("escape") {
		p.pos += 2
		x := p.scalar()
		p.expect("}")
		return x
	}
	return nil
}

func (p *parser) in(left Expr, start int, not bool) Expr {
	x := &In{X: left, Not: not}
	if p.atQueryParen() {
		x.Query = p.parenQuery()
	} else {
		p.expect("(")
		x.List = p.exprList()
		p.expect(")")
	}
	x.Span = p.span(start)
	return x
}

// exprList reads values separated by commas.
func (p *parser) exprList() []Expr {
	list := []Expr{p.scalar()}
	for p.accept(",") {
		list = append(list, p.scalar())
	}
	return list
}

var additiveOperators = map[string]bool{"+": true, "-": true, "&": true, "|": true, "^": true, "<<": true, ">>": true}

var multiplicativeOperators = map[string]bool{"*": true, "/": true, "%": true}

func (p *parser) additive() Expr {
	defer p.enter()()
	return p.arithmetic(additiveOperators, func() Expr { return p.arithmetic(multiplicativeOperators, p.unary) })
}

// arithmetic reads a left-deep chain of one precedence.
func (p *parser) arithmetic(operators map[string]bool, operand func() Expr) Expr {
	start, n := p.pos, 0
	left := operand()
	for p.cur().kind == tokOp && operators[p.cur().text] {
		if isCondition(left) {
			p.unexpected()
		}
		p.grow(&n)
		op := p.advance().text
		if op == "|" && p.joins && p.op("|") {
			p.unsupported("||")
		}
		right := operand()
		if isCondition(right) {
			p.unexpected()
		}
		left = &Binary{Span: p.span(start), Op: op, L: left, R: right}
	}
	return left
}

func (p *parser) unary() Expr {
	start := p.pos
	for _, op := range []string{"-", "+", "~"} {
		if p.accept(op) {
			defer p.enter()()
			x := p.unary()
			if isCondition(x) {
				p.unexpected()
			}
			return &Unary{Span: p.span(start), Op: op, X: x}
		}
	}
	return p.postfix()
}

// postfix reads a primary with what may follow it: COLLATE, AT TIME ZONE, and
// methods of xml and CLR types.
func (p *parser) postfix() Expr {
	start, n := p.pos, 0
	x := p.primary()
	for !isCondition(x) {
		switch {
		case p.acceptWord("COLLATE"):
			x = &Collate{X: x, Collation: p.collation(), Span: p.span(start)}
		case p.acceptWord("AT", "TIME", "ZONE"):
			zone := p.primary()
			x = &AtTimeZone{X: x, Zone: zone, Span: p.span(start)}
		case p.op(".") && p.peek(1).isName():
			p.pos++
			m := &MethodCall{X: x, Name: p.name()}
			if p.accept("(") {
				m.Call = true
				m.Args = p.callArgs()
			}
			m.Span = p.span(start)
			x = m
		default:
			return x
		}
		p.grow(&n)
	}
	return x
}

// collation reads a collation's name, which may be the word DATABASE_DEFAULT.
func (p *parser) collation() string { return p.name() }
