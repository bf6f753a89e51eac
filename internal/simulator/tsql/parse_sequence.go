package tsql

// sequence reads CREATE or ALTER SEQUENCE after the word SEQUENCE. The options
// come in any order.
func (p *parser) sequence(start int, mode CreateMode) Stmt {
	s := &SequenceStmt{Mode: mode, Name: p.multiName()}
	if mode == Create && p.acceptWord("AS") {
		s.Type = p.typeName()
	}
	for p.sequenceOption(s) {
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) sequenceOption(s *SequenceStmt) bool {
	switch {
	case p.acceptWord("START", "WITH"):
		s.Start = p.unary()
	case p.acceptWord("RESTART"):
		s.Restart = true
		if p.acceptWord("WITH") {
			s.Start = p.unary()
		}
	case p.acceptWord("INCREMENT", "BY"):
		s.Increment = p.unary()
	case p.acceptWord("MINVALUE"):
		s.Min = p.unary()
	case p.acceptWord("MAXVALUE"):
		s.Max = p.unary()
	case p.acceptWord("NO", "MINVALUE"):
		s.NoMin = true
	case p.acceptWord("NO", "MAXVALUE"):
		s.NoMax = true
	case p.acceptWord("CYCLE"):
		s.Cycle = true
	case p.acceptWord("NO", "CYCLE"):
		s.NoCycle = true
	case p.acceptWord("CACHE"):
		s.Cache = true
		if p.cur().kind == tokInt {
			p.pos++
		}
	case p.acceptWord("NO", "CACHE"):
		s.NoCache = true
	default:
		return false
	}
	return true
}

// nextValue reads NEXT VALUE FOR after its words.
func (p *parser) nextValue(start int) Expr {
	x := &NextValue{Sequence: p.multiName()}
	if p.word("OVER") {
		x.Over = p.over()
	}
	x.Span = p.span(start)
	return x
}
