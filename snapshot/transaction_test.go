package snapshot

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deadNetwork is a server that does not answer when a transaction is ended.
type deadNetwork struct{ *fakeServer }

func (d deadNetwork) End(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A snapshot that is given up ends its transaction, and waits for that no longer
// than it takes to see that the server does not answer.
func TestSnapshotter_GivenUpOnADeadNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		var begin time.Time
		sink := &fakeSink{block: func() {
			begin = time.Now()
			cancel(stopped)
		}}
		err := New(deadNetwork{f}, Options{Tables: []Table{f.table("a", 20, false)}, FetchSize: 2, MaxBatchSize: 2, Encoder: encoder}, nil).Run(ctx, sink)
		require.ErrorIs(t, err, stopped)
		assert.Equal(t, endTimeout, time.Since(begin))
	})
}
