package tsql

import "strings"

// fromList reads the items of a FROM clause.
func (p *parser) fromList() []TableSource {
	list := []TableSource{p.joined()}
	for p.accept(",") {
		list = append(list, p.joined())
	}
	return list
}

// joined reads one source with the joins that follow it. A JOIN .. JOIN .. ON
// .. ON nests to the right, as the standard says.
func (p *parser) joined() TableSource {
	defer p.enter()()
	start, n := p.pos, 0
	left := p.tableSource()
	for {
		kind, hint, ok := p.joinKind()
		if !ok {
			return left
		}
		p.grow(&n)
		j := &Join{Kind: kind, L: left, Hint: hint}
		switch kind {
		case CrossJoin, CrossApply, OuterApply:
			j.R = p.tableSource()
		default:
			j.R = p.joinOperand()
			p.expectWord("ON")
			j.On = p.condition()
		}
		j.Span = p.span(start)
		left = j
	}
}

// joinOperand reads the right side of a join that waits for its ON: if
// another join comes before that ON, it belongs to the right side.
func (p *parser) joinOperand() TableSource {
	defer p.enter()()
	start := p.pos
	right := p.tableSource()
	for !p.word("ON") {
		kind, hint, ok := p.joinKind()
		if !ok {
			return right
		}
		j := &Join{Kind: kind, L: right, Hint: hint}
		if kind == CrossJoin || kind == CrossApply || kind == OuterApply {
			j.R = p.tableSource()
		} else {
			j.R = p.joinOperand()
			p.expectWord("ON")
			j.On = p.condition()
		}
		j.Span = p.span(start)
		right = j
	}
	return right
}

// joinKind passes the words of a join, if one comes next.
func (p *parser) joinKind() (kind JoinKind, hint string, ok bool) {
	switch {
	case p.acceptWord("CROSS", "JOIN"):
		return CrossJoin, "", true
	case p.acceptWord("CROSS", "APPLY"):
		return CrossApply, "", true
	case p.acceptWord("OUTER", "APPLY"):
		return OuterApply, "", true
	case p.acceptWord("JOIN"):
		return InnerJoin, "", true
	case p.acceptWord("INNER"):
		kind = InnerJoin
	case p.acceptWord("LEFT"):
		kind = LeftJoin
	case p.acceptWord("RIGHT"):
		kind = RightJoin
	case p.acceptWord("FULL"):
		kind = FullJoin
	default:
		return 0, "", false
	}
	if kind != InnerJoin {
		p.acceptWord("OUTER")
	}
	hint, _ = p.acceptOneOf("HASH", "MERGE", "LOOP", "REMOTE")
	p.expectWord("JOIN")
	return kind, hint, true
}

// tableSource reads one source without joins.
func (p *parser) tableSource() TableSource {
	start := p.pos
	switch t := p.cur(); {
	case p.op("("):
		return p.parenSource()
	case t.kind == tokVariable:
		return p.variableSource()
	case p.word("OPENROWSET", "OPENQUERY", "OPENDATASOURCE", "OPENXML", "CONTAINSTABLE", "FREETEXTTABLE"):
		p.unsupported(p.upper())
	case p.word("OPENJSON") && p.peek(1).is("("):
		return p.openJSON()
	case p.op("::"): // the old syntax of system functions, ::fn_helpcollations()
		p.pos++
	}
	name := p.multiName()
	if p.op("(") && !p.oldHints() {
		call := p.call(start, name)
		return p.funcSource(start, call)
	}
	ref := &TableRef{Name: name}
	if p.op("(") {
		ref.Hints = p.hintList()
	}
	p.refuseTemporal()
	ref.Alias = p.tableAlias()
	p.refuseTemporal()
	ref.Hints = append(ref.Hints, p.hints()...)
	ref.Span = p.span(start)
	return p.pivots(start, ref)
}

// refuseTemporal stops at clauses that are not modelled.
func (p *parser) refuseTemporal() {
	if p.words("FOR", "SYSTEM_TIME") {
		p.unsupported("FOR SYSTEM_TIME")
	}
	if p.word("TABLESAMPLE") {
		p.unsupported("TABLESAMPLE")
	}
}

// parenSource reads a derived table or a joined table in parentheses.
func (p *parser) parenSource() TableSource {
	start := p.pos
	if !p.atQueryParen() {
		defer p.enter()()
		p.pos++
		if p.word("INSERT", "UPDATE", "DELETE", "MERGE") {
			p.unsupported("nested " + p.upper() + " with OUTPUT")
		}
		src := p.joined()
		p.expect(")")
		return src
	}
	if p.peek(1).isWord("VALUES") {
		return p.valuesSource()
	}
	d := &DerivedTable{Query: p.parenQuery()}
	d.Alias, d.Columns = p.requiredAlias()
	d.Span = p.span(start)
	return p.pivots(start, d)
}

