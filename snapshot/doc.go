// Package snapshot reads the rows that tables hold when the stream begins.
//
// Tables are read one after the other, in pages ordered by their key; the
// server compares keys, in the column's own type and collation, and the last
// key of a page is carried to the next without loss. A table without a key is
// read in one scan.
//
// How far it has come is a [Progress], an immutable value handed over with
// each batch, which holds once the batch is acknowledged. Beginning again with
// a stored progress reads tables that are done no more and others from their
// last acknowledged key; a resumed snapshot is therefore no longer one point
// in time, and the stream, which begins where the snapshot began, makes up for
// it.
package snapshot
