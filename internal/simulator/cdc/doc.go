// Package cdc is the simulator's change data capture: the stored procedures
// that enable it, the capture job that reads the transaction log into change
// tables, the cleanup job, and the functions and views that clients read.
//
// All state is durable because it lives in ordinary tables of the database
// (cdc.change_tables, cdc.<instance>_CT and so on), in msdb.dbo.cdc_jobs, and
// in one document that says how far the log was read. A scan commits its
// change rows, its mapping rows and that document together, so no row ever
// appears at or below an LSN that a reader has seen as the maximum.
//
// The rules follow Microsoft's documentation of the system tables and
// procedures (https://learn.microsoft.com/sql/relational-databases/system-tables
// and /system-stored-procedures) and, where it is silent, recorded rows of real
// servers; the places name their source.
//
// A change in the log becomes rows like this:
//
//   - an insert is operation 2, a delete 1, an update 3 (before) and 4 (after);
//   - a delete and an insert that the log marks as the halves of one deferred
//     update share the delete's sequence value;
//   - command ids count the changes of a transaction over all instances;
//   - an update that leaves every captured column as it was writes nothing.
package cdc
