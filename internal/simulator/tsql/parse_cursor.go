package tsql

// declareCursor reads DECLARE name CURSOR in the standard's and in the
// Transact-SQL syntax.
func (p *parser) declareCursor(start int) Stmt {
	s := &DeclareCursorStmt{Name: p.name()}
	p.cursorOptions(s)
	p.expectWord("CURSOR")
	return p.cursorQuery(start, s)
}

// setCursor reads SET @name = CURSOR .. from CURSOR on.
func (p *parser) setCursor(start int, name string) Stmt {
	p.expectWord("CURSOR")
	return p.cursorQuery(start, &DeclareCursorStmt{Name: name})
}

func (p *parser) cursorOptions(s *DeclareCursorStmt) {
	for {
		o, ok := p.acceptOneOf("INSENSITIVE", "SCROLL", "LOCAL", "GLOBAL", "FORWARD_ONLY", "STATIC", "KEYSET", "DYNAMIC",
			"FAST_FORWARD", "READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC", "TYPE_WARNING")
		if !ok {
			return
		}
		s.Options = append(s.Options, o)
	}
}

// cursorQuery reads the options after CURSOR and the query.
func (p *parser) cursorQuery(start int, s *DeclareCursorStmt) Stmt {
	p.cursorOptions(s)
	p.expectWord("FOR")
	s.Query = p.query()
	if p.acceptWord("FOR", "READ", "ONLY") {
		s.Options = append(s.Options, "READ_ONLY")
	} else if p.acceptWord("FOR", "UPDATE") && p.acceptWord("OF") {
		for p.name(); p.accept(","); p.name() {
		}
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) cursorName() string {
	if p.cur().kind == tokVariable {
		return p.advance().text
	}
	return p.name()
}

func (p *parser) cursorStmt() Stmt {
	start := p.pos
	s := &CursorStmt{Verb: p.upper()}
	p.pos++
	if p.word("SYMMETRIC", "MASTER") {
		return p.other(start, s.Verb+" "+p.upper())
	}
	p.acceptWord("GLOBAL")
	s.Name = p.cursorName()
	s.Span = p.span(start)
	return s
}

func (p *parser) fetch() Stmt {
	start := p.pos
	p.expectWord("FETCH")
	s := &FetchStmt{Direction: "NEXT"}
	if d, ok := p.acceptOneOf("NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"); ok {
		s.Direction = d
		if d == "ABSOLUTE" || d == "RELATIVE" {
			s.N = p.unary()
		}
	}
	p.acceptWord("FROM")
	p.acceptWord("GLOBAL")
	s.Cursor = p.cursorName()
	if p.acceptWord("INTO") {
		for {
			if p.cur().kind != tokVariable {
				p.unexpected()
			}
			s.Into = append(s.Into, p.advance().text)
			if !p.accept(",") {
				break
			}
		}
	}
	s.Span = p.span(start)
	return s
}
