package tsql

// forClause reads FOR XML, FOR JSON or FOR BROWSE (MS docs: FOR clause).
func (p *parser) forClause() *ForClause {
	start := p.pos
	p.expectWord("FOR")
	f := &ForClause{Kind: p.upper()}
	p.pos++
	if f.Kind == "BROWSE" {
		f.Span = p.span(start)
		return f
	}
	mode, ok := p.acceptOneOf("PATH", "AUTO", "RAW", "EXPLICIT")
	if !ok || f.Kind == "JSON" && mode != "PATH" && mode != "AUTO" {
		p.unexpected()
	}
	f.Mode = mode
	if f.Kind == "XML" && mode != "AUTO" && p.op("(") {
		f.Element, f.HasElement = p.parenString(), true
	}
	for p.accept(",") {
		f.Options = append(f.Options, p.forOption())
	}
	f.Span = p.span(start)
	return f
}

func (p *parser) parenString() string {
	p.expect("(")
	text := p.stringText()
	p.expect(")")
	return text
}

// forOption reads ROOT('x'), TYPE, ELEMENTS XSINIL, BINARY BASE64 and the like.
func (p *parser) forOption() ForOption {
	if p.cur().kind != tokWord {
		p.unexpected()
	}
	o := ForOption{Name: p.upper()}
	p.pos++
	if second, ok := p.acceptOneOf("XSINIL", "ABSENT", "BASE64"); ok {
		o.Name += " " + second
	}
	if p.op("(") {
		o.Value, o.HasValue = p.parenString(), true
	}
	return o
}
