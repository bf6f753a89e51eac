// Package tape records what a SQL Server answers and plays it back from
// memory, so that a benchmark measures the client alone: the server's share of
// the work has been done beforehand.
//
// A [Recorder] wraps the connections of a client to a real server or to the
// simulator. What it gathers is a [Tape]: for every request message of the
// client, byte for byte but for the transaction descriptor, the answers the
// server gave to it, in order. [Tape.Play] answers a
// request with the next of its answers, the last one again once they are used
// up (an idle poll is asked for ever). [Tape.PlaySequence] gives out the
// answers in the order they were recorded, whatever is asked: this is what a
// bare driver drains.
//
// [Tape.Spool] keeps the answers in a file instead, so that the heap is the
// client's alone.
//
// Connections must not be encrypted, and a request that was never recorded
// closes its connection with an error that quotes it.
package tape
