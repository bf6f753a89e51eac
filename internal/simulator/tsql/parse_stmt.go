package tsql

// batch reads all statements to the end.
func (p *parser) batch() []Stmt {
	var stmts []Stmt
	p.semicolons()
	p.first = p.pos
	if p.startsProcedureCall() {
		stmts = append(stmts, p.bareCall())
	}
	for {
		p.semicolons()
		if p.cur().kind == tokEOF {
			return stmts
		}
		stmts = append(stmts, p.statement())
	}
}

func (p *parser) semicolons() {
	for p.accept(";") {
	}
}

// startsProcedureCall reports whether the batch begins with a procedure's
// name, which needs no EXEC there.
func (p *parser) startsProcedureCall() bool {
	t := p.cur()
	if !t.isName() || p.peek(1).is(":") {
		return false
	}
	if p.word("THROW") && (p.peek(1).is(";") || p.peek(1).kind == tokEOF || p.peek(1).kind == tokInt || p.peek(1).kind == tokVariable) {
		return false
	}
	return !(p.word("ENABLE", "DISABLE") && p.peek(1).isWord("TRIGGER"))
}

// statement reads one statement with the semicolon after it.
func (p *parser) statement() Stmt {
	defer p.enter()()
	p.nested++
	s := p.bareStatement()
	p.nested--
	if p.accept(";") {
		p.semicolons()
	}
	return s
}

// simpleStatements are those that the first word decides.
var simpleStatements map[string]func(*parser) Stmt

func init() {
	simpleStatements = map[string]func(*parser) Stmt{
		"SELECT": func(p *parser) Stmt { return p.selectStmt(p.pos, nil) },
		"INSERT": func(p *parser) Stmt { return p.insert(p.pos, nil) },
		"UPDATE": func(p *parser) Stmt { return p.update(p.pos, nil) },
		"DELETE": func(p *parser) Stmt { return p.delete(p.pos, nil) },
		"MERGE":  func(p *parser) Stmt { return p.merge(p.pos, nil) },
		"WITH":   (*parser).withStmt, "TRUNCATE": (*parser).truncate, "BULK": (*parser).bulkInsert,
		"CREATE": (*parser).create, "ALTER": (*parser).alter, "DROP": (*parser).drop,
		"GRANT": (*parser).permission, "DENY": (*parser).permission, "REVOKE": (*parser).permission,
		"DECLARE": (*parser).declare, "SET": (*parser).set, "IF": (*parser).ifStmt, "WHILE": (*parser).whileStmt,
		"BREAK": (*parser).breakStmt, "CONTINUE": (*parser).continueStmt, "BEGIN": (*parser).begin,
		"RAISERROR": (*parser).raiserror, "PRINT": (*parser).print, "RETURN": (*parser).returnStmt,
		"GOTO": (*parser).gotoStmt, "WAITFOR": (*parser).waitFor, "COMMIT": (*parser).commit,
		"ROLLBACK": (*parser).rollback, "SAVE": (*parser).saveTran, "EXEC": (*parser).exec, "EXECUTE": (*parser).exec,
		"USE": (*parser).use, "KILL": (*parser).kill, "CHECKPOINT": (*parser).checkpoint,
		"RECONFIGURE": (*parser).reconfigure, "BACKUP": (*parser).backup, "RESTORE": (*parser).restore,
		"REVERT": (*parser).revert, "OPEN": (*parser).cursorStmt, "CLOSE": (*parser).cursorStmt,
		"DEALLOCATE": (*parser).cursorStmt, "FETCH": (*parser).fetch, "DBCC": (*parser).dbcc,
	}
}

func (p *parser) bareStatement() Stmt {
	t := p.cur()
	if t.reserved {
		if read, ok := simpleStatements[p.upper()]; ok {
			return read(p)
		}
		p.unexpected()
	}
	switch {
	case p.op("(") && p.atQueryParen():
		return p.selectStmt(p.pos, nil)
	case t.isName() && p.peek(1).is(":"):
		return p.label()
	case p.word("THROW"):
		return p.throw()
	case p.word("ENABLE", "DISABLE") && p.peek(1).isWord("TRIGGER"):
		return p.enableTriggerStmt()
	}
	p.unexpected()
	return nil
}

func (p *parser) selectStmt(start int, with []CTE) Stmt {
	q := p.queryAfterWith(start, with)
	return &SelectStmt{Span: p.span(start), Query: q}
}

// withStmt reads a statement that begins with common table expressions. When
// the previous statement was not terminated the WITH could be part of it,
// which SQL Server refuses with 319.
func (p *parser) withStmt() Stmt {
	start := p.pos
	if start > 0 {
		before := &p.tokens[start-1]
		if !before.is(";") && !before.isWord("BEGIN") && !before.isWord("ELSE") && !before.isWord("TRY") && !before.isWord("CATCH") && !p.afterAs() {
			p.fail(319, "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause "+
				"or a change tracking context clause, the previous statement must be terminated with a semicolon.")
		}
	}
	with := p.with()
	switch p.upper() {
	case "INSERT":
		return p.insert(start, with)
	case "UPDATE":
		return p.update(start, with)
	case "DELETE":
		return p.delete(start, with)
	case "MERGE":
		return p.merge(start, with)
	}
	return p.selectStmt(start, with)
}

// afterAs reports whether the previous token is the AS that begins a module's
// body, or closes a condition or label before a statement.
func (p *parser) afterAs() bool {
	before := &p.tokens[p.pos-1]
	return before.isWord("AS") || before.is(")") && p.nested > 1 || before.is(":")
}

// bulkInsert refuses BULK INSERT, which reads the server's files.
func (p *parser) bulkInsert() Stmt {
	p.unsupported("BULK INSERT")
	return nil
}

// other skips a statement that is not modelled, to the next semicolon or the
// next word that begins a statement.
func (p *parser) other(start int, what string) Stmt {
	for first := true; ; first = false {
		t := p.cur()
		if t.kind == tokEOF || t.is(";") || !first && t.reserved && statementStarters[p.upper()] {
			return &OtherStmt{Span: p.span(start), What: what}
		}
		if t.is("(") {
			p.skipParens()
			continue
		}
		p.pos++
	}
}

func (p *parser) dbcc() Stmt {
	start := p.pos
	p.pos++
	return p.other(start, "DBCC "+p.upper())
}
