// Package stream reads the change tables of one database and emits their
// events in order.
//
// A [Reader] does one bounded pass at a time ([Reader.PollOnce]): it asks for
// the newest transactions, reads the change tables that have rows in them page
// by page, merges them by position, and hands batches of events to a [Sink].
// It never skips what it cannot read: an error ends the pass before the row
// that caused it, and the next pass goes on from the last event handed over.
//
// Where to go on is a [State]. Its position is exclusive: the event at it has
// been delivered. Reading starts again at the position's transaction and skips
// exactly the events up to it.
package stream
