package tsql

import "strings"

func (p *parser) use() Stmt {
	start := p.pos
	p.expectWord("USE")
	s := &UseStmt{Database: p.name()}
	s.Span = p.span(start)
	return s
}

func (p *parser) kill() Stmt {
	start := p.pos
	p.expectWord("KILL")
	s := &KillStmt{SPID: p.unary()}
	s.StatusOnly = p.acceptWord("WITH", "STATUSONLY")
	s.Span = p.span(start)
	return s
}

func (p *parser) checkpoint() Stmt {
	start := p.pos
	p.expectWord("CHECKPOINT")
	if p.cur().kind == tokInt {
		p.pos++
	}
	return &CheckpointStmt{Span: p.span(start)}
}

func (p *parser) reconfigure() Stmt {
	start := p.pos
	p.expectWord("RECONFIGURE")
	p.acceptWord("WITH", "OVERRIDE")
	return &ReconfigureStmt{Span: p.span(start)}
}

// backup reads BACKUP DATABASE or LOG.
func (p *parser) backup() Stmt {
	start := p.pos
	p.expectWord("BACKUP")
	if !p.word("DATABASE", "LOG") {
		return p.other(start, "BACKUP "+p.upper())
	}
	s := &BackupStmt{Log: p.acceptWord("LOG")}
	if !s.Log {
		p.pos++
	}
	s.Database = p.nameOrVariable()
	p.expectWord("TO")
	s.To = p.devices()
	if p.acceptWord("WITH") {
		s.Options = p.bareOptions()
	}
	s.Span = p.span(start)
	return s
}

// restore reads RESTORE DATABASE, LOG, HEADERONLY and its kin.
func (p *parser) restore() Stmt {
	start := p.pos
	p.expectWord("RESTORE")
	s := &RestoreStmt{}
	switch kind := p.upper(); kind {
	case "DATABASE", "LOG":
		p.pos++
		s.Log = kind == "LOG"
		s.Database = p.nameOrVariable()
	case "HEADERONLY", "FILELISTONLY", "VERIFYONLY", "LABELONLY":
		p.pos++
		s.Kind = kind
	default:
		return p.other(start, "RESTORE "+kind)
	}
	if p.acceptWord("FROM") {
		s.From = p.devices()
	}
	if p.acceptWord("WITH") {
		s.Options = p.bareOptions()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) nameOrVariable() string {
	if p.cur().kind == tokVariable {
		return p.advance().text
	}
	return p.name()
}

// devices reads DISK = '..', ..; names of logical devices and variables are
// taken as they are.
func (p *parser) devices() []string {
	var list []string
	for {
		if _, ok := p.acceptOneOf("DISK", "URL", "TAPE"); ok {
			p.expect("=")
		}
		switch p.cur().kind {
		case tokString, tokNString, tokVariable, tokWord, tokQuoted:
			list = append(list, p.advance().text)
		default:
			p.unexpected()
		}
		if !p.accept(",") {
			return list
		}
	}
}

// optionList reads (NAME = value, NAME, ..).
func (p *parser) optionList() []TableOption {
	p.expect("(")
	options := p.bareOptions()
	p.expect(")")
	return options
}

// bareOptions reads NAME = value, NAME ON, NAME 'value', NAME, .. without
// parentheses around them.
func (p *parser) bareOptions() []TableOption {
	var options []TableOption
	for {
		options = append(options, p.option())
		if !p.accept(",") {
			return options
		}
	}
}

// option reads one option: words in upper case, then a value as written, a
// string without its quotes.
func (p *parser) option() TableOption {
	var words []string
	for p.cur().kind == tokWord && !p.word("ON", "OFF") {
		if p.cur().reserved && len(words) > 0 && statementStarters[p.upper()] {
			break
		}
		words = append(words, p.upper())
		p.pos++
	}
	if len(words) == 0 {
		p.unexpected()
	}
	o := TableOption{Name: strings.Join(words, " ")}
	assigned := p.accept("=")
	start := p.pos
	switch t := p.cur(); {
	case t.kind == tokString || t.kind == tokNString || t.kind == tokQuoted:
		p.pos++
		o.Value = t.text
		if p.acceptWord("TO") { // MOVE 'a' TO 'b'
			o.Value += " TO " + p.stringText()
		}
		return o
	case t.is("("):
		o.Value = p.skipParens()
		return o
	case t.is("-") || t.is("+"):
		p.pos++
		p.advance()
	case assigned || t.kind == tokInt || p.word("ON", "OFF"):
		p.advance()
		if p.word("HOURS", "MINUTES", "DAYS", "SECONDS", "PERCENT", "MB", "KB", "GB") {
			p.pos++
		}
		if p.op("(") { // ON (..)
			p.skipParens()
		}
	default:
		return o
	}
	o.Value = p.source(start)
	return o
}
