package tsql

// createTable reads CREATE TABLE after its keywords.
func (p *parser) createTable(start int) Stmt {
	s := &CreateTableStmt{Name: p.multiName()}
	if p.word("AS") {
		p.unsupported("CREATE TABLE AS")
	}
	t := p.tableType()
	s.Columns, s.Constraints, s.Indexes = t.Columns, t.Constraints, t.Indexes
	s.FileGroup = p.storage()
	if p.acceptWord("WITH") {
		s.Options = p.optionList()
	}
	s.Span = p.span(start)
	return s
}

// tableType reads the elements of a table in parentheses.
func (p *parser) tableType() *TableType {
	p.expect("(")
	t := &TableType{}
	for {
		switch {
		case p.word("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
			t.Constraints = append(t.Constraints, p.tableConstraint())
		case p.word("INDEX"):
			t.Indexes = append(t.Indexes, *p.inlineIndex())
		case p.words("PERIOD", "FOR", "SYSTEM_TIME"):
			p.unsupported("PERIOD FOR SYSTEM_TIME")
		default:
			t.Columns = append(t.Columns, p.columnDef())
		}
		// A comma before the closing parenthesis is allowed.
		if !p.accept(",") || p.op(")") {
			p.expect(")")
			return t
		}
	}
}

// storage passes ON filegroup|scheme(column), TEXTIMAGE_ON and FILESTREAM_ON
// and returns the filegroup.
func (p *parser) storage() string {
	group := ""
	for {
		switch {
		case p.acceptWord("ON"):
			group = p.groupName()
			if p.op("(") {
				p.skipParens()
			}
		case p.acceptWord("TEXTIMAGE_ON"), p.acceptWord("FILESTREAM_ON"):
			p.groupName()
		default:
			return group
		}
	}
}

// groupName reads a filegroup: a name or "default", quoted or not.
func (p *parser) groupName() string {
	if p.word("PRIMARY", "DEFAULT") || p.cur().kind == tokString {
		return p.advance().text
	}
	return p.name()
}

// columnDef reads one column.
func (p *parser) columnDef() ColumnDef {
	start := p.pos
	c := ColumnDef{Name: p.name()}
	switch {
	case p.acceptWord("AS"):
		p.computed(&c)
	case p.op(",") || p.op(")"):
		// timestamp alone names a column of its own type.
		if !p.tokens[start].isWord("timestamp") {
			p.unexpected()
		}
		c.Type = TypeName{Name: Name{Span: p.span(start), Parts: []string{"timestamp"}}}
	default:
		c.Type = p.typeName()
	}
	for p.columnOption(&c) {
	}
	c.Span = p.span(start)
	return c
}

func (p *parser) computed(c *ColumnDef) {
	first := p.pos
	c.Computed = p.scalar()
	c.ComputedText = p.source(first)
	c.Persisted = p.acceptWord("PERSISTED")
}

// columnOption reads one property or constraint of a column.
func (p *parser) columnOption(c *ColumnDef) bool {
	switch {
	case p.acceptWord("COLLATE"):
		c.Collation = p.collation()
	case p.word("NULL") || p.words("NOT", "NULL"):
		c.Null = p.nullSpec()
	case p.acceptWord("NOT", "FOR", "REPLICATION"):
		if c.Identity != nil {
			c.Identity.NotForRepl = true
		}
	case p.acceptWord("IDENTITY"):
		c.Identity = p.identity()
	case p.acceptWord("SPARSE"):
		c.Sparse = true
	case p.acceptWord("PERSISTED"):
		c.Persisted = true
	case p.acceptWord("ROWGUIDCOL"):
		c.RowGUIDCol = true
	case p.acceptWord("FILESTREAM"):
		c.FileStream = true
	case p.acceptWord("HIDDEN"):
		c.Hidden = true
	case p.acceptWord("COLUMN_SET", "FOR", "ALL_SPARSE_COLUMNS"):
		c.ColumnSet = true
	case p.acceptWord("GENERATED", "ALWAYS", "AS"):
		c.Generated = p.generated()
	case p.acceptWord("MASKED", "WITH"):
		c.Masked = p.masked()
	case p.acceptWord("ENCRYPTED", "WITH"):
		c.Encrypted = p.skipParens()
	case p.word("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "REFERENCES", "CHECK", "DEFAULT"):
		c.Constraints = append(c.Constraints, p.columnConstraint())
	case p.word("INDEX"):
		c.Index = p.inlineIndex()
		if len(c.Index.Columns) == 0 {
			c.Index.Columns = []IndexColumn{{Name: c.Name}}
		}
	default:
		return false
	}
	return true
}

func (p *parser) identity() *Identity {
	i := &Identity{}
	if p.accept("(") {
		i.Seed = p.unary()
		p.expect(",")
		i.Increment = p.unary()
		p.expect(")")
	}
	return i
}

func (p *parser) generated() string {
	what, ok := p.acceptOneOf("ROW", "TRANSACTION_ID", "SEQUENCE_NUMBER")
	if !ok {
		p.unexpected()
	}
	end, ok := p.acceptOneOf("START", "END")
	if !ok {
		p.unexpected()
	}
	return what + " " + end
}

func (p *parser) masked() string {
	p.expect("(")
	p.expectWord("FUNCTION")
	p.expect("=")
	function := p.stringText()
	p.expect(")")
	return function
}

// columnConstraint reads a constraint that belongs to its column.
func (p *parser) columnConstraint() Constraint {
	start := p.pos
	c := Constraint{Name: p.constraintName()}
	switch {
	case p.acceptWord("DEFAULT"):
		p.defaultBody(&c)
	case p.acceptWord("PRIMARY", "KEY"), p.word("UNIQUE"):
		p.keyBody(&c)
	case p.acceptWord("CHECK"):
		p.checkBody(&c)
	default:
		p.acceptWord("FOREIGN", "KEY")
		p.referencesBody(&c)
	}
	c.Span = p.span(start)
	return c
}

func (p *parser) constraintName() string {
	if p.acceptWord("CONSTRAINT") {
		return p.name()
	}
	return ""
}

// tableConstraint reads a constraint that stands beside the columns.
func (p *parser) tableConstraint() Constraint {
	start := p.pos
	c := Constraint{Name: p.constraintName()}
	switch {
	case p.acceptWord("PRIMARY", "KEY"), p.word("UNIQUE"):
		p.keyBody(&c)
		if len(c.Columns) == 0 {
			p.unexpected()
		}
	case p.acceptWord("CHECK"):
		p.checkBody(&c)
	case p.acceptWord("DEFAULT"): // ALTER TABLE ADD only
		p.defaultBody(&c)
		p.expectWord("FOR")
		c.ForColumn = p.name()
		c.WithValues = p.acceptWord("WITH", "VALUES") || c.WithValues
	case p.acceptWord("FOREIGN", "KEY"):
		c.Columns = p.indexColumns()
		p.referencesBody(&c)
	default:
		p.unexpected()
	}
	c.Span = p.span(start)
	return c
}

func (p *parser) defaultBody(c *Constraint) {
	c.Kind = Default
	first := p.pos
	c.Expr = p.scalar()
	c.ExprText = p.source(first)
	c.WithValues = p.acceptWord("WITH", "VALUES")
}

// keyBody reads PRIMARY KEY (its words passed) or UNIQUE.
func (p *parser) keyBody(c *Constraint) {
	c.Kind = PrimaryKey
	if p.acceptWord("UNIQUE") {
		c.Kind = UniqueKey
	}
	c.Clustered = p.acceptWord("CLUSTERED")
	c.NonClust = !c.Clustered && p.acceptWord("NONCLUSTERED")
	if p.word("HASH") {
		p.unsupported("HASH")
	}
	if p.op("(") {
		c.Columns = p.indexColumns()
	}
	if p.acceptWord("WITH") {
		if p.op("(") {
			c.Options = p.optionList()
		} else {
			c.Options = p.bareOptions()
		}
	}
	if p.word("ON") {
		p.storage()
	}
	if p.acceptWord("NOT", "ENFORCED") {
		c.NotEnforced = true
	}
}

func (p *parser) checkBody(c *Constraint) {
	c.Kind = Check
	c.NotForRepl = p.acceptWord("NOT", "FOR", "REPLICATION")
	first := p.pos
	p.expect("(")
	c.Expr = p.condition()
	p.expect(")")
	c.ExprText = p.source(first)
}

func (p *parser) referencesBody(c *Constraint) {
	c.Kind = ForeignKey
	p.expectWord("REFERENCES")
	c.References = p.multiName()
	if p.op("(") {
		c.RefColumns = p.nameList()
	}
	for {
		switch {
		case p.acceptWord("ON", "DELETE"):
			c.OnDelete = p.referentialAction()
		case p.acceptWord("ON", "UPDATE"):
			c.OnUpdate = p.referentialAction()
		case p.acceptWord("NOT", "FOR", "REPLICATION"):
			c.NotForRepl = true
		default:
			return
		}
	}
}

func (p *parser) referentialAction() string {
	switch {
	case p.acceptWord("NO", "ACTION"):
		return "NO ACTION"
	case p.acceptWord("CASCADE"):
		return "CASCADE"
	case p.acceptWord("SET", "NULL"):
		return "SET NULL"
	case p.acceptWord("SET", "DEFAULT"):
		return "SET DEFAULT"
	}
	p.unexpected()
	return ""
}
