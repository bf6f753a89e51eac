// Package sqlserver is the only place with T-SQL: it builds every connection,
// reads the catalogue, polls for changes, and reads pages of change tables and
// of source tables.
//
// A [Server] opens connections; a [Conn] is one raw connection of the driver,
// without database/sql's pool and scanning, and serves one statement at a
// time. No statement outlives its context, and none that the server leaves
// without an answer outlives the query timeout: the server is told first, by
// an attention, and when that is not answered the connection is closed.
//
// Statement texts are constant for a given table and parameters have fixed
// types, so that the server compiles each once. Identifiers are taken from the
// catalogue as spelled there and quoted; everything else is a parameter.
//
// [Classify] says what an error means for the caller; errors that a person
// must cure are a [Problem] and bring their remedy.
package sqlserver
