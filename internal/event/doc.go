// Package event turns change rows into the messages that Debezium's SQL Server
// connector emits: keys, envelopes, tombstones and their metadata.
//
// An [Encoder] belongs to one table version. It appends messages to a [Batch],
// whose one arena of bytes holds all keys and values; a batch is handed over
// whole, and its arena never reused.
package event
