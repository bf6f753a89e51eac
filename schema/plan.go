package schema

// Omission is a column that events do not carry.
type Omission struct{ Column, Reason string }
