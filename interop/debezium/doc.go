// Package debezium plays scenarios against Debezium's SQL Server connector.
//
// Debezium runs as published, with Microsoft's JDBC driver and Kafka's
// JsonConverter, in one JVM that serves many runs; the database is the
// simulator of this project, over TCP. Nothing of Debezium is changed or
// replaced, so what it makes of the simulator shows whether that behaves as SQL
// Server does, for reasons other than our own reading.
//
// The parts, each in a file of its own: a [Scenario] is read from a folder, a
// [Player] performs its steps against a [Server] and a [Connector], a
// [Recorder] keeps what the connector emits, [Digest] prints it for people, and
// [CheckStream] holds it against the rules that every stream obeys. [Debezium]
// is the one Connector; it runs in a [JVM].
package debezium
