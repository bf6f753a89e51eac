package tsql

import "strings"

// principal reads CREATE or ALTER of LOGIN, USER, ROLE and APPLICATION ROLE.
func (p *parser) principal(start int, mode CreateMode) Stmt {
	if p.word("SERVER") && !p.peek(1).isWord("ROLE") {
		return p.other(start, map[CreateMode]string{Create: "CREATE ", Alter: "ALTER "}[mode]+p.kindWords())
	}
	s := &PrincipalStmt{Mode: mode, ServerRole: p.acceptWord("SERVER")}
	kind, _ := p.acceptOneOf("LOGIN", "USER", "ROLE", "APPLICATION")
	s.Kind = kind
	if kind == "APPLICATION" {
		p.expectWord("ROLE")
		s.Kind = "APPLICATION ROLE"
	}
	s.Name = p.name()
	for p.principalClause(s) {
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) principalClause(s *PrincipalStmt) bool {
	switch {
	case p.acceptWord("AUTHORIZATION"):
		s.Owner = p.name()
	case p.acceptWord("ADD", "MEMBER"):
		s.AddMember = p.name()
	case p.acceptWord("DROP", "MEMBER"):
		s.DropMember = p.name()
	case p.acceptWord("FOR", "LOGIN"), p.acceptWord("FROM", "LOGIN"):
		s.ForLogin = p.name()
	case p.acceptWord("WITHOUT", "LOGIN"):
		s.WithoutLogin = true
	case p.acceptWord("FROM", "WINDOWS"):
		s.FromWindows = true
	case p.word("FROM", "FOR"):
		p.unsupported(p.upper() + " " + upperText(p.peek(1)))
	case p.acceptWord("ENABLE"):
		s.Enable = true
	case p.acceptWord("DISABLE"):
		s.Disable = true
	case p.acceptWord("WITH"):
		p.principalOptions(s)
	default:
		return false
	}
	return true
}

func (p *parser) principalOptions(s *PrincipalStmt) {
	for {
		if p.acceptWord("PASSWORD") {
			p.password(s)
		} else {
			p.principalOption(s)
		}
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) principalOption(s *PrincipalStmt) {
	name := p.upper()
	if name == "" {
		p.unexpected()
	}
	p.pos++
	p.expect("=")
	value := p.advance().text
	switch name {
	case "NAME":
		s.NewName = value
	case "LOGIN":
		s.ForLogin = value
	case "DEFAULT_SCHEMA":
		s.DefaultSchema = value
	default:
		s.Options = append(s.Options, TableOption{Name: name, Value: value})
	}
}

// password reads PASSWORD = '..' [HASHED] [OLD_PASSWORD = '..'] [MUST_CHANGE]
// [UNLOCK].
func (p *parser) password(s *PrincipalStmt) {
	p.expect("=")
	if p.cur().kind == tokBinary {
		p.unsupported("PASSWORD HASHED")
	}
	s.Password, s.HasPassword = p.stringText(), true
	for {
		switch {
		case p.acceptWord("MUST_CHANGE"), p.acceptWord("UNLOCK"):
		case p.acceptWord("OLD_PASSWORD"):
			p.expect("=")
			p.stringText()
		default:
			return
		}
	}
}

// permission reads GRANT, DENY and REVOKE.
func (p *parser) permission() Stmt {
	start := p.pos
	s := &PermissionStmt{Verb: p.upper()}
	p.pos++
	if s.Verb == "REVOKE" && p.acceptWord("GRANT", "OPTION", "FOR") {
		s.GrantOption = true
	}
	for {
		s.Permissions = append(s.Permissions, p.permissionName())
		if !p.accept(",") {
			break
		}
	}
	if p.acceptWord("ON") {
		s.Class, s.On = p.securable()
		if p.op("(") { // GRANT SELECT ON t (a), the same as SELECT (a) ON t
			columns := p.nameList()
			for i := range s.Permissions {
				s.Permissions[i].Columns = append(s.Permissions[i].Columns, columns...)
			}
		}
	}
	if _, ok := p.acceptOneOf("TO", "FROM"); !ok {
		p.unexpected()
	}
	for {
		s.Principals = append(s.Principals, p.principalName())
		if !p.accept(",") {
			break
		}
	}
	if p.acceptWord("WITH", "GRANT", "OPTION") {
		s.GrantOption = true
	}
	s.Cascade = p.acceptWord("CASCADE")
	if p.acceptWord("AS") {
		s.As = p.name()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) permissionName() Permission {
	var words []string
	for p.cur().kind == tokWord && !p.word("ON", "TO", "FROM") {
		words = append(words, p.upper())
		p.pos++
	}
	if len(words) == 0 {
		p.unexpected()
	}
	a := Permission{Name: strings.Join(words, " ")}
	if p.op("(") {
		a.Columns = p.nameList()
	}
	return a
}

// securable reads [class::]name.
func (p *parser) securable() (class string, name Name) {
	var words []string
	for n := 0; p.peek(n).kind == tokWord; n++ {
		words = append(words, upperText(p.peek(n)))
		if p.peek(n + 1).is("::") {
			class = strings.Join(words, " ")
			p.pos += n + 2
			break
		}
	}
	return class, p.multiName()
}

func (p *parser) principalName() string {
	if p.word("PUBLIC") {
		p.pos++
		return "public"
	}
	return p.name()
}

func (p *parser) authorization(start int) Stmt {
	s := &AuthorizationStmt{}
	p.expectWord("ON")
	s.Class, s.On = p.securable()
	p.expectWord("TO")
	if p.acceptWord("SCHEMA", "OWNER") {
		s.To = "SCHEMA OWNER"
	} else {
		s.To = p.principalName()
	}
	s.Span = p.span(start)
	return s
}
