package tsql

// set reads SET of a variable or of a session option.
func (p *parser) set() Stmt {
	start := p.pos
	p.expectWord("SET")
	switch {
	case p.cur().kind == tokVariable:
		return p.setVariable(start)
	case p.acceptWord("TRANSACTION", "ISOLATION", "LEVEL"):
		s := &SetIsolationStmt{Level: p.isolationLevel()}
		s.Span = p.span(start)
		return s
	case p.acceptWord("IDENTITY_INSERT"):
		s := &SetIdentityInsertStmt{Table: p.multiName()}
		s.On = p.onOff()
		s.Span = p.span(start)
		return s
	case p.acceptWord("STATISTICS"):
		name := "STATISTICS " + p.upper()
		p.advance()
		s := &SetOptionStmt{Names: []string{name}, On: p.onOff()}
		s.Span = p.span(start)
		return s
	case p.cur().kind != tokWord:
		p.unexpected()
	}
	if p.peek(1).is(",") || p.peek(1).isWord("ON") || p.peek(1).isWord("OFF") {
		return p.setOptions(start)
	}
	return p.setValue(start)
}

func (p *parser) setVariable(start int) Stmt {
	s := &SetVariableStmt{Name: p.advance().text}
	if p.op(".") {
		p.pos++
		s.Method = &MethodCall{X: &Variable{Span: p.span(start), Name: s.Name}, Name: p.name(), Call: true}
		p.expect("(")
		s.Method.Args = p.callArgs()
		s.Method.Span = p.span(start)
	} else {
		s.Op = p.expectAssign()
		if p.word("CURSOR") {
			return p.setCursor(start, s.Name)
		}
		s.Value = p.scalar()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) isolationLevel() IsolationLevel {
	switch {
	case p.acceptWord("READ", "UNCOMMITTED"):
		return ReadUncommitted
	case p.acceptWord("READ", "COMMITTED"):
		return ReadCommitted
	case p.acceptWord("REPEATABLE", "READ"):
		return RepeatableRead
	case p.acceptWord("SERIALIZABLE"):
		return Serializable
	case p.acceptWord("SNAPSHOT"):
		return Snapshot
	}
	p.unexpected()
	return 0
}

func (p *parser) onOff() bool {
	word, ok := p.acceptOneOf("ON", "OFF")
	if !ok {
		p.unexpected()
	}
	return word == "ON"
}

func (p *parser) setOptions(start int) Stmt {
	s := &SetOptionStmt{}
	for {
		if p.cur().kind != tokWord {
			p.unexpected()
		}
		s.Names = append(s.Names, p.upper())
		p.pos++
		if !p.accept(",") {
			break
		}
	}
	s.On = p.onOff()
	s.Span = p.span(start)
	return s
}

// setValue reads SET LOCK_TIMEOUT 10 and its kin; a bare word is a string.
func (p *parser) setValue(start int) Stmt {
	s := &SetValueStmt{Name: p.upper()}
	p.pos++
	first := p.pos
	if t := p.cur(); t.isName() {
		p.pos++
		s.Value = &Literal{Span: p.span(first), Kind: StringLiteral, Text: t.text}
	} else {
		s.Value = p.unary()
	}
	s.Span = p.span(start)
	return s
}
