package tsql

// pivots reads PIVOT and UNPIVOT clauses that follow a table source.
func (p *parser) pivots(start int, src TableSource) TableSource {
	for {
		switch {
		case p.acceptWord("PIVOT"):
			src = p.pivot(start, src)
		case p.acceptWord("UNPIVOT"):
			src = p.unpivot(start, src)
		default:
			p.refuseTemporal()
			return src
		}
	}
}

// pivot reads (SUM(x) FOR c IN ([a], [b])) AS alias.
func (p *parser) pivot(start int, src TableSource) TableSource {
	s := &PivotTable{Source: src}
	p.expect("(")
	call, ok := p.primary().(*FuncCall)
	if !ok {
		p.unexpected()
	}
	s.Call = call
	p.expectWord("FOR")
	s.For = p.multiName()
	p.expectWord("IN")
	s.In = p.nameList()
	p.expect(")")
	s.Alias, _ = p.requiredAlias()
	s.Span = p.span(start)
	return s
}

// unpivot reads (value FOR name IN ([a], [b])) AS alias.
func (p *parser) unpivot(start int, src TableSource) TableSource {
	s := &UnpivotTable{Source: src}
	p.expect("(")
	s.Value = p.name()
	p.expectWord("FOR")
	s.For = p.name()
	p.expectWord("IN")
	p.expect("(")
	for {
		s.In = append(s.In, p.multiName())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	p.expect(")")
	s.Alias, _ = p.requiredAlias()
	s.Span = p.span(start)
	return s
}
