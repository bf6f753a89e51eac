package tsql

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// maxIdentifier is the longest identifier, in characters.
const maxIdentifier = 128

// lexer cuts a batch into tokens.
type lexer struct {
	sql       string
	pos       int
	line      int32
	quotedOff bool // "x" is a string
	tokens    []token
	open      []int32 // indexes of "(" not closed yet
}

// lex returns the tokens of a batch; the last one is tokEOF.
func lex(sql string, opts Options) ([]token, error) {
	if len(sql) > math.MaxInt32 {
		return nil, sqltypes.Errorf(701, 123, 17, "There is insufficient system memory in resource pool 'default' to run this query.")
	}
	l := &lexer{sql: sql, line: 1, quotedOff: opts.QuotedIdentifierOff, tokens: make([]token, 0, len(sql)/6+2)}
	for {
		if err := l.skipBlanks(); err != nil {
			return nil, err
		}
		if l.pos >= len(l.sql) {
			end := int32(len(l.sql))
			l.tokens = append(l.tokens, token{kind: tokEOF, start: end, end: end, line: l.line})
			return l.tokens, nil
		}
		if err := l.next(); err != nil {
			return nil, err
		}
	}
}

// skipBlanks passes white space and comments. Block comments nest.
func (l *lexer) skipBlanks() error {
	for l.pos < len(l.sql) {
		switch c := l.sql[l.pos]; {
		case c == '\n':
			l.line++
			l.pos++
		case c <= ' ':
			l.pos++
		case c == '-' && strings.HasPrefix(l.sql[l.pos:], "--"):
			end := strings.IndexByte(l.sql[l.pos:], '\n')
			if end < 0 {
				end = len(l.sql) - l.pos
			}
			l.pos += end
		case c == '/' && strings.HasPrefix(l.sql[l.pos:], "/*"):
			if !l.skipComment() {
				return l.errorf(113, "Missing end comment mark '*/'.")
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.sql[l.pos:])
			if !unicode.IsSpace(r) && r != '\uFEFF' {
				return nil
			}
			l.pos += n
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) skipComment() bool {
	depth := 0
	for i := l.pos; i < len(l.sql); i++ {
		switch {
		case l.sql[i] == '\n':
			l.line++
		case strings.HasPrefix(l.sql[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(l.sql[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				l.pos = i + 1
				return true
			}
		}
	}
	return false
}

// next reads one token at l.pos, which is not blank.
func (l *lexer) next() error {
	rest := l.sql[l.pos:]
	switch c := rest[0]; {
	case c == '\'':
		return l.quoted(1, '\'', tokString)
	case (c == 'N' || c == 'n') && len(rest) > 1 && rest[1] == '\'':
		return l.quoted(2, '\'', tokNString)
	case c == '"' && l.quotedOff:
		return l.quoted(1, '"', tokString)
	case c == '"':
		return l.quoted(1, '"', tokQuoted)
	case c == '[':
		return l.quoted(1, ']', tokQuoted)
	case c == '0' && len(rest) > 1 && (rest[1] == 'x' || rest[1] == 'X'):
		return l.binary()
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		l.number()
		return nil
	case c == '@':
		return l.variable()
	case c == '$' && len(rest) > 1 && isLetter(rest[1]):
		n := 1 + wordLength(rest[1:])
		l.emit(tokPseudo, strings.ToLower(rest[:n]), n)
		return nil
	}
	if n := currencySign(rest); n > 0 {
		l.money(n)
		return nil
	}
	if r, _ := utf8.DecodeRuneInString(rest); isWordStart(r) {
		return l.word()
	}
	return l.operator()
}

// quoted reads a string or quoted identifier whose opening is prefix bytes
// long; a doubled closing character stands for itself.
func (l *lexer) quoted(prefix int, closing byte, kind tokenKind) error {
	start, line := l.pos, l.line
	var built strings.Builder
	segment := l.pos + prefix
	for i := segment; ; {
		n := strings.IndexByte(l.sql[i:], closing)
		if n < 0 {
			text := built.String() + l.sql[segment:]
			return &sqltypes.Error{
				Number: 105, State: 1, Class: 15, Line: line,
				Message: "Unclosed quotation mark after the character string '" + clip(text) + "'.",
			}
		}
		end := i + n
		if end+1 < len(l.sql) && l.sql[end+1] == closing {
			built.WriteString(l.sql[segment : end+1])
			segment, i = end+2, end+2
			continue
		}
		text := l.sql[segment:end]
		if built.Len() > 0 {
			built.WriteString(text)
			text = built.String()
		}
		l.emit(kind, text, end+1-start)
		l.line += int32(strings.Count(l.sql[start:end], "\n"))
		return l.checkIdentifier(kind, text, line)
	}
}

func (l *lexer) checkIdentifier(kind tokenKind, text string, line int32) error {
	if kind != tokQuoted && kind != tokWord && kind != tokVariable {
		return nil
	}
	if text == "" {
		return &sqltypes.Error{Number: 1038, State: 4, Class: 15, Line: line, Message: "An object or column name is missing or empty. " +
			"For SELECT INTO statements, verify each column has a name. For other statements, look for empty alias names. " +
			"Aliases defined as \"\" or [] are not allowed. Change the alias to a valid name."}
	}
	if len(text) > maxIdentifier && utf8.RuneCountInString(text) > maxIdentifier {
		return &sqltypes.Error{Number: 103, State: 4, Class: 15, Line: line, Message: "The identifier that starts with '" +
			clip(text) + "' is too long. Maximum length is 128."}
	}
	return nil
}

func (l *lexer) binary() error {
	rest := l.sql[l.pos:]
	n := 2
	for n < len(rest) {
		if isHex(rest[n]) {
			n++
			continue
		}
		// A backslash continues a binary constant on the next line.
		if m := continuation(rest[n:]); m > 0 {
			l.line++
			n += m
			continue
		}
		break
	}
	digits := strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(rest[2:n])
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return l.errorf(102, "Incorrect syntax near '%s'.", rest[:n])
	}
	l.emit(tokBinary, string(raw), n)
	return nil
}

func continuation(s string) int {
	switch {
	case strings.HasPrefix(s, "\\\r\n"):
		return 3
	case strings.HasPrefix(s, "\\\n"):
		return 2
	}
	return 0
}

// number reads an integer, decimal or float constant. SQL Server takes "1."
// and "1e" (an exponent without digits is 0).
func (l *lexer) number() {
	rest := l.sql[l.pos:]
	n, kind := digits(rest), tokInt
	if n < len(rest) && rest[n] == '.' {
		kind = tokDecimal
		n++
		n += digits(rest[n:])
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		m := n + 1
		if m < len(rest) && (rest[m] == '+' || rest[m] == '-') {
			m++
		}
		m += digits(rest[m:])
		kind, n = tokFloat, m
	}
	text := rest[:n]
	if kind == tokFloat && !isDigit(text[n-1]) {
		text += "0"
	}
	l.emit(kind, text, n)
}

// money reads a currency sign of sign bytes and the number after it.
func (l *lexer) money(sign int) {
	rest := l.sql[l.pos:]
	n := sign
	n += digits(rest[n:])
	if n < len(rest) && rest[n] == '.' {
		n++
		n += digits(rest[n:])
	}
	text := rest[sign:n]
	if text == "" || text == "." {
		text = "0"
	}
	l.emit(tokMoney, text, n)
}

func (l *lexer) variable() error {
	rest := l.sql[l.pos:]
	kind, n := tokVariable, 1
	if strings.HasPrefix(rest, "@@") {
		kind, n = tokGlobal, 2
	}
	n += wordLength(rest[n:])
	l.emit(kind, rest[:n], n)
	return l.checkIdentifier(kind, rest[:n], l.line)
}

func (l *lexer) word() error {
	rest := l.sql[l.pos:]
	n := wordLength(rest)
	l.emit(tokWord, rest[:n], n)
	l.tokens[len(l.tokens)-1].reserved = IsReserved(rest[:n])
	return l.checkIdentifier(tokWord, rest[:n], l.line)
}

// twoByteOperators are tried before single characters.
var twoByteOperators = []string{"<>", "!=", "<=", ">=", "!<", "!>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "<<", ">>"}

// normalOperators maps the spellings that mean the same.
var normalOperators = map[string]string{"!=": "<>", "!<": ">=", "!>": "<="}

func (l *lexer) operator() error {
	rest := l.sql[l.pos:]
	for _, op := range twoByteOperators {
		if strings.HasPrefix(rest, op) {
			text := op
			if normal, ok := normalOperators[op]; ok {
				text = normal
			}
			l.emit(tokOp, text, len(op))
			return nil
		}
	}
	if !strings.ContainsRune("+-*/%&|^~=<>(),.;:{}", rune(rest[0])) {
		_, n := utf8.DecodeRuneInString(rest)
		return l.errorf(102, "Incorrect syntax near '%s'.", rest[:n])
	}
	l.emit(tokOp, rest[:1], 1)
	index := int32(len(l.tokens) - 1)
	switch {
	case rest[0] == '(':
		l.open = append(l.open, index)
	case rest[0] == ')' && len(l.open) > 0:
		l.tokens[l.open[len(l.open)-1]].match = index
		l.open = l.open[:len(l.open)-1]
	}
	return nil
}

// emit appends a token of n source bytes and passes it.
func (l *lexer) emit(kind tokenKind, text string, n int) {
	l.tokens = append(l.tokens, token{
		kind: kind, text: text, start: int32(l.pos), end: int32(l.pos + n), line: l.line,
	})
	l.pos += n
}

func (l *lexer) errorf(number int32, format string, args ...any) error {
	err := sqltypes.Errorf(number, 1, 15, format, args...)
	err.Line = l.line
	return err
}

// clip cuts a text to the length of an identifier, as error texts do.
func clip(s string) string {
	n := 0
	for i := range s {
		if n == maxIdentifier {
			return s[:i]
		}
		n++
	}
	return s
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isWordStart follows MS docs "Database identifiers": letters, _ and #.
func isWordStart(r rune) bool {
	return r == '_' || r == '#' || unicode.IsLetter(r)
}

// wordLength is the length in bytes of the run of identifier characters.
func wordLength(s string) int {
	for i, r := range s {
		if r < utf8.RuneSelf {
			if c := byte(r); isLetter(c) || isDigit(c) || c == '_' || c == '@' || c == '#' || c == '$' {
				continue
			}
			return i
		}
		if r == utf8.RuneError || !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) {
			return i
		}
	}
	return len(s)
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// currencySign is the length of a currency sign at the start of s, else 0.
func currencySign(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch r {
	case '$', '£', '€', '¥', '¢', '¤', '₩', '₪', '₫':
		return n
	}
	return 0
}
