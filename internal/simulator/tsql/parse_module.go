package tsql

// module reads CREATE or ALTER of a view, procedure, function or trigger; nil
// when the statement is about something else.
func (p *parser) module(start int, mode CreateMode) Stmt {
	read := map[string]func(int, CreateMode) Stmt{
		"VIEW": p.view, "PROCEDURE": p.procedure, "PROC": p.procedure, "FUNCTION": p.function, "TRIGGER": p.trigger,
	}[p.upper()]
	if read == nil {
		return nil
	}
	kind := p.upper()
	if kind == "PROC" {
		kind = "PROCEDURE"
	}
	p.requireFirst(start, kind)
	p.pos++
	return read(start, mode)
}

// requireFirst refuses a statement that must begin its batch and does not.
func (p *parser) requireFirst(start int, kind string) {
	if start != p.first {
		p.fail(111, "'%s %s' must be the first statement in a query batch.", upperText(&p.tokens[start]), kind)
	}
}

func (p *parser) view(start int, mode CreateMode) Stmt {
	s := &CreateViewStmt{Mode: mode, Name: p.multiName()}
	if p.op("(") {
		s.Columns = p.nameList()
	}
	if p.acceptWord("WITH") {
		s.Options, _ = p.moduleOptions()
	}
	p.expectWord("AS")
	s.Query = p.query()
	if p.acceptWord("WITH", "CHECK", "OPTION") {
		s.Options = append(s.Options, "CHECK OPTION")
	}
	s.Span = p.span(start)
	return s
}

// moduleOptions reads the list after WITH: words, and EXECUTE AS.
func (p *parser) moduleOptions() (options []string, executeAs string) {
	for {
		switch {
		case p.acceptWord("EXECUTE", "AS"), p.acceptWord("EXEC", "AS"):
			if p.cur().kind == tokString || p.cur().kind == tokNString {
				executeAs = p.advance().text
			} else {
				executeAs = p.upper()
				p.name()
			}
		case p.words("RETURNS", "NULL", "ON", "NULL", "INPUT"), p.words("CALLED", "ON", "NULL", "INPUT"):
			options = append(options, p.upper()+" ON NULL INPUT")
			for !p.acceptWord("INPUT") {
				p.pos++
			}
		case p.acceptWord("INLINE"):
			p.expect("=")
			p.onOff()
		case p.cur().kind == tokWord && !p.cur().reserved:
			options = append(options, p.upper())
			p.pos++
		default:
			p.unexpected()
		}
		if !p.accept(",") {
			return options, executeAs
		}
	}
}

func (p *parser) procedure(start int, mode CreateMode) Stmt {
	s := &CreateProcedureStmt{Mode: mode, Name: p.multiName()}
	if p.op(";") && p.peek(1).kind == tokInt { // numbered procedures
		p.unsupported("CREATE PROCEDURE name;number")
	}
	if p.cur().kind == tokVariable {
		s.Params = p.params()
	} else if p.accept("(") {
		s.Params = p.params()
		p.expect(")")
	}
	if p.acceptWord("WITH") {
		s.Options, s.ExecuteAs = p.moduleOptions()
	}
	p.acceptWord("FOR", "REPLICATION")
	p.expectWord("AS")
	if p.word("EXTERNAL") {
		p.unsupported("EXTERNAL NAME")
	}
	s.Body = p.toEnd()
	s.Span = p.span(start)
	return s
}

// toEnd reads the statements of a module's body, which ends with the batch.
func (p *parser) toEnd() []Stmt {
	var stmts []Stmt
	for p.semicolons(); p.cur().kind != tokEOF; p.semicolons() {
		stmts = append(stmts, p.statement())
	}
	return stmts
}

func (p *parser) params() []Param {
	params := []Param{p.param()}
	for p.accept(",") {
		params = append(params, p.param())
	}
	return params
}

