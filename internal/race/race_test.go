package race

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEvery(t *testing.T) {
	want := []int{0, 1, 2, 3, 4, 5, 6}
	if Enabled {
		want = []int{0, 3, 6}
	}
	assert.Equal(t, want, slices.Collect(Every(7, 3)))
	assert.Empty(t, slices.Collect(Every(0, 3)))
	for range Every(7, 1) {
		break // a loop may end early
	}
}
