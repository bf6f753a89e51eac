// Package sqltypes is the type system of the simulated server: SQL Server's data
// types, values, collations, comparisons, conversions and operators, with the
// server's own errors. It knows nothing of tables, statements or the wire.
//
// A [Value] says what is held, a [Type] how it is to be read: the same text value
// orders differently under two collations, so every operation takes both. The zero
// Value is NULL.
package sqltypes
