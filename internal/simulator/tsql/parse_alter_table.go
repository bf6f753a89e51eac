package tsql

// alterTable reads ALTER TABLE after its keywords.
func (p *parser) alterTable(start int) Stmt {
	s := &AlterTableStmt{Table: p.multiName()}
	check, checked := "", false
	if p.acceptWord("WITH") {
		check, checked = p.acceptOneOf("CHECK", "NOCHECK")
		if !checked {
			p.unexpected()
		}
	}
	switch {
	case p.acceptWord("ADD"):
		s.NoCheck = check == "NOCHECK"
		p.alterAdd(s)
	case p.word("CHECK", "NOCHECK"):
		s.EnableCheck = p.enableConstraint()
	case checked:
		p.unexpected()
	case p.acceptWord("DROP"):
		s.Drop = p.alterDrop()
	case p.acceptWord("ALTER", "COLUMN"):
		s.AlterColumn = p.alterColumn()
	case p.word("ENABLE", "DISABLE"):
		p.alterEnable(s)
	case p.acceptWord("SWITCH"):
		s.Switch = p.switchPartition()
	case p.acceptWord("REBUILD"):
		s.Rebuild = true
		p.rebuildOptions()
	case p.acceptWord("SET"):
		s.SetOptions = p.optionList()
	default:
		p.unexpected()
	}
	s.Span = p.span(start)
	return s
}

// alterAdd reads the columns and constraints of ADD. COLUMN is no keyword of
// ADD in Transact-SQL.
func (p *parser) alterAdd(s *AlterTableStmt) {
	for {
		if p.word("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "DEFAULT") {
			s.AddConstraints = append(s.AddConstraints, p.tableConstraint())
		} else if p.words("PERIOD", "FOR", "SYSTEM_TIME") || p.word("INDEX") {
			p.unsupported("ALTER TABLE ADD " + p.upper())
		} else {
			s.AddColumns = append(s.AddColumns, p.columnDef())
		}
		if !p.accept(",") {
			return
		}
	}
}

// alterDrop reads the items of DROP: COLUMN and CONSTRAINT each govern the
// names that follow until the other comes.
func (p *parser) alterDrop() []AlterDrop {
	if p.words("PERIOD", "FOR") {
		p.unsupported("DROP PERIOD FOR SYSTEM_TIME")
	}
	var items []AlterDrop
	column, ifExists := false, false
	for {
		if kind, ok := p.acceptOneOf("COLUMN", "CONSTRAINT"); ok {
			column = kind == "COLUMN"
			ifExists = p.acceptWord("IF", "EXISTS")
		}
		items = append(items, AlterDrop{Name: p.name(), Column: column, IfExists: ifExists})
		if p.word("WITH") && p.peek(1).is("(") {
			p.pos++
			p.optionList()
		}
		if !p.accept(",") {
			return items
		}
	}
}

func (p *parser) alterColumn() *AlterColumn {
	start := p.pos
	a := &AlterColumn{Name: p.name()}
	switch {
	case p.acceptWord("ADD"):
		a.Add, a.Masked = p.columnProperty()
	case p.acceptWord("DROP"):
		a.Drop, _ = p.columnProperty()
	default:
		a.Type = p.typeName()
		p.alterColumnOptions(a)
	}
	a.Span = p.span(start)
	return a
}

func (p *parser) alterColumnOptions(a *AlterColumn) {
	for {
		switch {
		case p.acceptWord("COLLATE"):
			a.Collation = p.collation()
		case p.word("NULL") || p.words("NOT", "NULL"):
			a.Null = p.nullSpec()
		case p.acceptWord("SPARSE"):
			a.Sparse = true
		case p.word("WITH") && p.peek(1).is("("):
			p.pos++
			p.optionList()
		default:
			return
		}
	}
}

// columnProperty reads what ALTER COLUMN ADD|DROP names, and the function of
// MASKED WITH.
func (p *parser) columnProperty() (property, mask string) {
	if p.acceptWord("NOT", "FOR", "REPLICATION") {
		return "NOT FOR REPLICATION", ""
	}
	property, ok := p.acceptOneOf("ROWGUIDCOL", "PERSISTED", "SPARSE", "HIDDEN", "MASKED")
	if !ok {
		p.unexpected()
	}
	if property == "MASKED" && p.acceptWord("WITH") {
		mask = p.masked()
	}
	return property, mask
}

func (p *parser) enableConstraint() *EnableConstraint {
	word, _ := p.acceptOneOf("CHECK", "NOCHECK")
	p.expectWord("CONSTRAINT")
	e := &EnableConstraint{Enable: word == "CHECK"}
	if p.acceptWord("ALL") {
		e.All = true
		return e
	}
	e.Names = p.bareNames()
	return e
}

func (p *parser) bareNames() []string {
	names := []string{p.name()}
	for p.accept(",") {
		names = append(names, p.name())
	}
	return names
}

func (p *parser) alterEnable(s *AlterTableStmt) {
	verb, _ := p.acceptOneOf("ENABLE", "DISABLE")
	if p.acceptWord("CHANGE_TRACKING") {
		s.ChangeTracking = verb
		if p.word("WITH") && p.peek(1).is("(") {
			p.pos++
			p.optionList()
		}
		return
	}
	p.expectWord("TRIGGER")
	s.Trigger = &EnableTrigger{Enable: verb == "ENABLE"}
	if p.acceptWord("ALL") {
		s.Trigger.All = true
		return
	}
	s.Trigger.Names = p.bareNames()
}

func (p *parser) switchPartition() *SwitchPartition {
	s := &SwitchPartition{}
	if p.acceptWord("PARTITION") {
		s.From = p.scalar()
	}
	p.expectWord("TO")
	s.Target = p.multiName()
	if p.acceptWord("PARTITION") {
		s.To = p.scalar()
	}
	if p.word("WITH") && p.peek(1).is("(") {
		p.pos++
		p.skipParens()
	}
	return s
}

func (p *parser) rebuildOptions() {
	if p.acceptWord("PARTITION") {
		p.expect("=")
		p.advance()
	}
	if p.word("WITH") && p.peek(1).is("(") {
		p.pos++
		p.optionList()
	}
}
