// Package lsn holds the two kinds of places in a SQL Server transaction log
// that change data capture deals in: [LSN], one log record, and [Position],
// one event among all events of a database.
//
// Both are small comparable values with a strict text form. The package
// imports the standard library only.
package lsn
