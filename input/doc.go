// Package input is the Benthos input sqlserver_cdc: the changes of SQL Server
// tables, read from change data capture, as the messages that Debezium's SQL
// Server connector emits.
//
// Importing the package registers the input with the global Benthos
// environment; [Register] serves isolated ones.
//
// # Guarantees
//
// Messages leave in the order of the transaction log. A position is saved only
// when every message up to it is acknowledged, and reading resumes right after
// the saved position, inside a transaction too: a crash repeats what was not
// acknowledged and loses nothing. A rejected message ends the session and
// reading restarts from the saved position, so that the last message of a key
// is always its newest state.
package input