func (p *parser) valuesSource() TableSource {
	start := p.pos
	p.expect("(")
	p.expectWord("VALUES")
	v := &ValuesTable{Rows: p.rows()}
	p.expect(")")
	v.Alias, v.Columns = p.requiredAlias()
	v.Span = p.span(start)
	return v
}

// rows reads (a, b), (c, d), ..
func (p *parser) rows() [][]Expr {
	var rows [][]Expr
	for {
		p.expect("(")
		rows = append(rows, p.exprList())
		p.expect(")")
		if !p.accept(",") {
			return rows
		}
	}
}

func (p *parser) variableSource() TableSource {
	start := p.pos
	name := p.advance().text
	if p.op(".") { // @x.nodes('..')
		p.pos++
		m := &MethodCall{X: &Variable{Span: p.span(start), Name: name}, Name: p.name(), Call: true}
		p.expect("(")
		m.Args = p.callArgs()
		m.Span = p.span(start)
		return p.funcSource(start, m)
	}
	v := &VariableTable{Name: name}
	v.Alias = p.tableAlias()
	v.Hints = p.hints()
	v.Span = p.span(start)
	return v
}

func (p *parser) funcSource(start int, call Expr) TableSource {
	f := &FuncTable{Call: call, Alias: p.tableAlias()}
	if f.Alias != "" && p.op("(") {
		f.Columns = p.nameList()
	}
	p.hints()
	f.Span = p.span(start)
	return p.pivots(start, f)
}

func (p *parser) openJSON() TableSource {
	start := p.pos
	name := p.multiName()
	f := &FuncTable{Call: p.call(start, name)}
	if p.acceptWord("WITH") {
		p.expect("(")
		for {
			c := OpenColumn{Name: p.name(), Type: p.typeName()}
			if p.cur().kind == tokString || p.cur().kind == tokNString {
				c.Path = p.advance().text
			}
			c.AsJSON = p.acceptWord("AS", "JSON")
			f.With = append(f.With, c)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	f.Alias = p.tableAlias()
	f.Span = p.span(start)
	return f
}

// tableAlias reads [AS] alias, "" when there is none.
func (p *parser) tableAlias() string {
	as := p.acceptWord("AS")
	t := p.cur()
	if t.isName() && (as || !p.endsItem(t)) {
		p.pos++
		return t.text
	}
	if as {
		p.unexpected()
	}
	return ""
}

// requiredAlias reads the alias that derived tables must have, with optional
// columns.
func (p *parser) requiredAlias() (string, []string) {
	alias := p.tableAlias()
	if alias == "" {
		p.unexpected()
	}
	if p.op("(") {
		return alias, p.nameList()
	}
	return alias, nil
}

// hints reads WITH (..) of a table, or the old form without WITH.
func (p *parser) hints() []TableHint {
	if p.word("WITH") && p.peek(1).is("(") {
		p.pos++
		return p.hintList()
	}
	if p.oldHints() {
		return p.hintList()
	}
	return nil
}

// oldStyle are the hints that may stand in parentheses without WITH.
var oldStyle = []string{
	"NOLOCK", "READUNCOMMITTED", "UPDLOCK", "REPEATABLEREAD", "SERIALIZABLE", "READCOMMITTED", "TABLOCK",
	"TABLOCKX", "PAGLOCK", "ROWLOCK", "NOWAIT", "READPAST", "XLOCK", "SNAPSHOT", "HOLDLOCK", "NOEXPAND",
}

// oldHints reports whether the current parenthesis holds hints, not arguments.
func (p *parser) oldHints() bool {
	if !p.op("(") {
		return false
	}
	next := p.peek(2)
	if !next.is(")") && !next.is(",") && !next.isWord("INDEX") {
		return false
	}
	for _, h := range oldStyle {
		if p.peek(1).isWord(h) {
			return true
		}
	}
	return false
}

func (p *parser) hintList() []TableHint {
	p.expect("(")
	var hints []TableHint
	for {
		if p.cur().kind != tokWord {
			p.unexpected()
		}
		h := TableHint{Name: p.upper()}
		p.pos++
		p.accept("=")
		switch t := p.cur(); {
		case p.op("("):
			h.Args = p.hintArgs()
		case t.kind == tokInt || (h.Name == "INDEX" && t.isName()):
			h.Args = []string{p.advance().text}
		}
		hints = append(hints, h)
		// The comma between hints is optional, for compatibility.
		if !p.accept(",") && p.accept(")") {
			return hints
		}
	}
}

func (p *parser) hintArgs() []string {
	text := p.skipParens()
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	var args []string
	for _, a := range strings.Split(text, ",") {
		args = append(args, strings.Trim(strings.TrimSpace(a), `[]"`))
	}
	return args
}
