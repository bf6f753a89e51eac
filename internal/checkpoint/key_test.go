package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

func TestKey(t *testing.T) {
	tests := []struct{ prefix, database, want string }{
		{"server1", "inventory", "server1.inventory"},
		{"a.b", "c", "a%2Eb.c"},
		{"a", "b.c", "a.b%2Ec"},
		{"..", "../x/y", "%2E%2E.%2E%2E%2Fx%2Fy"},
		{"s", "Größe 1", "s.Gr%C3%B6%C3%9Fe%201"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, checkpoint.Key(tt.prefix, tt.database))
	}
}

func TestKey_LongNamesFitFileNames(t *testing.T) {
	long := strings.Repeat("界", 128)
	a, b := checkpoint.Key(long, long), checkpoint.Key(long, long[:len(long)-3]+"間")
	assert.Less(t, len(a)+len(".instances.b"), 255)
	assert.NotEqual(t, a, b)
}

func TestKey_DifferentPairsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune("ab.%/~ü")), 1, 6, -1)
		p, d, q, e := name.Draw(t, "p"), name.Draw(t, "d"), name.Draw(t, "q"), name.Draw(t, "e")
		assert.Equal(t, p == q && d == e, checkpoint.Key(p, d) == checkpoint.Key(q, e))
	})
}

func TestKeyUnder(t *testing.T) {
	assert.Equal(t, "mine.inventory", checkpoint.KeyUnder("mine", "inventory"))
	assert.Equal(t, "a/b.c%2Ed", checkpoint.KeyUnder("a/b", "c.d"), "the key is a person's and stays as it is")
}
