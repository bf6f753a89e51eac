package tsql

// insert reads INSERT; the common table expressions before it are read.
func (p *parser) insert(start int, with []CTE) Stmt {
	p.expectWord("INSERT")
	if p.acceptWord("BULK") {
		return p.insertBulk(start)
	}
	s := &InsertStmt{With: with, Top: p.top()}
	p.acceptWord("INTO")
	s.Target = p.target()
	if p.op("(") && !p.atQueryParen() {
		s.Columns = p.insertColumns()
	}
	s.Output = p.output()
	switch {
	case p.acceptWord("DEFAULT", "VALUES"):
		s.DefaultValues = true
	case p.acceptWord("VALUES"):
		s.Rows = p.rows()
	case p.word("EXEC", "EXECUTE"):
		s.Exec = p.exec().(*ExecStmt)
	case p.word("SELECT", "WITH") || p.op("("):
		s.Query = p.query()
	default:
		p.unexpected()
	}
	if s.Query == nil {
		s.Options = p.queryOptions()
	}
	s.Span = p.span(start)
	return s
}

// insertColumns reads the column list of INSERT, whose names may be qualified.
func (p *parser) insertColumns() []string {
	p.expect("(")
	var names []string
	for {
		if p.cur().kind == tokPseudo || p.word("IDENTITYCOL", "ROWGUIDCOL") {
			p.unsupported(p.cur().text)
		}
		names = append(names, p.multiName().Base())
		if !p.accept(",") {
			p.expect(")")
			return names
		}
	}
}

// target reads the object a DML statement writes to, with its hints.
func (p *parser) target() Target {
	start := p.pos
	var t Target
	switch {
	case p.cur().kind == tokVariable:
		t.Variable = p.advance().text
	case p.word("OPENROWSET", "OPENQUERY"):
		p.unsupported(p.upper())
	default:
		t.Name = p.multiName()
	}
	t.Hints = p.hints()
	t.Span = p.span(start)
	return t
}

// output reads OUTPUT, nil when there is none.
func (p *parser) output() *OutputClause {
	if !p.word("OUTPUT") {
		return nil
	}
	start := p.pos
	p.pos++
	o := &OutputClause{Items: p.selectList()}
	if p.acceptWord("INTO") {
		target := p.target()
		o.Into = &target
		if p.op("(") {
			o.IntoColumns = p.nameList()
		}
		o.Then = p.output()
	}
	o.Span = p.span(start)
	return o
}

