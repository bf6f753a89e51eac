// Package checkpoint keeps the promise that nothing unacknowledged is ever
// recorded as delivered, and that what is recorded survives.
//
// A [Tracker] turns acknowledgements, which arrive in any order or never, into
// the highest mark before which everything is acknowledged. A [Committer]
// writes such marks one at a time, newest first, and never backwards. A
// [Store] keeps one document in a key-value cache in two slots written in
// turn, so that a torn write costs a few duplicates and never the position.
package checkpoint
