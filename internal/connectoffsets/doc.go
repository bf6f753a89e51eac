// Package connectoffsets reads the offsets that Kafka Connect and Debezium's
// engine have stored for connectors of Debezium's for SQL Server: how far each
// database has been read.
package connectoffsets
