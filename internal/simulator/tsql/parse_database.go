package tsql

import (
	"strconv"
	"strings"
)

// createDatabase reads CREATE DATABASE; files and options are passed over.
func (p *parser) createDatabase(start int) Stmt {
	if p.word("SCOPED", "AUDIT", "ENCRYPTION") {
		return p.other(start, "CREATE DATABASE "+p.upper())
	}
	s := &CreateDatabaseStmt{Name: p.name()}
	if p.acceptWord("CONTAINMENT") {
		p.expect("=")
		s.Contained = strings.EqualFold(p.name(), "PARTIAL")
	}
	if p.acceptWord("ON") {
		p.fileSpecs()
	}
	if p.acceptWord("LOG", "ON") {
		p.fileSpecs()
	}
	if p.acceptWord("COLLATE") {
		s.Collation = p.collation()
	}
	if p.word("AS") || p.word("FOR") {
		p.unsupported("CREATE DATABASE AS SNAPSHOT OR FOR ATTACH")
	}
	if p.acceptWord("WITH") {
		p.bareOptions()
	} else if p.op("(") { // (EDITION = '..') of Azure SQL Database
		p.optionList()
	}
	s.Span = p.span(start)
	return s
}

// fileSpecs passes [PRIMARY] (..), FILEGROUP x (..), ..
func (p *parser) fileSpecs() {
	for {
		p.acceptWord("PRIMARY")
		if p.acceptWord("FILEGROUP") {
			p.name()
			p.acceptWord("CONTAINS", "FILESTREAM")
			p.acceptWord("CONTAINS", "MEMORY_OPTIMIZED_DATA")
			p.acceptWord("DEFAULT")
		}
		p.skipParens()
		if !p.accept(",") {
			return
		}
	}
}

// alterDatabase reads ALTER DATABASE.
func (p *parser) alterDatabase(start int) Stmt {
	if p.word("SCOPED", "AUDIT", "ENCRYPTION") {
		return p.other(start, "ALTER DATABASE "+p.upper())
	}
	s := &AlterDatabaseStmt{}
	if p.acceptWord("CURRENT") {
		s.Current = true
	} else {
		s.Name = p.name()
	}
	switch {
	case p.acceptWord("COLLATE"):
		s.Collation = p.collation()
	case p.acceptWord("MODIFY", "NAME"):
		p.expect("=")
		s.NewName = p.name()
	case p.acceptWord("SET"):
		p.databaseSettings(s)
	default:
		first := p.pos
		p.other(start, "")
		s.Other = p.source(first)
	}
	s.Span = p.span(start)
	return s
}

// databaseSettings reads the list after SET, and WITH <termination>.
func (p *parser) databaseSettings(s *AlterDatabaseStmt) {
	for {
		s.Settings = append(s.Settings, p.databaseSetting())
		if !p.accept(",") {
			break
		}
	}
	if !p.acceptWord("WITH") {
		return
	}
	switch {
	case p.acceptWord("NO_WAIT"):
		s.NoWait = true
	case p.acceptWord("ROLLBACK", "IMMEDIATE"):
		s.Rollback = true
	case p.acceptWord("ROLLBACK", "AFTER"):
		s.Rollback = true
		seconds, err := strconv.Atoi(p.cur().text)
		if p.cur().kind != tokInt || err != nil {
			p.unexpected()
		}
		s.RollbackAfter = seconds
		p.pos++
		p.acceptWord("SECONDS")
	default:
		p.unexpected()
	}
}

// stateSettings stand without a value.
var stateSettings = []string{
	"SINGLE_USER", "RESTRICTED_USER", "MULTI_USER", "READ_ONLY", "READ_WRITE", "ONLINE", "OFFLINE", "EMERGENCY",
	"ENABLE_BROKER", "DISABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS",
}

func (p *parser) databaseSetting() DatabaseSetting {
	if name, ok := p.acceptOneOf(stateSettings...); ok {
		return DatabaseSetting{Name: name}
	}
	if p.cur().kind != tokWord {
		p.unexpected()
	}
	setting := DatabaseSetting{Name: p.upper()}
	p.pos++
	for p.cur().kind == tokWord && p.peek(1).is("=") { // QUERY_STORE CLEAR and the like
		setting.Name += " " + p.upper()
		p.pos++
	}
	p.accept("=")
	start := p.pos
	if p.op("(") {
		p.skipParens()
	} else {
		p.advance()
		if p.op("(") { // CHANGE_TRACKING = ON (..)
			p.skipParens()
		}
	}
	if p.pos == start {
		p.unexpected()
	}
	setting.Value = strings.ToUpper(p.source(start))
	return setting
}

// createSchema reads CREATE SCHEMA with the statements inside it.
func (p *parser) createSchema(start int) Stmt {
	s := &CreateSchemaStmt{}
	if !p.word("AUTHORIZATION") {
		s.Name = p.name()
	}
	if p.acceptWord("AUTHORIZATION") {
		s.Owner = p.name()
		if s.Name == "" {
			s.Name = s.Owner
		}
	}
	for p.word("CREATE", "GRANT", "DENY", "REVOKE") {
		p.first = p.pos // a view may be created inside
		s.Body = append(s.Body, p.statement())
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) alterSchema(start int) Stmt {
	s := &AlterSchemaStmt{Name: p.name()}
	p.expectWord("TRANSFER")
	if p.peek(1).is("::") {
		p.advance()
		p.pos++
	}
	s.Object = p.multiName()
	s.Span = p.span(start)
	return s
}

// upperText is a token's text in upper case.
func upperText(t *token) string { return strings.ToUpper(t.text) }
