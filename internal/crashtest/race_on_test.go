//go:build race

package crashtest_test

// The race detector makes everything ten times slower, and a race shows in any
// plan.
const defaultSeeds = 5
