//go:build !race

package crashtest_test

const defaultSeeds = 50
