// Package streamtest runs the input in a Benthos stream of the test's own
// process: everything between the input and the function that takes its batches
// is Benthos's, as in production. Works inside testing/synctest.
package streamtest
