package sqlserver

import "strings"

// Quote returns an identifier in brackets.
// Source: MS docs, "Delimited identifiers (Database Engine)".
func Quote(name string) string {
	return "[" + strings.ReplaceAll(name, "]", "]]") + "]"
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
