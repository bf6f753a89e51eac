// Package tsql reads Transact-SQL: it splits scripts into batches, batches
// into tokens and tokens into statements.
//
// The parser knows syntax only. It resolves no names, checks no types and
// never looks at a catalogue, so every statement of a batch can be parsed
// before the first one runs, as SQL Server does. What it cannot parse is an
// error with SQL Server's number (102 "Incorrect syntax near", 105 unclosed
// string, 156 near a keyword, and so on) and the line inside the batch.
//
// Nodes are immutable after parsing: a parsed batch may be cached by its text
// and run by several sessions at once. Recursion is bounded, so no input can
// exhaust the stack.
//
// The grammar follows the Transact-SQL reference of Microsoft's documentation
// (https://learn.microsoft.com/sql/t-sql/language-reference).
package tsql
