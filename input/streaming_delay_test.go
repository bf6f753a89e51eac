package input_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Between the snapshot and the first look for changes lies the delay; a stream
// that goes on after a lost connection has none.
func TestStreamingDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		begin := time.Now()
		p := startPipeline(t, server, settings{fields: "streaming_delay: 10m"})
		p.next(2)
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		<-time.After(9 * time.Minute)
		require.Empty(t, shorts(p.rest()))
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		assert.GreaterOrEqual(t, time.Since(begin), 10*time.Minute)

		server.Restart()
		change(t, server, "INSERT dbo.customers VALUES (4, N'Dan')")
		begin = time.Now()
		p.want(`c dbo.customers {"id":4,"name":"Dan"}`)
		assert.Less(t, time.Since(begin), 10*time.Minute)
	})
}
