package stream_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// meter counts the bytes of a connection, both ways.
type meter struct {
	net.Conn
	bytes *atomic.Int64
}

// Read implements [net.Conn].
func (m meter) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.bytes.Add(int64(n))
	return n, err
}

// Write implements [net.Conn].
func (m meter) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.bytes.Add(int64(n))
	return n, err
}

// cost is what a pass sends and receives.
type cost struct{ statements, bytes int64 }

// costs measures an idle pass and one in which three of some captured tables
// have changed.
func costs(t *testing.T, captured int) (idle, active cost) {
	t.Helper()
	var script strings.Builder
	for i := range captured {
		fmt.Fprintf(&script, "CREATE TABLE dbo.t%d (id int PRIMARY KEY);\nEXEC sys.sp_cdc_enable_table N'dbo', N't%[1]d', @role_name = NULL;\n", i)
	}
	s := servertest.Start(t, script.String())
	var bytes atomic.Int64
	config := s.Config()
	config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := s.Dial(ctx)
		return meter{conn, &bytes}, err
	}
	server, err := sqlserver.NewServer(config)
	require.NoError(t, err)
	conn, err := server.Connect(t.Context(), "")
	require.NoError(t, err)
	defer conn.Close()
	out := &sink{}
	r := stream.New(conn, out, stream.Options{Encoder: encoder}, stream.State{})
	measured := func() cost {
		bytesBefore, before := bytes.Load(), conn.Statements()
		drainReader(t, r)
		return cost{conn.Statements() - before, bytes.Load() - bytesBefore}
	}
	for round := range 2 { // the first one reads the catalogue and prepares
		s.Change(t, fmt.Sprintf("INSERT dbo.t0 VALUES (%[1]d); INSERT dbo.t4 VALUES (%[1]d); INSERT dbo.t9 VALUES (%[1]d);", round))
		active = measured()
	}
	require.Len(t, out.messages, 6)
	return measured(), active
}

// What a pass costs depends on what has changed, not on how many tables are
// captured.
func TestPass_CostsTheSameForAnyNumberOfTables(t *testing.T) {
	fewIdle, fewActive := costs(t, 10)
	manyIdle, manyActive := costs(t, 300)
	assert.Equal(t, fewIdle, manyIdle)
	assert.Equal(t, fewActive, manyActive)
	assert.EqualValues(t, 1, manyIdle.statements)
	assert.EqualValues(t, 2+3, manyActive.statements, "a poll, which tables, and a page of each")
	t.Logf("idle %+v, three changed %+v", manyIdle, manyActive)
}