func (p *parser) insertBulk(start int) Stmt {
	s := &InsertBulkStmt{Table: p.multiName()}
	p.expect("(")
	for {
		first := p.pos
		c := ColumnDef{Name: p.name(), Type: p.typeName()}
		if p.acceptWord("COLLATE") {
			c.Collation = p.collation()
		}
		c.Span = p.span(first)
		s.Columns = append(s.Columns, c)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.acceptWord("WITH") {
		for _, o := range p.optionList() {
			s.Options = append(s.Options, o.Name)
		}
	}
	s.Span = p.span(start)
	return s
}

// update reads UPDATE; the common table expressions before it are read.
func (p *parser) update(start int, with []CTE) Stmt {
	p.expectWord("UPDATE")
	if p.word("STATISTICS") {
		return p.other(start, "UPDATE STATISTICS")
	}
	s := &UpdateStmt{With: with, Top: p.top(), Target: p.target()}
	p.expectWord("SET")
	s.Set = p.setItems()
	s.Output = p.output()
	if p.acceptWord("FROM") {
		s.From = p.fromList()
	}
	s.Where, s.Cursor = p.dmlWhere()
	s.Options = p.queryOptions()
	s.Span = p.span(start)
	return s
}

// dmlWhere reads WHERE, or WHERE CURRENT OF a cursor.
func (p *parser) dmlWhere() (Expr, string) {
	if !p.acceptWord("WHERE") {
		return nil, ""
	}
	if p.acceptWord("CURRENT", "OF") {
		p.acceptWord("GLOBAL")
		return nil, p.cursorName()
	}
	return p.condition(), ""
}

func (p *parser) setItems() []SetItem {
	items := []SetItem{p.setItem()}
	for p.accept(",") {
		items = append(items, p.setItem())
	}
	return items
}

// setItem reads one assignment. In @v = c = x the value read first turns out
// to be the column.
func (p *parser) setItem() SetItem {
	start := p.pos
	item := p.setItemBody(start)
	item.Span = p.span(start)
	return item
}

func (p *parser) setItemBody(start int) SetItem {
	var item SetItem
	if p.cur().kind == tokVariable {
		item.Variable = p.advance().text
		item.Op = p.expectAssign()
		item.Value = p.scalar()
		column, isColumn := item.Value.(*ColumnRef)
		if op, ok := p.assignOp(p.cur()); ok && isColumn {
			p.pos++
			item.Column, item.Op, item.Value = column.Name, op, p.scalar()
		}
		return item
	}
	item.Column = p.multiName()
	if parts := item.Column.Parts; p.op("(") && len(parts) > 1 { // column.WRITE(..)
		p.pos++
		method := parts[len(parts)-1]
		item.Column.Parts = parts[:len(parts)-1]
		item.Method = &MethodCall{X: &ColumnRef{Name: item.Column}, Name: method, Args: p.callArgs(), Call: true}
		item.Method.Span = p.span(start)
		return item
	}
	item.Op = p.expectAssign()
	item.Value = p.scalar()
	return item
}

func (p *parser) expectAssign() string {
	op, ok := p.assignOp(p.cur())
	if !ok {
		p.unexpected()
	}
	p.pos++
	return op
}

// delete reads DELETE; the common table expressions before it are read.
func (p *parser) delete(start int, with []CTE) Stmt {
	p.expectWord("DELETE")
	s := &DeleteStmt{With: with, Top: p.top()}
	p.acceptWord("FROM")
	s.Target = p.target()
	s.Output = p.output()
	if p.acceptWord("FROM") {
		s.From = p.fromList()
	}
	s.Where, s.Cursor = p.dmlWhere()
	s.Options = p.queryOptions()
	s.Span = p.span(start)
	return s
}

// merge reads MERGE, which must end with a semicolon (error 10713).
func (p *parser) merge(start int, with []CTE) Stmt {
	p.expectWord("MERGE")
	s := &MergeStmt{With: with, Top: p.top()}
	p.acceptWord("INTO")
	s.Target = p.target()
	s.Target.Alias = p.tableAlias()
	s.Target.Hints = append(s.Target.Hints, p.hints()...)
	p.expectWord("USING")
	s.Using = p.joined()
	p.expectWord("ON")
	s.On = p.condition()
	for p.word("WHEN") {
		s.Whens = append(s.Whens, p.mergeWhen())
	}
	if len(s.Whens) == 0 {
		p.unexpected()
	}
	s.Output = p.output()
	s.Options = p.queryOptions()
	if !p.op(";") {
		p.fail(10713, "A MERGE statement must be terminated by a semi-colon (;).")
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) mergeWhen() MergeWhen {
	start := p.pos
	p.expectWord("WHEN")
	w := MergeWhen{Match: WhenMatched}
	if p.acceptWord("NOT") {
		w.Match = WhenNotMatchedByTarget
	}
	p.expectWord("MATCHED")
	if w.Match == WhenNotMatchedByTarget && p.acceptWord("BY") {
		by, ok := p.acceptOneOf("TARGET", "SOURCE")
		if !ok {
			p.unexpected()
		}
		if by == "SOURCE" {
			w.Match = WhenNotMatchedBySource
		}
	}
	if p.acceptWord("AND") {
		w.And = p.condition()
	}
	p.expectWord("THEN")
	p.mergeAction(&w)
	w.Span = p.span(start)
	return w
}

func (p *parser) mergeAction(w *MergeWhen) {
	if w.Match == WhenNotMatchedByTarget {
		w.Action = MergeInsert
		p.expectWord("INSERT")
		if p.op("(") {
			w.Columns = p.insertColumns()
		}
		if p.acceptWord("DEFAULT", "VALUES") {
			w.DefaultValues = true
			return
		}
		p.expectWord("VALUES")
		p.expect("(")
		w.Values = p.exprList()
		p.expect(")")
		return
	}
	if p.acceptWord("DELETE") {
		w.Action = MergeDelete
		return
	}
	p.expectWord("UPDATE", "SET")
	w.Set = p.setItems()
}

// truncate reads TRUNCATE TABLE.
func (p *parser) truncate() Stmt {
	start := p.pos
	p.expectWord("TRUNCATE", "TABLE")
	s := &TruncateStmt{Table: p.multiName()}
	if p.word("WITH") && p.peek(1).is("(") {
		p.unsupported("TRUNCATE TABLE WITH PARTITIONS")
	}
	s.Span = p.span(start)
	return s
}
