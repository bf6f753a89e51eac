// Package startposition finds where a stream begins that is told to: at an LSN,
// at a time, or at the earliest change that the change tables hold.
package startposition
