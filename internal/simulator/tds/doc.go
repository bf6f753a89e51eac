// Package tds encodes and decodes the server side of the Tabular Data Stream
// protocol, version 7.4 (and 8.0, which is 7.4 inside TLS), as Microsoft's
// open specification MS-TDS describes it.
//
// The package is a codec: it knows bytes, io.Reader and io.Writer, never
// sockets, sessions or SQL. Requests of a client are parsed from whole
// messages ([ParsePrelogin], [ParseLogin7], [ParseSQLBatch], [ParseRPC],
// [ParseTransactionRequest]); responses are built from functions that append
// one token to a byte slice ([AppendDone], [AppendColMetadata], ...). Rows
// are the hot path: [NewRowEncoder] compiles one append function per column,
// and encoding a row allocates nothing.
package tds
