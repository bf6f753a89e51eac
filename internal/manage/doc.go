// Package manage makes and drops capture instances for an input that was asked
// to (capture_instances: manage).
//
// What is to be done to a table is a pure function of what the catalogue says of
// it, [Decide]: nothing is remembered that a crash could lose. Whose an instance
// is, its name tells, see [Owner]: one that this input did not make is never
// dropped. Each step is one statement that happens as a whole or not at all, and
// that does nothing if somebody else was quicker.
//
// [Manager] looks, decides and runs the statements, over a connection of its own
// and at its own pace: reading never waits for the lock of a busy table, and no
// values of a new column are lost because an output is slow. Nothing that fails
// here ends the reading: then a table stays as it is, with a warning.
package manage
