package tsql

import "strings"

// tokenKind is the lexical class of a token.
type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokWord               // unquoted identifier or keyword
	tokQuoted             // [x] or "x"
	tokVariable           // @x
	tokGlobal             // @@x
	tokPseudo             // $action
	tokInt
	tokDecimal
	tokFloat
	tokMoney
	tokString
	tokNString
	tokBinary
	tokOp // operators and punctuation
)

// token is one token. text is its value: quoting removed, bytes decoded;
// source spelling is sql[start:end].
type token struct {
	text       string
	start, end int32
	line       int32
	match      int32 // of "(": index of its ")", 0 when there is none
	kind       tokenKind
	reserved   bool // of tokWord: a reserved keyword
}

// is reports whether the token is the given operator or punctuation.
func (t *token) is(op string) bool { return t.kind == tokOp && t.text == op }

// isWord reports whether the token is the given unquoted word, in any case.
func (t *token) isWord(word string) bool {
	return t.kind == tokWord && len(t.text) == len(word) && strings.EqualFold(t.text, word)
}

// isName reports whether the token can stand as an identifier.
func (t *token) isName() bool {
	return t.kind == tokQuoted || (t.kind == tokWord && !t.reserved)
}
