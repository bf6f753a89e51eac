package tsql

// protection reads CREATE or ALTER of what protects rows and columns: security
// policies and the keys of Always Encrypted; nil when another kind comes.
func (p *parser) protection(start int, mode CreateMode) Stmt {
	switch {
	case p.acceptWord("SECURITY", "POLICY"):
		return p.securityPolicy(start, mode)
	case mode == Create && p.acceptWord("COLUMN", "MASTER", "KEY"):
		return p.columnMasterKey(start)
	case p.acceptWord("COLUMN", "ENCRYPTION", "KEY"):
		return p.columnEncryptionKey(start, mode)
	}
	return nil
}

func (p *parser) securityPolicy(start int, mode CreateMode) Stmt {
	s := &SecurityPolicyStmt{Mode: mode, Name: p.multiName()}
	for p.word("ADD") || mode == Alter && p.word("ALTER", "DROP") {
		s.Predicates = append(s.Predicates, p.predicateChange())
		p.accept(",")
	}
	if p.acceptWord("WITH") {
		p.expect("(")
		for {
			p.policyOption(s)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	s.NotForReplication = p.acceptWord("NOT", "FOR", "REPLICATION")
	s.Span = p.span(start)
	return s
}

func (p *parser) policyOption(s *SecurityPolicyStmt) {
	name, ok := p.acceptOneOf("STATE", "SCHEMABINDING")
	if !ok {
		p.unexpected()
	}
	p.expect("=")
	value, ok := p.acceptOneOf("ON", "OFF")
	if !ok {
		p.unexpected()
	}
	if name == "STATE" {
		s.State = value
	} else {
		s.SchemaBinding = value
	}
}

func (p *parser) predicateChange() PredicateChange {
	c := PredicateChange{Verb: p.upper()}
	p.pos++
	if kind, ok := p.acceptOneOf("FILTER", "BLOCK"); ok {
		c.Block = kind == "BLOCK"
	}
	p.expectWord("PREDICATE")
	if c.Verb != "DROP" {
		from := p.pos
		c.Call = p.scalar()
		c.Text = p.source(from)
	}
	p.expectWord("ON")
	c.On = p.multiName()
	if when, ok := p.acceptOneOf("AFTER", "BEFORE"); ok {
		what, ok := p.acceptOneOf("INSERT", "UPDATE", "DELETE")
		if !ok {
			p.unexpected()
		}
		c.Operation = when + " " + what
	}
	return c
}

func (p *parser) columnMasterKey(start int) Stmt {
	s := &ColumnMasterKeyStmt{Name: p.name()}
	p.expectWord("WITH")
	p.expect("(")
	for {
		switch {
		case p.acceptWord("KEY_STORE_PROVIDER_NAME"):
			p.expect("=")
			s.Provider = p.stringText()
		case p.acceptWord("KEY_PATH"):
			p.expect("=")
			s.Path = p.stringText()
		default:
			p.expectWord("ENCLAVE_COMPUTATIONS")
			p.expect("(")
			p.expectWord("SIGNATURE")
			p.expect("=")
			s.Signature = p.binary()
			p.expect(")")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	s.Span = p.span(start)
	return s
}

func (p *parser) columnEncryptionKey(start int, mode CreateMode) Stmt {
	s := &ColumnEncryptionKeyStmt{Mode: mode, Name: p.name()}
	if mode == Create {
		p.expectWord("WITH", "VALUES")
	} else {
		s.Drop = p.acceptWord("DROP")
		if !s.Drop {
			p.expectWord("ADD")
		}
		p.expectWord("VALUE")
	}
	for {
		s.Values = append(s.Values, p.columnKeyValue())
		if mode == Alter || !p.accept(",") {
			break
		}
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) columnKeyValue() ColumnKeyValue {
	var v ColumnKeyValue
	p.expect("(")
	for {
		switch {
		case p.acceptWord("COLUMN_MASTER_KEY"):
			p.expect("=")
			v.MasterKey = p.name()
		case p.acceptWord("ALGORITHM"):
			p.expect("=")
			v.Algorithm = p.stringText()
		default:
			p.expectWord("ENCRYPTED_VALUE")
			p.expect("=")
			v.Encrypted = p.binary()
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return v
}

// binary reads a binary constant.
func (p *parser) binary() []byte {
	e, ok := p.primary().(*Literal)
	if !ok || e.Kind != BinaryLiteral {
		p.unexpected()
	}
	return []byte(e.Text)
}
