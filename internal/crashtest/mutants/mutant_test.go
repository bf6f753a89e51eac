package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mutant whose text is gone would otherwise be noticed only when mutants are
// run.
func TestMutants_Apply(t *testing.T) {
	list, err := mutants()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			texts, err := m.apply("../../..")
			require.NoError(t, err)
			assert.NotEmpty(t, texts)
			assert.NotEmpty(t, m.about)
		})
	}
}

func TestParse(t *testing.T) {
	m, err := parse("What.\n=== a.go\none\n\ntwo\n>>>\nthree\n=== b.go\nfour\n>>>\n")
	require.NoError(t, err)
	assert.Equal(t, mutant{about: "What.", edits: []edit{{"a.go", "one\n\ntwo", "three"}, {"b.go", "four", ""}}}, m)
	_, err = parse("What.\n=== a.go\none\n")
	require.Error(t, err)
	_, err = parse("What.\n")
	require.Error(t, err)
}
