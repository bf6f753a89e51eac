package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrepareData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	dirs, err := prepareData(data, false)
	require.NoError(t, err)
	assert.False(t, dirs.resumed)
	assert.DirExists(t, dirs.offsets)
	ignore, err := os.ReadFile(filepath.Join(data, ".gitignore"))
	require.NoError(t, err)
	assert.Equal(t, "*\n", string(ignore))

	position := filepath.Join(dirs.offsets, "position")
	require.NoError(t, os.WriteFile(position, nil, 0o600))
	own := filepath.Join(data, "mine")
	require.NoError(t, os.WriteFile(own, nil, 0o600))
	dirs, err = prepareData(data, false)
	require.NoError(t, err)
	assert.True(t, dirs.resumed)

	dirs, err = prepareData(data, true)
	require.NoError(t, err)
	assert.False(t, dirs.resumed)
	assert.NoFileExists(t, position)
	assert.FileExists(t, own, "only what the quickstart made is removed")
}

func TestRunAll_FirstToEndCancelsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := runAll(ctx, cancel, []func(context.Context) error{
		func(ctx context.Context) error { <-ctx.Done(); return nil },
		func(context.Context) error { return broken },
	})
	require.ErrorIs(t, err, broken)
}

func TestRunSimulator_ExecNeedsData(t *testing.T) {
	err := runSimulator(t.Context(), simulatorOptions{exec: "SELECT 1"}, io.Discard)
	require.ErrorContains(t, err, "--data")
}

func TestRunSimulator_MissingInit(t *testing.T) {
	err := runSimulator(t.Context(), simulatorOptions{init: filepath.Join(t.TempDir(), "none.sql")}, io.Discard)
	require.ErrorContains(t, err, "--init")
}
