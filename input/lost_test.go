package input

import (
	"context"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keysOf are the keys that a database of testInput has in a cache.
const keysOf = "p.db"

// without returns a copy of a cache that has lost documents.
func (c *memoryCache) without(documents ...string) *memoryCache {
	left := c.image()
	for _, d := range documents {
		maps.DeleteFunc(left.values, func(key, _ string) bool { return strings.HasPrefix(key, keysOf+"."+d) })
	}
	return left
}

// A cache that has lost the position, and keeps a proof that there was one, is not
// taken for an empty one: what was changed since would never be read.
func TestLostPosition(t *testing.T) {
	const position, snapshot, instances, owner = "position", "snapshot", "instances", "owner"
	for name, test := range map[string]struct {
		fields  string
		lost    []string
		damaged bool // fatal, until the keys are back
		begins  bool // afresh; else it goes on
		says    int  // what else is gone
	}{
		"the position and the progress":     {lost: []string{position, snapshot}, damaged: true},
		"the same, of a start without rows": {fields: "snapshot_mode: no_data", lost: []string{position, snapshot}, damaged: true},
		"all but whose they are":            {lost: []string{position, snapshot, instances}, damaged: true},
		"all but the instances":             {lost: []string{position, snapshot, owner}, damaged: true},
		"all but the progress":              {lost: []string{position, instances, owner}},
		"all but the position":              {lost: []string{snapshot, instances, owner}},
		"all":                               {lost: []string{position, snapshot, instances, owner}, begins: true},
		"the position alone":                {lost: []string{position}, says: 1},
		"the progress alone":                {lost: []string{snapshot}, says: 1},
		"the instances alone":               {lost: []string{instances}, says: 1},
		"whose they are alone":              {lost: []string{owner}},
		"the position, and whose they are":  {lost: []string{position, owner}},
		"the instances, and whose they are": {lost: []string{instances, owner}},
	} {
		inBubble(t, name, func(t *testing.T) {
			cache := newMemoryCache()
			f := &fakeServer{rows: 1, changes: 2, batch: 1}
			in := testInput(t, f, cache, test.fields)
			for range 3 {
				mustNext(t, in).accept(t)
			}
			require.NoError(t, in.Close(t.Context()))
			f.set(func(f *fakeServer) { f.changes = 3 })

			left := cache.without(test.lost...)
			in, rec := recordedInput(t, f, left, test.fields, options{})
			if !test.damaged {
				got := drain(t, in)
				require.NoError(t, in.Close(t.Context()))
				assert.Equal(t, test.says, rec.logged("WARN Cache \"offsets\" has lost key"))
				assert.Equal(t, test.begins, got[0] == 0, "numbers: %v", got)
				assert.Equal(t, 3, got[len(got)-1])
				return
			}
			defer func() { require.NoError(t, in.Close(t.Context())) }()
			before := left.image().values
			err := in.Connect(t.Context())
			assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{checkpoint_damaged,db}"))
			assert.Equal(t, before, left.image().values, "the proof stays")
			require.ErrorContains(t, err, "has lost the position")
			require.ErrorContains(t, err, `To start afresh, with a new snapshot: stop the pipeline and remove the keys "p.db.position.a"`)
			require.ErrorContains(t, err, `"p.db.owner"`)

			left.mu.Lock()
			maps.Copy(left.values, cache.image().values)
			left.mu.Unlock()
			<-time.After(2 * time.Minute)
			assert.Equal(t, []int{3}, mustNext(t, in).numbers(t), "with the keys restored it goes on")
		})
	}
}

// The progress of a snapshot under way is all that tells where the stream begins:
// rows of it may have been deleted since.
func TestLostPosition_InTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 3, batch: 1}
		in := testInput(t, f, cache, "")
		mustNext(t, in).accept(t)
		require.NoError(t, in.Close(t.Context()))
		in = testInput(t, f, cache.without("snapshot"), "")
		require.ErrorContains(t, in.Connect(t.Context()), "has lost the position")
		require.NoError(t, in.Close(t.Context()))
	})
}

// A first start that is killed before its start is saved leaves no proof of one,
// whatever else it has saved.
func TestLostPosition_FirstStartKilled(t *testing.T) {
	for name, owner := range map[string]func(text string) string{
		"whose they are is whole": func(text string) string { return text },
		"and torn":                func(text string) string { return text[:len(text)/2] },
		"and empty":               func(string) string { return "" },
	} {
		inBubble(t, name, func(t *testing.T) {
			cache := newMemoryCache()
			f := &fakeServer{rows: 1, batch: 1}
			cache.fail(func(_ context.Context, key string) error {
				if strings.Contains(key, ".snapshot") {
					return errBroken
				}
				return nil
			}, nil)
			in := testInput(t, f, cache, "")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.Error(t, in.Connect(ctx))
			left := crash(in, cache)
			synctest.Wait()
			require.NotEmpty(t, left.slots(keysOf+".instances"))
			left.values[keysOf+".owner"] = owner(left.values[keysOf+".owner"])
			in = testInput(t, f, left, "")
			assert.Equal(t, []int{0}, drain(t, in))
			require.NoError(t, in.Close(t.Context()))
		})
	}
}
