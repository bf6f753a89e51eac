// Package capturejob judges what is seen of the capture job of a database:
// whether its silence is peace, or a job that stands still.
package capturejob
