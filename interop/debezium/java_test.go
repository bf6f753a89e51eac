package debezium

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseJavaRelease(t *testing.T) {
	for output, want := range map[string]int{
		"openjdk version \"25.0.1\" 2025-10-21 LTS\nOpenJDK Runtime Environment": 25,
		"openjdk version \"19\" 2022-09-20":                                      19,
		"java version \"1.8.0_402\"":                                             8,
	} {
		got, err := parseJavaRelease(output)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := parseJavaRelease("command not found")
	assert.EqualError(t, err, `no version in "command not found"`)
}
