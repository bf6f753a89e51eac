package stream

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// While the output is busy with a page, the next one of each table is read, and
// none beyond: that hides the server's time, and bounds what is held.
func TestReader_ReadsOnePageAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		a, b := f.table("a"), f.table("b")
		for i := range 6 {
			f.add(a, 10+10*i, 1, 9+10*i, opInsert, int64(i), "x")
			f.add(b, 15+10*i, 1, 14+10*i, opInsert, int64(i), "x")
		}
		var pages []int // read when a message is handed over
		sink := &fakeSink{fail: func() error {
			synctest.Wait()
			pages = append(pages, f.pages)
			return nil
		}}
		r := New(f, sink, Options{Encoder: encoder, FetchSize: 2, MaxBatchSize: 1}, State{Position: lsn.EndOf(lsnOf(1))})
		drain(t, r)
		require.Len(t, sink.messages, 12)
		// Three pages of two rows each; the third of a table is read once the
		// output comes to the second.
		assert.Equal(t, []int{4, 4, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6}, pages)
	})
}