func (p *parser) param() Param {
	start := p.pos
	if p.cur().kind != tokVariable {
		p.unexpected()
	}
	a := Param{Name: p.advance().text}
	p.acceptWord("AS")
	a.Type = p.typeName()
	a.Varying = p.acceptWord("VARYING")
	p.nullSpec()
	if p.accept("=") {
		a.Default = p.execValue()
	}
	if _, ok := p.acceptOneOf("OUTPUT", "OUT"); ok {
		a.Output = true
	}
	a.ReadOnly = p.acceptWord("READONLY")
	a.Span = p.span(start)
	return a
}

func (p *parser) function(start int, mode CreateMode) Stmt {
	s := &CreateFunctionStmt{Mode: mode, Name: p.multiName()}
	p.expect("(")
	if !p.op(")") {
		s.Params = p.params()
	}
	p.expect(")")
	p.expectWord("RETURNS")
	switch {
	case p.cur().kind == tokVariable:
		s.ReturnVariable = p.advance().text
		p.expectWord("TABLE")
		s.ReturnTable = p.tableType()
		p.functionBody(s)
	case p.acceptWord("TABLE"):
		p.inlineFunction(s)
	default:
		s.Returns = p.typeName()
		p.functionBody(s)
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) functionHead(s *CreateFunctionStmt) {
	if p.acceptWord("WITH") {
		s.Options, s.ExecuteAs = p.moduleOptions()
	}
	p.acceptWord("AS")
	if p.word("EXTERNAL") {
		p.unsupported("EXTERNAL NAME")
	}
}

// functionBody reads BEGIN .. END of a scalar or multi-statement function.
func (p *parser) functionBody(s *CreateFunctionStmt) {
	p.functionHead(s)
	p.expectWord("BEGIN")
	s.Body = p.untilEnd()
	p.expectWord("END")
}

// inlineFunction reads RETURN [(]query[)].
func (p *parser) inlineFunction(s *CreateFunctionStmt) {
	p.functionHead(s)
	p.expectWord("RETURN")
	if p.op("(") && p.cur().match > 0 && p.endsFunction(int(p.cur().match)+1) {
		p.pos++
		s.Query = p.query()
		p.expect(")")
		return
	}
	s.Query = p.query()
}

// endsFunction reports whether the token at an index ends an inline function,
// so that the parenthesis before it encloses the whole query.
func (p *parser) endsFunction(i int) bool {
	return p.tokens[i].kind == tokEOF || p.tokens[i].is(";")
}

func (p *parser) trigger(start int, mode CreateMode) Stmt {
	s := &CreateTriggerStmt{Mode: mode, Name: p.multiName()}
	p.expectWord("ON")
	switch {
	case p.acceptWord("ALL", "SERVER"):
		s.Scope = "ALL SERVER"
	case p.acceptWord("DATABASE"):
		s.Scope = "DATABASE"
	default:
		s.Table = p.multiName()
	}
	if p.acceptWord("WITH") {
		p.moduleOptions()
	}
	switch {
	case p.acceptWord("INSTEAD", "OF"):
		s.InsteadOf = true
	case p.acceptWord("FOR"), p.acceptWord("AFTER"):
	default:
		p.unexpected()
	}
	for {
		if p.cur().kind != tokWord {
			p.unexpected()
		}
		s.Events = append(s.Events, p.upper())
		p.pos++
		if !p.accept(",") {
			break
		}
	}
	p.acceptWord("WITH", "APPEND")
	p.acceptWord("NOT", "FOR", "REPLICATION")
	p.expectWord("AS")
	s.Body = p.toEnd()
	s.Span = p.span(start)
	return s
}

func (p *parser) enableTriggerStmt() Stmt {
	start := p.pos
	verb, _ := p.acceptOneOf("ENABLE", "DISABLE")
	p.expectWord("TRIGGER")
	s := &EnableTriggerStmt{EnableTrigger: EnableTrigger{Enable: verb == "ENABLE"}}
	if p.acceptWord("ALL") {
		s.All = true
	} else {
		for {
			s.Names = append(s.Names, p.multiName().String())
			if !p.accept(",") {
				break
			}
		}
	}
	p.expectWord("ON")
	if _, ok := p.acceptOneOf("DATABASE"); !ok && !p.acceptWord("ALL", "SERVER") {
		s.On = p.multiName()
	}
	s.Span = p.span(start)
	return s
}
