package tsql

// create reads CREATE and CREATE OR ALTER.
func (p *parser) create() Stmt {
	start := p.pos
	p.expectWord("CREATE")
	mode := Create
	if p.acceptWord("OR", "ALTER") {
		mode = CreateOrAlter
	}
	if s := p.module(start, mode); s != nil {
		return s
	}
	if mode == CreateOrAlter {
		p.unexpected()
	}
	switch {
	case p.acceptWord("DATABASE"):
		return p.createDatabase(start)
	case p.acceptWord("SCHEMA"):
		p.requireFirst(start, "SCHEMA")
		return p.createSchema(start)
	case p.acceptWord("TABLE"):
		return p.createTable(start)
	case p.word("UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE", "INDEX"):
		return p.createIndex(start)
	case p.acceptWord("TYPE"):
		return p.createType(start)
	case p.acceptWord("SYNONYM"):
		return p.createSynonym(start)
	case p.acceptWord("SEQUENCE"):
		return p.sequence(start, Create)
	case p.word("LOGIN", "USER", "ROLE", "APPLICATION", "SERVER"):
		return p.principal(start, Create)
	}
	if s := p.protection(start, Create); s != nil {
		return s
	}
	return p.other(start, "CREATE "+p.kindWords())
}

// alter reads ALTER.
func (p *parser) alter() Stmt {
	start := p.pos
	p.expectWord("ALTER")
	if s := p.module(start, Alter); s != nil {
		return s
	}
	switch {
	case p.acceptWord("DATABASE"):
		return p.alterDatabase(start)
	case p.acceptWord("SCHEMA"):
		return p.alterSchema(start)
	case p.acceptWord("TABLE"):
		return p.alterTable(start)
	case p.acceptWord("INDEX"):
		return p.alterIndex(start)
	case p.acceptWord("SEQUENCE"):
		return p.sequence(start, Alter)
	case p.acceptWord("AUTHORIZATION"):
		return p.authorization(start)
	case p.words("SERVER", "CONFIGURATION"), p.word("APPLICATION"):
		return p.other(start, "ALTER "+p.kindWords())
	case p.word("LOGIN", "USER", "ROLE", "SERVER"):
		return p.principal(start, Alter)
	}
	if s := p.protection(start, Alter); s != nil {
		return s
	}
	return p.other(start, "ALTER "+p.kindWords())
}

// kindWords is the kind of a statement that is not modelled, for OtherStmt:
// one word, or two where the first alone says little.
func (p *parser) kindWords() string {
	kind := p.upper()
	if kind == "" {
		p.unexpected()
	}
	switch kind {
	case "PARTITION", "FULLTEXT", "EXTERNAL", "SECURITY", "SYMMETRIC", "ASYMMETRIC", "MASTER", "XML", "SPATIAL", "COLUMN", "SERVER",
		"APPLICATION", "EVENT", "MESSAGE", "RESOURCE", "WORKLOAD", "AVAILABILITY", "DATABASE", "PRIMARY":
		if next := p.peek(1); next.kind == tokWord {
			return kind + " " + upperText(next)
		}
	}
	return kind
}

// nameKinds are what DROP removes by name alone.
var nameKinds = []string{
	"TABLE", "VIEW", "FUNCTION", "SCHEMA", "TYPE", "SYNONYM", "SEQUENCE", "LOGIN", "USER", "ROLE",
	"DATABASE", "TRIGGER", "DEFAULT", "RULE", "STATISTICS", "ASSEMBLY", "CERTIFICATE", "CREDENTIAL",
}

// drop reads DROP.
func (p *parser) drop() Stmt {
	start := p.pos
	p.expectWord("DROP")
	if p.word("INDEX") {
		return p.dropIndex(start)
	}
	s := &DropStmt{}
	if kind, ok := p.acceptOneOf(nameKinds...); ok {
		s.Kind = kind
	} else if _, ok := p.acceptOneOf("PROCEDURE", "PROC"); ok {
		s.Kind = "PROCEDURE"
	} else if p.acceptWord("SERVER", "ROLE") {
		s.Kind = "SERVER ROLE"
	} else if p.acceptWord("APPLICATION", "ROLE") {
		s.Kind = "APPLICATION ROLE"
	} else if p.acceptWord("SECURITY", "POLICY") {
		s.Kind = "SECURITY POLICY"
	} else if p.acceptWord("COLUMN", "MASTER", "KEY") {
		s.Kind = "COLUMN MASTER KEY"
	} else if p.acceptWord("COLUMN", "ENCRYPTION", "KEY") {
		s.Kind = "COLUMN ENCRYPTION KEY"
	} else {
		return p.other(start, "DROP "+p.kindWords())
	}
	if s.Kind == "DATABASE" && p.word("SCOPED", "AUDIT", "ENCRYPTION") {
		return p.other(start, "DROP DATABASE "+p.upper())
	}
	s.IfExists = p.acceptWord("IF", "EXISTS")
	for {
		s.Names = append(s.Names, p.multiName())
		if !p.accept(",") {
			break
		}
	}
	if s.Kind == "TRIGGER" && p.acceptWord("ON") && !p.acceptWord("ALL", "SERVER") {
		p.expectWord("DATABASE")
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) createType(start int) Stmt {
	s := &CreateTypeStmt{Name: p.multiName()}
	switch {
	case p.acceptWord("FROM"):
		s.From = p.typeName()
		s.Null = p.nullSpec()
	case p.acceptWord("AS", "TABLE"):
		s.Table = p.tableType()
		if p.acceptWord("WITH") {
			p.optionList()
		}
	default:
		p.unsupported("CREATE TYPE EXTERNAL NAME")
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) createSynonym(start int) Stmt {
	s := &CreateSynonymStmt{Name: p.multiName()}
	p.expectWord("FOR")
	s.For = p.multiName()
	s.Span = p.span(start)
	return s
}

// nullSpec reads NULL or NOT NULL.
func (p *parser) nullSpec() NullSpec {
	switch {
	case p.acceptWord("NOT", "NULL"):
		return NotNull
	case p.acceptWord("NULL"):
		return Nullable
	}
	return NullUnspecified
}
