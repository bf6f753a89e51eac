package tsql

// createIndex reads CREATE [UNIQUE] [CLUSTERED] INDEX.
func (p *parser) createIndex(start int) Stmt {
	s := &CreateIndexStmt{Unique: p.acceptWord("UNIQUE")}
	s.Clustered = p.acceptWord("CLUSTERED")
	if !s.Clustered {
		p.acceptWord("NONCLUSTERED")
	}
	s.ColumnStore = p.acceptWord("COLUMNSTORE")
	p.expectWord("INDEX")
	s.Name = p.name()
	p.expectWord("ON")
	s.Table = p.multiName()
	if p.op("(") {
		s.Columns = p.indexColumns()
	} else if !s.ColumnStore || !s.Clustered {
		p.unexpected()
	}
	p.indexTail(s)
	s.Span = p.span(start)
	return s
}

// indexTail reads what follows the key columns.
func (p *parser) indexTail(s *CreateIndexStmt) {
	if p.acceptWord("INCLUDE") {
		s.Include = p.nameList()
	}
	if p.acceptWord("WHERE") {
		first := p.pos
		s.Where = p.condition()
		s.WhereText = p.source(first)
	}
	if p.acceptWord("WITH") {
		if p.op("(") {
			s.Options = p.optionList()
		} else {
			s.Options = p.bareOptions()
		}
	}
	p.storage()
}

// inlineIndex reads an INDEX clause inside a table definition.
func (p *parser) inlineIndex() *CreateIndexStmt {
	start := p.pos
	p.expectWord("INDEX")
	s := &CreateIndexStmt{Name: p.name()}
	s.Unique = p.acceptWord("UNIQUE")
	s.Clustered = p.acceptWord("CLUSTERED")
	if !s.Clustered {
		p.acceptWord("NONCLUSTERED")
	}
	s.ColumnStore = p.acceptWord("COLUMNSTORE")
	if p.word("HASH") {
		p.unsupported("HASH")
	}
	if p.op("(") {
		s.Columns = p.indexColumns()
	}
	p.indexTail(s)
	s.Span = p.span(start)
	return s
}

// indexColumns reads (a ASC, b DESC, ..).
func (p *parser) indexColumns() []IndexColumn {
	p.expect("(")
	var columns []IndexColumn
	for {
		c := IndexColumn{Name: p.name()}
		if !p.acceptWord("ASC") {
			c.Desc = p.acceptWord("DESC")
		}
		columns = append(columns, c)
		if !p.accept(",") {
			p.expect(")")
			return columns
		}
	}
}

func (p *parser) alterIndex(start int) Stmt {
	s := &AlterIndexStmt{}
	if p.acceptWord("ALL") {
		s.All = true
	} else {
		s.Name = p.name()
	}
	p.expectWord("ON")
	s.Table = p.multiName()
	action, ok := p.acceptOneOf("REBUILD", "REORGANIZE", "DISABLE", "SET", "RESUME", "PAUSE", "ABORT")
	if !ok {
		p.unexpected()
	}
	s.Action = action
	if action == "SET" {
		p.optionList()
	} else {
		p.rebuildOptions()
	}
	s.Span = p.span(start)
	return s
}

// dropIndex reads DROP INDEX i ON t, and the old DROP INDEX t.i.
func (p *parser) dropIndex(start int) Stmt {
	p.expectWord("INDEX")
	s := &DropIndexStmt{IfExists: p.acceptWord("IF", "EXISTS")}
	for {
		name := p.multiName()
		item := DropIndexItem{Name: name.Base()}
		if p.acceptWord("ON") {
			item.Table = p.multiName()
		} else if last := len(name.Parts) - 1; last > 0 {
			item.Table = Name{Span: name.Span, Parts: name.Parts[:last]}
		} else {
			p.unexpected()
		}
		if p.word("WITH") && p.peek(1).is("(") {
			p.pos++
			p.optionList()
		}
		s.Items = append(s.Items, item)
		if !p.accept(",") {
			break
		}
	}
	s.Span = p.span(start)
	return s
}
