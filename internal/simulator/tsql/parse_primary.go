package tsql

import "strings"

var literalKinds = map[tokenKind]LiteralKind{
	tokInt: IntLiteral, tokDecimal: DecimalLiteral, tokFloat: FloatLiteral, tokMoney: MoneyLiteral,
	tokString: StringLiteral, tokNString: NStringLiteral, tokBinary: BinaryLiteral,
}

// primary reads an operand without operators.
func (p *parser) primary() Expr {
	start := p.pos
	t := p.cur()
	if kind, ok := literalKinds[t.kind]; ok {
		p.pos++
		return &Literal{Span: p.span(start), Kind: kind, Text: t.text}
	}
	switch {
	case t.kind == tokVariable:
		p.pos++
		return &Variable{Span: p.span(start), Name: t.text}
	case t.kind == tokGlobal:
		p.pos++
		return &GlobalVariable{Span: p.span(start), Name: t.text}
	case t.kind == tokPseudo:
		p.pos++
		return &PseudoColumn{Span: p.span(start), Name: t.text}
	case p.op("("):
		return p.paren()
	case p.op("{"):
		return p.odbcEscape()
	case t.reserved:
		return p.keywordPrimary()
	case t.isName():
		return p.nameOrCall()
	}
	p.unexpected()
	return nil
}

// paren reads a subquery or an expression in parentheses.
func (p *parser) paren() Expr {
	start := p.pos
	if p.atQueryParen() {
		q := p.parenQuery()
		return &Subquery{Span: p.span(start), Query: q}
	}
	p.pos++
	x := p.any()
	p.expect(")")
	return x
}

// atQueryParen reports whether the current "(" holds a query rather than an
// expression or a joined table. ((SELECT ..) UNION ..) is a query,
// ((SELECT ..) + 1) and ((SELECT ..) AS t JOIN ..) are not.
func (p *parser) atQueryParen() bool {
	open := p.pos
	for p.tokens[open].is("(") {
		open++
	}
	if t := &p.tokens[open]; open == p.pos || !t.isWord("SELECT") && !t.isWord("WITH") && !t.isWord("VALUES") {
		return false
	}
	// Every inner parenthesis must be an operand of a set operation.
	for i := open - 1; i > p.pos; i-- {
		match := p.tokens[i].match
		if match == 0 {
			return false
		}
		after := &p.tokens[match+1]
		if !after.is(")") && !after.isWord("UNION") && !after.isWord("EXCEPT") && !after.isWord("INTERSECT") && !after.isWord("ORDER") {
			return false
		}
	}
	return true
}

// niladic are the functions written without parentheses.
var niladic = map[string]bool{
	"CURRENT_TIMESTAMP": true, "CURRENT_DATE": true, "CURRENT_TIME": true, "CURRENT_USER": true,
	"SESSION_USER": true, "SYSTEM_USER": true, "USER": true,
}

// keywordFunctions are the reserved words that are called like functions.
var keywordFunctions = map[string]bool{
	"COALESCE": true, "NULLIF": true, "LEFT": true, "RIGHT": true, "UPDATE": true, "IDENTITY": true,
	"CONTAINS": true, "FREETEXT": true,
}

// keywordPrimary reads an operand that begins with a reserved word.
func (p *parser) keywordPrimary() Expr {
	start := p.pos
	word := p.upper()
	switch {
	case word == "NULL":
		p.pos++
		return &Literal{Span: p.span(start), Kind: NullLiteral}
	case word == "DEFAULT":
		p.pos++
		return &DefaultValue{Span: p.span(start)}
	case word == "CASE":
		return p.caseExpr()
	case word == "EXISTS":
		p.pos++
		q := p.parenQuery()
		return &Exists{Span: p.span(start), Query: q}
	case word == "CONVERT" || word == "TRY_CONVERT":
		return p.convert()
	case word == "IDENTITYCOL" || word == "ROWGUIDCOL":
		p.pos++
		return &PseudoColumn{Span: p.span(start), Name: map[string]string{"IDENTITYCOL": "$identity", "ROWGUIDCOL": "$rowguid"}[word]}
	case niladic[word] && !p.peek(1).is("("):
		p.pos++
		return &FuncCall{Span: p.span(start), Name: Name{Span: p.span(start), Parts: []string{word}}, NoParens: true}
	case keywordFunctions[word] && p.peek(1).is("("):
		p.pos++
		return p.call(start, Name{Span: p.span(start), Parts: []string{word}})
	}
	p.unexpected()
	return nil
}

