package manage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedColumns returns the names of the columns that a statement ALTER TABLE …
// ADD makes; none for any other statement.
// Source: MS docs, ALTER TABLE (Transact-SQL): columns, constraints and indexes
// stand in one list.
func addedColumns(statement string) (names []string) {
	tokens := words(statement)
	at := slices.IndexFunc(tokens, func(t word) bool { return t.is("ADD") })
	if len(tokens) < 3 || !tokens[0].is("ALTER") || !tokens[1].is("TABLE") || at < 0 {
		return nil
	}
	depth, first := 0, true
	for _, t := range tokens[at+1:] {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(","):
			first = depth == 0
			continue
		case t.is(";") && depth == 0:
			return names
		case first && depth == 0 && t.name && !t.isAny("CONSTRAINT", "CHECK", "DEFAULT", "FOREIGN", "PRIMARY", "UNIQUE", "INDEX", "PERIOD"):
			names = append(names, t.text)
		}
		first = false
	}
	return names
}

// word is a word, a name in brackets or quotation marks, a text or a sign of a
// statement.
type word struct {
	text   string
	name   bool // it may be a name
	quoted bool
}

func (w word) is(text string) bool { return !w.quoted && strings.EqualFold(w.text, text) }

func (w word) isAny(texts ...string) bool { return slices.ContainsFunc(texts, w.is) }

// words splits a statement; comments are left out.
// Source: MS docs, "Database identifiers", "Comment (Transact-SQL)".
func words(statement string) (list []word) {
	for rest := strings.TrimSpace(statement); rest != ""; rest = strings.TrimSpace(rest) {
		var text string
		switch {
		case strings.HasPrefix(rest, "--"):
			_, rest, _ = strings.Cut(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			rest = afterComment(rest)
		case rest[0] == '[':
			text, rest = quoted(rest[1:], "]")
			list = append(list, word{text, true, true})
		case rest[0] == '"':
			text, rest = quoted(rest[1:], `"`)
			list = append(list, word{text, true, true})
		case rest[0] == '\'':
			text, rest = quoted(rest[1:], "'")
			list = append(list, word{text, false, true})
		default:
			n := strings.IndexFunc(rest, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@#$", r)
			})
			switch {
			case n < 0:
				n = len(rest)
			case n == 0:
				_, n = utf8.DecodeRuneInString(rest)
			}
			list = append(list, word{rest[:n], true, false})
			rest = rest[n:]
		}
	}
	return list
}

// quoted returns a text up to a mark, which stands twice where it is meant
// itself, and what comes after it.
func quoted(s, mark string) (text, rest string) {
	for {
		part, after, found := strings.Cut(s, mark)
		text += part
		if !found || !strings.HasPrefix(after, mark) {
			return text, after
		}
		text += mark
		s = after[len(mark):]
	}
}

// afterComment returns what comes after a comment, which may hold others.
func afterComment(s string) string {
	for depth := 0; s != ""; {
		switch {
		case strings.HasPrefix(s, "/*"):
			depth, s = depth+1, s[2:]
		case strings.HasPrefix(s, "*/"):
			depth, s = depth-1, s[2:]
		default:
			s = s[1:]
		}
		if depth == 0 {
			return s
		}
	}
	return ""
}
