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
	m, err := parse("What.\nfrom seed 7\n=== a.go\none\n\ntwo\n>>>\nthree\n=== b.go\nfour\n>>>\n")
	require.NoError(t, err)
	assert.Equal(t, mutant{about: "What.", first: 7, edits: []edit{{"a.go", "one\n\ntwo", "three"}, {"b.go", "four", ""}}}, m)
	for name, text := range map[string]string{
		"no seed":           "What.\n=== a.go\none\n>>>\ntwo\n",
		"nothing in return": "What.\nfrom seed 7\n=== a.go\none\n",
		"no change":         "What.\nfrom seed 7\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(text)
			assert.Error(t, err)
		})
	}
}
