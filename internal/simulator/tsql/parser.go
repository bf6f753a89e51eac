package tsql

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Options are the session settings that change how a batch is read.
type Options struct {
	// QuotedIdentifierOff makes "x" a string (SET QUOTED_IDENTIFIER OFF).
	QuotedIdentifierOff bool
	// JoinOperator knows || of SQL Server 2025, which is refused by its name; it is
	// a syntax error otherwise.
	JoinOperator bool
}

const (
	// maxDepth bounds the parser's recursion and so the height of what it
	// builds by recursion.
	maxDepth = 256
	// maxChain bounds the operands of one left-deep chain (a OR b OR ..),
	// whose height equals its length.
	maxChain = 16384
)

// Parse reads one batch. Errors are *sqltypes.Error with the line set.
func Parse(sql string, opts Options) (program *Program, err error) {
	p, err := newParser(sql, opts)
	if err != nil {
		return nil, err
	}
	defer catchSyntaxError(&err)
	return &Program{Text: sql, Stmts: p.batch()}, nil
}

// ParseExpr reads one expression or condition, such as a default, a check or
// a computed column kept as text in the catalogue.
func ParseExpr(sql string, opts Options) (expr Expr, err error) {
	p, err := newParser(sql, opts)
	if err != nil {
		return nil, err
	}
	defer catchSyntaxError(&err)
	expr = p.any()
	if p.cur().kind != tokEOF {
		p.unexpected()
	}
	return expr, nil
}

// ParseType reads a data type, such as the one kept as text in the catalogue.
func ParseType(sql string, opts Options) (typ TypeName, err error) {
	p, err := newParser(sql, opts)
	if err != nil {
		return TypeName{}, err
	}
	defer catchSyntaxError(&err)
	typ = p.typeName()
	if p.cur().kind != tokEOF {
		p.unexpected()
	}
	return typ, nil
}

// parser is a recursive-descent parser over the tokens of one batch. Its
// methods return what they parsed and panic with a syntaxError, which only
// the exported functions recover.
type parser struct {
	sql    string
	tokens []token
	pos    int
	depth  int
	nested int // enclosing statements
	first  int // index of the token that begins the batch's first statement
	joins  bool
}

type syntaxError struct{ err *sqltypes.Error }

func newParser(sql string, opts Options) (*parser, error) {
	tokens, err := lex(sql, opts)
	if err != nil {
		return nil, err
	}
	return &parser{sql: sql, tokens: tokens, joins: opts.JoinOperator}, nil
}

func catchSyntaxError(err *error) {
	switch r := recover().(type) {
	case nil:
	case syntaxError:
		*err = r.err
	default:
		panic(r)
	}
}

// cur is the token at the parser's position.
func (p *parser) cur() *token { return &p.tokens[p.pos] }

// peek is the token n places ahead, or the end.
func (p *parser) peek(n int) *token {
	return &p.tokens[min(p.pos+n, len(p.tokens)-1)]
}

// advance passes the current token and returns it. The end is never passed.
func (p *parser) advance() *token {
	t := p.cur()
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

// word reports whether the current token is one of the words.
func (p *parser) word(words ...string) bool {
	for _, w := range words {
		if p.cur().isWord(w) {
			return true
		}
	}
	return false
}

// words reports whether the next tokens are the given words, in order.
func (p *parser) words(words ...string) bool {
	for i, w := range words {
		if !p.peek(i).isWord(w) {
			return false
		}
	}
	return true
}

// acceptWord passes the words if they come next, all of them in order.
func (p *parser) acceptWord(words ...string) bool {
	if !p.words(words...) {
		return false
	}
	p.pos += len(words)
	return true
}

// acceptOneOf passes the current token if it is one of the words and returns
// the one it is.
func (p *parser) acceptOneOf(words ...string) (string, bool) {
	for _, w := range words {
		if p.cur().isWord(w) {
			p.pos++
			return w, true
		}
	}
	return "", false
}

func (p *parser) expectWord(words ...string) {
	for _, w := range words {
		if !p.cur().isWord(w) {
			p.unexpected()
		}
		p.pos++
	}
}

func (p *parser) op(op string) bool { return p.cur().is(op) }

func (p *parser) accept(op string) bool {
	if !p.cur().is(op) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(op string) {
	if !p.accept(op) {
		p.unexpected()
	}
}

// span is from the token at index start to the last token passed.
func (p *parser) span(start int) Span {
	first := &p.tokens[start]
	end := first.end
	if p.pos > start {
		end = p.tokens[p.pos-1].end
	}
	return Span{Line: int(first.line), Start: int(first.start), End: int(end)}
}

// source is the text from the token at index start to the last token passed.
func (p *parser) source(start int) string { return p.span(start).Text(p.sql) }

// enter counts one level of recursion; its result leaves it.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(191, "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.")
	}
	return p.leave
}

func (p *parser) leave() { p.depth-- }

// grow counts one more operand of a chain.
func (p *parser) grow(n *int) {
	if *n++; *n > maxChain {
		p.fail(8631, "Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your query, and try to simplify it.")
	}
}

// fail stops the parse with an error at the current token's line.
func (p *parser) fail(number int32, format string, args ...any) {
	err := sqltypes.Errorf(number, 1, 15, format, args...)
	err.Line = p.cur().line
	panic(syntaxError{err})
}

// unexpected stops the parse at the current token with 102 or 156. At the end
// of the batch SQL Server names the last token.
func (p *parser) unexpected() {
	t := p.cur()
	if t.kind == tokEOF {
		if p.pos == 0 {
			p.fail(102, "Incorrect syntax near ''.")
		}
		last := &p.tokens[p.pos-1]
		err := sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", p.shown(last))
		err.Line = last.line
		panic(syntaxError{err})
	}
	if t.reserved {
		p.fail(156, "Incorrect syntax near the keyword '%s'.", t.text)
	}
	p.fail(102, "Incorrect syntax near '%s'.", p.shown(t))
}

// shown is a token as error texts show it: names and strings without quotes.
func (p *parser) shown(t *token) string {
	switch t.kind {
	case tokQuoted, tokString, tokNString:
		return clip(t.text)
	}
	return clip(p.sql[t.start:t.end])
}

// unsupported stops the parse at a construct that is valid T-SQL but not
// modelled. The number is the one with which Azure SQL Database refuses.
func (p *parser) unsupported(construct string) {
	err := sqltypes.Errorf(40517, 1, 16, "Keyword or statement option '%s' is not supported in this version of SQL Server.", construct)
	err.Line = p.cur().line
	panic(syntaxError{err})
}

// name reads an identifier.
func (p *parser) name() string {
	if !p.cur().isName() {
		p.unexpected()
	}
	return p.advance().text
}

// multiName reads a name of up to four parts.
func (p *parser) multiName() Name {
	start := p.pos
	parts := []string{p.name()}
	for p.op(".") {
		p.pos++
		if p.op(".") { // db..t
			parts = append(parts, "")
			continue
		}
		// After a dot reserved words are still refused, as in SQL Server.
		parts = append(parts, p.name())
	}
	n := Name{Span: p.span(start), Parts: parts}
	if len(parts) > 4 {
		p.fail(117, "The object name '%s' contains more than the maximum number of prefixes. The maximum is 3.", n)
	}
	return n
}

// nameList reads a comma list of identifiers in parentheses.
func (p *parser) nameList() []string {
	p.expect("(")
	var names []string
	for {
		names = append(names, p.name())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return names
}

// upper is the current word in upper case, "" for anything else.
func (p *parser) upper() string {
	if t := p.cur(); t.kind == tokWord {
		return strings.ToUpper(t.text)
	}
	return ""
}
