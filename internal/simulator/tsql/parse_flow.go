package tsql

// declare reads DECLARE of variables, table variables or a cursor.
func (p *parser) declare() Stmt {
	start := p.pos
	p.expectWord("DECLARE")
	if p.cur().isName() {
		return p.declareCursor(start)
	}
	s := &DeclareStmt{}
	for {
		s.Vars = append(s.Vars, p.varDecl())
		if !p.accept(",") {
			break
		}
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) varDecl() VarDecl {
	start := p.pos
	if p.cur().kind != tokVariable {
		p.unexpected()
	}
	v := VarDecl{Name: p.advance().text}
	p.acceptWord("AS")
	switch {
	case p.acceptWord("TABLE"):
		v.Table = p.tableType()
	case p.acceptWord("CURSOR"):
		v.Cursor = true
	default:
		v.Type = p.typeName()
		if p.accept("=") {
			v.Value = p.scalar()
		}
	}
	v.Span = p.span(start)
	return v
}

func (p *parser) ifStmt() Stmt {
	start := p.pos
	p.expectWord("IF")
	s := &IfStmt{Cond: p.condition()}
	s.Then = p.statement()
	if p.acceptWord("ELSE") {
		s.Else = p.statement()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) whileStmt() Stmt {
	start := p.pos
	p.expectWord("WHILE")
	s := &WhileStmt{Cond: p.condition()}
	s.Body = p.statement()
	s.Span = p.span(start)
	return s
}

func (p *parser) breakStmt() Stmt {
	p.pos++
	return &BreakStmt{Span: p.span(p.pos - 1)}
}

func (p *parser) continueStmt() Stmt {
	p.pos++
	return &ContinueStmt{Span: p.span(p.pos - 1)}
}

// begin reads what BEGIN begins: a block, TRY or a transaction.
func (p *parser) begin() Stmt {
	start := p.pos
	p.expectWord("BEGIN")
	switch {
	case p.acceptWord("TRY"):
		return p.try(start)
	case p.word("TRAN", "TRANSACTION", "DISTRIBUTED"):
		return p.beginTran(start)
	case p.word("DIALOG", "CONVERSATION", "ATOMIC"):
		p.unsupported("BEGIN " + p.upper())
	}
	p.semicolons()
	s := &BlockStmt{Body: p.untilEnd()}
	p.expectWord("END")
	s.Span = p.span(start)
	return s
}

// untilEnd reads the statements of a block; it must hold at least one.
func (p *parser) untilEnd() []Stmt {
	var stmts []Stmt
	for p.semicolons(); !p.word("END"); p.semicolons() {
		if p.cur().kind == tokEOF {
			p.unexpected()
		}
		stmts = append(stmts, p.statement())
	}
	if len(stmts) == 0 {
		p.unexpected()
	}
	return stmts
}

// try reads TRY .. CATCH after BEGIN TRY. The CATCH block may be empty.
func (p *parser) try(start int) Stmt {
	p.semicolons()
	s := &TryStmt{Try: p.untilEnd()}
	p.expectWord("END", "TRY")
	p.semicolons()
	p.expectWord("BEGIN", "CATCH")
	p.semicolons()
	if !p.word("END") {
		s.Catch = p.untilEnd()
	}
	p.expectWord("END", "CATCH")
	s.Span = p.span(start)
	return s
}

func (p *parser) throw() Stmt {
	start := p.pos
	p.expectWord("THROW")
	s := &ThrowStmt{}
	if t := p.cur(); t.kind == tokInt || t.kind == tokVariable {
		s.Number = p.primary()
		p.expect(",")
		s.Message = p.primary()
		p.expect(",")
		s.State = p.primary()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) raiserror() Stmt {
	start := p.pos
	p.expectWord("RAISERROR")
	p.expect("(")
	s := &RaiserrorStmt{Message: p.scalar()}
	p.expect(",")
	s.Severity = p.scalar()
	p.expect(",")
	s.State = p.scalar()
	for p.accept(",") {
		s.Args = append(s.Args, p.scalar())
	}
	p.expect(")")
	if p.acceptWord("WITH") {
		for {
			option, ok := p.acceptOneOf("LOG", "NOWAIT", "SETERROR")
			if !ok {
				p.unexpected()
			}
			s.Options = append(s.Options, option)
			if !p.accept(",") {
				break
			}
		}
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) print() Stmt {
	start := p.pos
	p.expectWord("PRINT")
	s := &PrintStmt{Value: p.scalar()}
	s.Span = p.span(start)
	return s
}

// returnStmt reads RETURN with its value, unless a statement follows.
func (p *parser) returnStmt() Stmt {
	start := p.pos
	p.expectWord("RETURN")
	s := &ReturnStmt{}
	if t := p.cur(); t.kind != tokEOF && !t.is(";") && (!t.reserved || !statementStarters[p.upper()]) && !p.peek(1).is(":") && !p.word("THROW") {
		s.Value = p.scalar()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) gotoStmt() Stmt {
	start := p.pos
	p.expectWord("GOTO")
	s := &GotoStmt{Label: p.name()}
	s.Span = p.span(start)
	return s
}

func (p *parser) label() Stmt {
	start := p.pos
	s := &LabelStmt{Label: p.name()}
	p.expect(":")
	s.Span = p.span(start)
	return s
}

func (p *parser) waitFor() Stmt {
	start := p.pos
	p.expectWord("WAITFOR")
	if p.op("(") {
		p.unsupported("WAITFOR (RECEIVE)")
	}
	kind, ok := p.acceptOneOf("DELAY", "TIME")
	if !ok {
		p.unexpected()
	}
	s := &WaitForStmt{Time: kind == "TIME", Value: p.primary()}
	s.Span = p.span(start)
	return s
}

func (p *parser) beginTran(start int) Stmt {
	if p.word("DISTRIBUTED") {
		p.unsupported("BEGIN DISTRIBUTED TRANSACTION")
	}
	p.pos++
	s := &BeginTranStmt{Name: p.tranName()}
	if p.acceptWord("WITH", "MARK") {
		s.WithMark = true
		if k := p.cur().kind; k == tokString || k == tokNString {
			p.pos++
		}
	}
	s.Span = p.span(start)
	return s
}

// tranName reads the name of a transaction or savepoint, "" when none
// follows.
func (p *parser) tranName() string {
	t := p.cur()
	if t.kind == tokVariable || t.isName() && !p.peek(1).is(":") && !p.word("THROW") {
		p.pos++
		return t.text
	}
	return ""
}

// tranWords passes TRAN, TRANSACTION or WORK.
func (p *parser) tranWords() (name string, work bool) {
	if p.acceptWord("WORK") {
		return "", true
	}
	if _, ok := p.acceptOneOf("TRAN", "TRANSACTION"); ok {
		return p.tranName(), false
	}
	return "", false
}

func (p *parser) commit() Stmt {
	start := p.pos
	p.expectWord("COMMIT")
	s := &CommitStmt{}
	s.Name, s.Work = p.tranWords()
	if p.word("WITH") && p.peek(1).is("(") {
		p.pos++
		p.skipParens() // DELAYED_DURABILITY
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) rollback() Stmt {
	start := p.pos
	p.expectWord("ROLLBACK")
	s := &RollbackStmt{}
	s.Name, s.Work = p.tranWords()
	s.Span = p.span(start)
	return s
}

func (p *parser) saveTran() Stmt {
	start := p.pos
	p.expectWord("SAVE")
	if _, ok := p.acceptOneOf("TRAN", "TRANSACTION"); !ok {
		p.unexpected()
	}
	s := &SaveTranStmt{Name: p.tranName()}
	if s.Name == "" {
		p.unexpected()
	}
	s.Span = p.span(start)
	return s
}
