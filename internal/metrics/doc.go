// Package metrics keeps the figures of an input: counters of what it does, how
// far behind the source a database's events are, and how long they take to be
// delivered. docs/metrics.md lists them.
package metrics