// caseExpr reads CASE.
func (p *parser) caseExpr() Expr {
	start := p.pos
	p.expectWord("CASE")
	x := &Case{}
	if !p.word("WHEN") {
		x.Operand = p.scalar()
	}
	for p.acceptWord("WHEN") {
		var w When
		if x.Operand == nil {
			w.When = p.condition()
		} else {
			w.When = p.scalar()
		}
		p.expectWord("THEN")
		w.Then = p.scalar()
		x.Whens = append(x.Whens, w)
	}
	if len(x.Whens) == 0 {
		p.unexpected()
	}
	if p.acceptWord("ELSE") {
		x.Else = p.scalar()
	}
	p.expectWord("END")
	x.Span = p.span(start)
	return x
}

func (p *parser) convert() Expr {
	start := p.pos
	x := &Convert{Try: p.word("TRY_CONVERT")}
	p.pos++
	p.expect("(")
	x.Type = p.typeName()
	p.expect(",")
	x.X = p.scalar()
	if p.accept(",") {
		x.Style = p.scalar()
	}
	p.expect(")")
	x.Span = p.span(start)
	return x
}

// cast reads CAST or TRY_CAST after its name.
func (p *parser) cast(start int, try bool) Expr {
	p.expect("(")
	x := &Cast{Try: try, X: p.scalar()}
	p.expectWord("AS")
	x.Type = p.typeName()
	p.expect(")")
	x.Span = p.span(start)
	return x
}

// parseCall reads PARSE or TRY_PARSE after its name.
func (p *parser) parseCall(start int, try bool) Expr {
	p.expect("(")
	x := &ParseCall{Try: try, X: p.scalar()}
	p.expectWord("AS")
	x.Type = p.typeName()
	if p.acceptWord("USING") {
		x.Culture = p.scalar()
	}
	p.expect(")")
	x.Span = p.span(start)
	return x
}

// odbcEscape reads {fn f(..)}, {d '..'}, {t '..'}, {ts '..'} and {guid '..'}.
func (p *parser) odbcEscape() Expr {
	start := p.pos
	p.expect("{")
	kind := strings.ToLower(p.cur().text)
	p.pos++
	var x Expr
	switch kind {
	case "fn":
		x = p.scalar()
	case "d", "t", "ts", "guid":
		lit, ok := p.primary().(*Literal)
		if !ok || lit.Kind != StringLiteral && lit.Kind != NStringLiteral {
			p.unexpected()
		}
		name := "datetime"
		if kind == "guid" {
			name = "uniqueidentifier"
		}
		x = &Cast{Span: p.span(start), X: lit, Type: TypeName{Name: Name{Span: p.span(start), Parts: []string{name}}}}
	default:
		p.pos--
		p.unexpected()
	}
	p.expect("}")
	return x
}

// nameOrCall reads what begins with a name: a column, a function call, a
// static method, or a pseudo column with a qualifier.
func (p *parser) nameOrCall() Expr {
	start := p.pos
	if p.acceptWord("NEXT", "VALUE", "FOR") {
		return p.nextValue(start)
	}
	name := p.qualifiedName()
	switch {
	case p.op("."): // qualifiedName stopped before a $column
		p.pos++
		return &PseudoColumn{Name: p.advance().text, Qualifier: name, Span: p.span(start)}
	case p.op("::"):
		return p.staticMethod(start, name)
	case p.op("("):
		return p.namedCall(start, name)
	}
	return &ColumnRef{Name: name}
}

// qualifiedName is multiName, except that it leaves a trailing .$column.
func (p *parser) qualifiedName() Name {
	if p.peek(1).is(".") && p.peek(2).kind == tokPseudo {
		start := p.pos
		return Name{Parts: []string{p.name()}, Span: p.span(start)}
	}
	return p.multiName()
}

func (p *parser) staticMethod(start int, typ Name) Expr {
	p.expect("::")
	x := &StaticMethod{Type: typ, Name: p.name()}
	if p.accept("(") {
		x.Call = true
		x.Args = p.callArgs()
	}
	x.Span = p.span(start)
	return x
}
