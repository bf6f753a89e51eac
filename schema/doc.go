// Package schema describes SQL Server tables and turns their values into the
// JSON that Kafka Connect's JsonConverter writes for Debezium's SQL Server
// connector.
//
// A [Table] is what the catalogue says. [Compile] turns it, once per table
// version, into a [Plan]: for each column that events carry a compiled
// encoder, its Connect schema and its default. Encoders append to a buffer and
// allocate nothing; each has a structured twin that returns the same value for
// pipelines that map rows instead of routing bytes.
//
// Driver values are those of go-mssqldb's raw rows: int64, bool, float64 (and
// float32, for a real that cannot be NULL), []byte (decimals and money as text,
// binary types, uniqueidentifier as its 16 wire bytes), string and time.Time;
// NULL is nil.
package schema
