//go:build race

package input_test

// The race detector makes everything ten times slower, and a race shows in any
// case of a matrix: the longest ones run whole without it only.
const raceDetector = true
