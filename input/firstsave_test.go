package input

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Killed at any write of its first life, with any part of it done, an input goes
// on by itself and delivers everything that was not acknowledged: a first save
// that was torn is no damage.
func TestFirstSave_KilledAtAnyWrite(t *testing.T) {
	const rows, changes = 2, 2
	type write struct {
		key, value   string
		acknowledged int
	}
	var writes []write
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		acknowledged := 0
		in := testInput(t, &fakeServer{rows: rows, changes: changes, batch: 1}, recordingCache{cache, func(key, value string) {
			writes = append(writes, write{key, value, acknowledged})
		}}, "")
		for range rows + changes {
			d := mustNext(t, in)
			synctest.Wait()
			acknowledged++
			d.accept(t)
			synctest.Wait()
		}
		require.NoError(t, in.Close(t.Context()))
	})
	require.GreaterOrEqual(t, len(writes), 8, "the documents, and whose they are")
	for at, last := range writes {
		for _, cut := range []int{0, len(last.value) / 2, len(last.value) - 1} {
			inBubble(t, fmt.Sprintf("write %d of %s cut at %d", at, last.key, cut), func(t *testing.T) {
				left := newMemoryCache()
				for _, w := range writes[:at] {
					left.values[w.key] = w.value
				}
				left.values[last.key] = last.value[:cut]
				in := testInput(t, &fakeServer{rows: rows, changes: changes, batch: 1}, left, "")
				got := drain(t, in)
				require.NoError(t, in.Close(t.Context()))
				for n := last.acknowledged; n < rows+changes; n++ {
					assert.Contains(t, got, n)
				}
			})
		}
	}
}

// recordingCache tells of each write.
type recordingCache struct {
	*memoryCache
	wrote func(key, value string)
}

func (c recordingCache) Set(ctx context.Context, key string, value []byte) error {
	c.wrote(key, string(value))
	return c.memoryCache.Set(ctx, key, value)
}
