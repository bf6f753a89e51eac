package tsql

import (
	"strconv"
	"strings"
)

// typeName reads a data type. The multi-word synonyms of the standard are
// returned under their SQL Server names (MS docs: Data type synonyms).
func (p *parser) typeName() TypeName {
	start := p.pos
	name, synonym := p.typeSynonym()
	if !synonym {
		if p.word("CURSOR") { // the only reserved word that is a type
			name = Name{Parts: []string{p.advance().text}}
		} else {
			name = p.multiName()
		}
	}
	t := TypeName{Name: name}
	if p.op("(") && strings.EqualFold(name.Base(), "xml") {
		p.skipParens() // a schema collection
	} else if p.accept("(") {
		t.Args = append(t.Args, p.typeArg())
		for p.accept(",") {
			t.Args = append(t.Args, p.typeArg())
		}
		p.expect(")")
	}
	t.Span = p.span(start)
	return t
}

// typeSynonyms are tried longest first.
var typeSynonyms = []struct {
	words []string
	name  string
}{
	{[]string{"NATIONAL", "CHARACTER", "VARYING"}, "nvarchar"},
	{[]string{"NATIONAL", "CHAR", "VARYING"}, "nvarchar"},
	{[]string{"NATIONAL", "CHARACTER"}, "nchar"},
	{[]string{"NATIONAL", "CHAR"}, "nchar"},
	{[]string{"NATIONAL", "TEXT"}, "ntext"},
	{[]string{"CHARACTER", "VARYING"}, "varchar"},
	{[]string{"CHAR", "VARYING"}, "varchar"},
	{[]string{"BINARY", "VARYING"}, "varbinary"},
	{[]string{"DOUBLE", "PRECISION"}, "float"},
}

func (p *parser) typeSynonym() (Name, bool) {
	for _, s := range typeSynonyms {
		if p.acceptWord(s.words...) {
			return Name{Parts: []string{s.name}}, true
		}
	}
	return Name{}, false
}

func (p *parser) typeArg() int {
	if p.acceptWord("MAX") {
		return MaxLength
	}
	t := p.cur()
	n, err := strconv.ParseInt(t.text, 10, 32)
	if t.kind != tokInt || err != nil {
		p.unexpected()
	}
	p.pos++
	return int(n)
}

// skipParens passes a parenthesis and all it holds, and returns its source.
func (p *parser) skipParens() string {
	start := p.pos
	if !p.op("(") {
		p.unexpected()
	}
	if p.cur().match == 0 {
		p.pos = len(p.tokens) - 1
		p.unexpected()
	}
	p.pos = int(p.cur().match) + 1
	return p.source(start)
}
