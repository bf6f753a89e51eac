// Package notice says through a pipeline's log what a database is like: once, and
// of several databases what is true of all.
package notice
