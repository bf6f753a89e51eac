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

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
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

// A quickstart that runs keeps its folder.
func TestPrepareData_ResetWhileInUse(t *testing.T) {
	data := t.TempDir()
	dirs, err := prepareData(data, false)
	require.NoError(t, err)
	position := filepath.Join(dirs.offsets, "position")
	require.NoError(t, os.WriteFile(position, nil, 0o600))
	server, err := simulator.New(simulator.Options{Dir: dirs.server})
	require.NoError(t, err)

	_, err = prepareData(data, true)
	require.ErrorIs(t, err, storage.ErrDirInUse)
	assert.DirExists(t, dirs.server)
	assert.FileExists(t, position)

	require.NoError(t, server.Close())
	_, err = prepareData(data, true)
	require.NoError(t, err)
	assert.NoDirExists(t, dirs.server)
	assert.NoFileExists(t, position)
}

// A folder that no server can read any more is what a reset is for.
func TestPrepareData_ResetOfADamagedServer(t *testing.T) {
	data := t.TempDir()
	dirs, err := prepareData(data, false)
	require.NoError(t, err)
	server, err := simulator.New(simulator.Options{Dir: dirs.server})
	require.NoError(t, err)
	require.NoError(t, server.Close())
	files, err := filepath.Glob(filepath.Join(dirs.server, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.NoError(t, os.WriteFile(file, []byte("damaged"), 0o600))
	}
	_, err = prepareData(data, true)
	require.NoError(t, err)
	assert.NoDirExists(t, dirs.server)
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
	err := runSimulator(t.Context(), simulatorOptions{exec: "SELECT 1"}, io.Discard, io.Discard)
	require.ErrorContains(t, err, "--data")
}

func TestRunSimulator_MissingInit(t *testing.T) {
	err := runSimulator(t.Context(), simulatorOptions{init: filepath.Join(t.TempDir(), "none.sql")}, io.Discard, io.Discard)
	require.ErrorContains(t, err, "--init")
}
