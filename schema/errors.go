package schema

import "fmt"

// ValueError is a value that the chosen modes cannot write exactly.
type ValueError struct {
	Table  TableID
	Column string
	// Value is the value as text.
	Value string
	// Reason says what is wrong with it.
	Reason string
	// Remedy says what to do about it; empty when there is nothing to say.
	Remedy string
}

// Error names table, column, value, reason and remedy.
func (e *ValueError) Error() string {
	text := fmt.Sprintf("encoding column %q of %s: value %s %s", e.Column, e.Table, e.Value, e.Reason)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// rangeError is a [ValueError] whose place is not known yet.
type rangeError struct{ reason, remedy string }

func (e *rangeError) Error() string { return e.reason }

// NullError is a NULL in a NOT NULL column, for which the compiled schema has
// no place. See [Plan.Relax].
type NullError struct {
	Table  TableID
	Column string
}

// Error names table and column.
func (e *NullError) Error() string {
	return fmt.Sprintf("encoding column %q of %s: NULL in a NOT NULL column", e.Column, e.Table)
}

// TableError is a table of which no events can be made in the chosen modes.
type TableError struct {
	Table TableID
	// Reason says what is wrong with it.
	Reason string
	// Remedy says what to do about it.
	Remedy string
}

// Error names table, reason and remedy.
func (e *TableError) Error() string {
	return fmt.Sprintf("compiling table %s: %s; %s", e.Table, e.Reason, e.Remedy)
}
