// Package pace says how long to wait: between two looks for changes, and before
// reading starts again after trouble.
package pace
