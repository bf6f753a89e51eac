// Package debeziumconfig translates the configuration of Debezium's SQL Server
// connector, versions 1.x to 3.x, into that of the input sqlserver_cdc.
//
// [Read] takes a connector's file apart, [Translate] finds the field for each
// property and notes what it cannot carry over, and [Result.YAML] writes a whole
// pipeline with the notes as comments. What the input offers is asked of its
// specification, so that a field which the tables here know is used as soon as
// the input has it.
//
// Names, defaults and their history follow Debezium's documentation of the SQL
// Server connector, of its releases 1.0, 1.9 and 3.6, and the list of changes
// from 1.x to 2.x that Confluent keeps ("Backward Incompatible Changes in
// Debezium CDC V2 Connectors").
package debeziumconfig
