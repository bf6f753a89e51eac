package sqlserver

import "strings"

// Quote returns an identifier in brackets.
// Source: MS docs, "Delimited identifiers (Database Engine)".
func Quote(name string) string {
	return "[" + strings.ReplaceAll(name, "]", "]]") + "]"
}

// QuoteText returns a text as a literal.
// Source: MS docs, "Constants (Transact-SQL)".
func QuoteText(text string) string {
	return "N'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// containsText reports whether an error's text holds one of the parts.
func containsText(err error, parts ...string) bool {
	text := err.Error()
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
