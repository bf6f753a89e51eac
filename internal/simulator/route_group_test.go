package simulator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// The primary of an availability group sends read intent to its secondary.
func TestReadOnlyRoute_OfAnAvailabilityGroup(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE DATABASE inventory")
	_, err := s.AddSecondary(engine.ReplicaOptions{Name: "second", RoutingHost: "second", RoutingPort: 1500})
	require.NoError(t, err)
	login := withDatabase(loginMessage(0x74000004, 4096, nil), "inventory")
	_, answer := loginRaw(t, s, login)
	assert.Contains(t, answer, "LOGINACK")
	assert.NotContains(t, answer, "ENVCHANGE 20")
	login[26] |= 0x20 // ApplicationIntent=ReadOnly
	_, answer = loginRaw(t, s, login)
	assert.Contains(t, answer, `ENVCHANGE 20 protocol 0 port 1500 host "second"`)
}
