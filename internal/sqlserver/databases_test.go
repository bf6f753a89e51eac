package sqlserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
)

func TestDatabases(t *testing.T) {
	s := servertest.Start(t, "")
	require.NoError(t, s.Server.Exec("CREATE DATABASE [Étage 2]"))
	list, err := s.Connect(t).Databases(t.Context())
	require.NoError(t, err)
	assert.Contains(t, list, sqlserver.DatabaseEntry{Name: servertest.Database, CDCEnabled: true})
	assert.Contains(t, list, sqlserver.DatabaseEntry{Name: "Étage 2"})
	assert.Contains(t, list, sqlserver.DatabaseEntry{Name: "master"})
}
