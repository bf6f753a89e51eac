package tsql

// bareCall reads a procedure call without EXEC at the start of a batch.
func (p *parser) bareCall() Stmt {
	start := p.pos
	s := &ExecStmt{Proc: p.procName()}
	s.Args = p.execArgs()
	p.execOptions(s)
	s.Span = p.span(start)
	return s
}

// procName reads a procedure's name, dropping the number of ;1.
func (p *parser) procName() Name {
	name := p.multiName()
	if p.op(";") && p.peek(1).kind == tokInt {
		p.pos += 2
	}
	return name
}

// exec reads EXEC in all its forms.
func (p *parser) exec() Stmt {
	start := p.pos
	p.pos++
	if p.acceptWord("AS") {
		return p.executeAs(start)
	}
	s := &ExecStmt{}
	switch {
	case p.op("("):
		p.execStrings(s)
	case p.cur().kind == tokVariable && p.peek(1).is("="):
		s.ReturnVar = p.advance().text
		p.pos++
		p.execProc(s)
	default:
		p.execProc(s)
	}
	p.execOptions(s)
	s.Span = p.span(start)
	return s
}

func (p *parser) execProc(s *ExecStmt) {
	if p.cur().kind == tokVariable {
		s.ProcVariable = p.advance().text
	} else {
		s.Proc = p.procName()
	}
	s.Args = p.execArgs()
}

// execStrings reads ('a' + @b) with AS and AT.
func (p *parser) execStrings(s *ExecStmt) {
	p.expect("(")
	for {
		switch p.cur().kind {
		case tokString, tokNString, tokVariable:
			s.Strings = append(s.Strings, p.primary())
		default:
			p.unexpected()
		}
		if !p.accept("+") {
			break
		}
	}
	for p.accept(",") { // arguments of a pass-through call
		p.execArg()
	}
	p.expect(")")
	if p.acceptWord("AS") {
		kind, ok := p.acceptOneOf("LOGIN", "USER")
		if !ok {
			p.unexpected()
		}
		p.expect("=")
		s.AsKind, s.As = kind, p.stringText()
	}
	if p.acceptWord("AT") {
		s.At = p.name()
	}
}

func (p *parser) stringText() string {
	if k := p.cur().kind; k != tokString && k != tokNString {
		p.unexpected()
	}
	return p.advance().text
}

// execArgs reads arguments, none when a statement or the end follows.
func (p *parser) execArgs() []ExecArg {
	if !p.startsArg() {
		return nil
	}
	args := []ExecArg{p.execArg()}
	for p.accept(",") {
		args = append(args, p.execArg())
	}
	return args
}

func (p *parser) startsArg() bool {
	t := p.cur()
	switch t.kind {
	case tokEOF:
		return false
	case tokOp:
		return t.is("-") || t.is("+")
	case tokWord:
		return p.word("DEFAULT", "NULL") || !t.reserved && !p.peek(1).is(":") && !p.word("THROW")
	}
	return true
}

// execArg reads one argument: a constant, a variable, DEFAULT, or a bare word
// that stands for a string.
func (p *parser) execArg() ExecArg {
	start := p.pos
	var a ExecArg
	if p.cur().kind == tokVariable && p.peek(1).is("=") {
		a.Name = p.advance().text
		p.pos++
	}
	a.Value = p.execValue()
	if _, ok := p.acceptOneOf("OUTPUT", "OUT"); ok {
		a.Output = true
	}
	a.Span = p.span(start)
	return a
}

func (p *parser) execValue() Expr {
	start := p.pos
	if t := p.cur(); t.isName() {
		p.pos++
		return &Literal{Span: p.span(start), Kind: NStringLiteral, Text: t.text}
	}
	switch t := p.cur(); {
	case p.op("-") || p.op("+"):
		op := p.advance().text
		if _, number := literalKinds[p.cur().kind]; !number {
			p.unexpected()
		}
		x := p.primary()
		return &Unary{Span: p.span(start), Op: op, X: x}
	case t.kind == tokOp, t.reserved && !p.word("NULL", "DEFAULT"):
		p.unexpected()
	}
	return p.primary()
}

// execOptions reads WITH RECOMPILE or WITH RESULT SETS.
func (p *parser) execOptions(s *ExecStmt) {
	if !p.word("WITH") || !p.peek(1).isWord("RECOMPILE") && !p.peek(1).isWord("RESULT") {
		return
	}
	p.pos++
	if p.acceptWord("RECOMPILE") {
		s.Recompile = true
		return
	}
	p.expectWord("RESULT", "SETS")
	if kind, ok := p.acceptOneOf("NONE", "UNDEFINED"); ok {
		s.ResultSets = kind
		return
	}
	s.ResultSets = p.skipParens()
}

func (p *parser) executeAs(start int) Stmt {
	kind, ok := p.acceptOneOf("USER", "LOGIN", "CALLER")
	if !ok {
		p.unexpected()
	}
	s := &ExecuteAsStmt{Kind: kind}
	if p.accept("=") {
		s.Name = p.primary()
	}
	if p.acceptWord("WITH") {
		p.expectWord("NO", "REVERT")
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) revert() Stmt {
	start := p.pos
	p.expectWord("REVERT")
	return &RevertStmt{Span: p.span(start)}
}
