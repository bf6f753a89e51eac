package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// owner is an input that has begun to keep a document "d" under key "k".
type owner struct {
	claim *checkpoint.Claim
	store *checkpoint.Store
	doc   string // loaded
	found bool
}

// begin does what an input does when it starts.
func begin(cache checkpoint.Cache) (*owner, error) {
	o := &owner{claim: checkpoint.NewClaim(cache, "k.owner", checkpoint.NewOwner())}
	o.store = checkpoint.NewStore(cache, "k.d", checkpoint.StoreOptions{
		Unbegun: func() bool { return o.claim.Unbegun("d") },
		OnBegun: func(ctx context.Context) error { return o.claim.Keep(ctx, "d") },
	})
	ctx := context.Background()
	if err := o.claim.Look(ctx); err != nil {
		return nil, err
	}
	doc, found, err := o.store.Load(ctx)
	if err != nil {
		return nil, err
	}
	o.doc, o.found = string(doc), found
	var kept []string
	if found {
		kept = append(kept, "d")
	}
	return o, o.claim.Take(ctx, kept)
}

func (o *owner) save(n int) error {
	if err := o.claim.Check(context.Background()); err != nil {
		return err
	}
	return o.store.Save(context.Background(), fmt.Appendf(nil, `{"n":%d}`, n))
}

// write is one that a cache was asked for.
type write struct{ key, value string }

// A kill at any write, with any part of it done, leaves something to begin
// from: the document saved last, one that was being saved, or none as long as
// no save has ended.
func TestClaim_KilledAtAnyWrite(t *testing.T) {
	// What an input writes in its first life, and how many saves had ended
	// before each write.
	cache := newMemory()
	var writes []write
	var saved []int
	done := 0
	cache.fail(func(_ context.Context, key string, value []byte) ([]byte, error) {
		writes, saved = append(writes, write{key, string(value)}), append(saved, done)
		return value, nil
	})
	o, err := begin(cache)
	require.NoError(t, err)
	for done < 4 {
		require.NoError(t, o.save(done+1))
		done++
	}
	require.Equal(t, "k.owner", writes[0].key)
	require.Equal(t, "k.owner", writes[3].key, "the first save ends with it")

	for at, last := range writes {
		for _, cut := range []int{0, 1, len(last.value) / 2, len(last.value) - 1, len(last.value)} {
			for _, second := range []int{-1, 0, 1, 100} { // cuts of what the next life writes first
				t.Run(fmt.Sprintf("write %d cut at %d, then %d", at, cut, second), func(t *testing.T) {
					left := newMemory()
					for _, w := range writes[:at] {
						left.values[w.key] = w.value
					}
					left.values[last.key] = last.value[:cut]
					killAgain(t, left, second)
					o, err := begin(left)
					require.NoError(t, err)
					if saved[at] == 0 && !o.found {
						require.NoError(t, o.save(1), "a fresh start goes on")
						return
					}
					require.True(t, o.found)
					var n int
					_, err = fmt.Sscanf(o.doc, `{"n":%d}`, &n)
					require.NoError(t, err)
					require.GreaterOrEqual(t, n, saved[at])
					require.LessOrEqual(t, n, saved[at]+1)
				})
			}
		}
	}
}

// killAgain begins once more and is killed at the first write, which is cut.
func killAgain(t *testing.T, cache *memory, cut int) {
	t.Helper()
	if cut < 0 {
		return
	}
	cache.fail(func(_ context.Context, _ string, value []byte) ([]byte, error) {
		return value[:min(cut, len(value))], errRefused
	})
	_, err := begin(cache)
	require.ErrorIs(t, err, errRefused)
	cache.fail(nil)
}

// Where a save has ended, a damaged slot beside a missing one is damage, and so
// it is where nobody knows.
func TestClaim_DamageIsNoFreshStart(t *testing.T) {
	cache := newMemory()
	o, err := begin(cache)
	require.NoError(t, err)
	require.NoError(t, o.save(1))
	whole := maps.Clone(cache.values)
	for name, harm := range map[string]func(map[string]string){
		"kept":           func(map[string]string) {},
		"no claim":       func(v map[string]string) { delete(v, "k.owner") },
		"torn claim":     func(v map[string]string) { v["k.owner"] = v["k.owner"][:60] },
		"mangled claim":  func(v map[string]string) { v["k.owner"] = v["k.owner"][:len(v["k.owner"])-5] + `x"]}}` },
		"text of others": func(v map[string]string) { v["k.owner"] = "probe" },
	} {
		t.Run(name, func(t *testing.T) {
			cache := newMemory()
			cache.values = maps.Clone(whole)
			harm(cache.values)
			cache.values["k.d.a"] = cache.values["k.d.a"][:20]
			delete(cache.values, "k.d.b")
			_, err := begin(cache)
			var damaged *checkpoint.DamagedError
			require.ErrorAs(t, err, &damaged)
		})
	}
}

func TestClaim_NewestOwnerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemory()
		first, err := begin(cache)
		require.NoError(t, err)
		require.NoError(t, first.save(1))
		<-time.After(time.Hour)
		require.NoError(t, first.save(2), "alone it stays the owner")

		second, err := begin(cache)
		require.NoError(t, err)
		require.JSONEq(t, `{"n":2}`, second.doc, "nothing is waited for: the first may have crashed")
		require.NoError(t, second.save(10))

		// Within the interval the first may not have noticed; its documents do
		// not count.
		require.NoError(t, first.save(3))
		third := newMemory()
		third.values = maps.Clone(cache.values)
		o, err := begin(third)
		require.NoError(t, err)
		if o.doc != `{"n":3}` {
			require.JSONEq(t, `{"n":10}`, o.doc)
		}

		<-time.After(checkpoint.ClaimInterval)
		var taken *checkpoint.TakenError
		require.ErrorAs(t, first.save(4), &taken)
		assert.Contains(t, taken.Error(), "another input")
		assert.Contains(t, taken.Error(), taken.By.Host)
		require.ErrorAs(t, first.save(5), &taken, "and from then on")
		require.NoError(t, second.save(11))
		o, err = begin(cache)
		require.NoError(t, err)
		require.JSONEq(t, `{"n":11}`, o.doc)
	})
}

// The claim costs one read in an interval, however many saves there are.
func TestClaim_Cost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemory()
		o, err := begin(cache)
		require.NoError(t, err)
		require.NoError(t, o.save(1))
		reads, sets := 0, cache.sets
		cache.onGet = func(string) error { reads++; return nil }
		for n := range 6000 { // for ten minutes
			<-time.After(100 * time.Millisecond)
			require.NoError(t, o.save(n))
		}
		assert.InDelta(t, 600/checkpoint.ClaimInterval.Seconds(), reads, 2)
		assert.Equal(t, sets+6000, cache.sets)
	})
}

// A claim that the cache has lost is taken again by who is alive.
func TestClaim_Lost(t *testing.T) {
	for name, harm := range map[string]func(map[string]string){
		"missing": func(v map[string]string) { delete(v, "k.owner") },
		"torn":    func(v map[string]string) { v["k.owner"] = v["k.owner"][:30] },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := newMemory()
				o, err := begin(cache)
				require.NoError(t, err)
				require.NoError(t, o.save(1))
				whole := cache.values["k.owner"]
				harm(cache.values)
				<-time.After(checkpoint.ClaimInterval)
				require.NoError(t, o.save(2))
				assert.Equal(t, whole, cache.values["k.owner"])
			})
		})
	}
}

// A claim that cannot be read is no licence to overwrite.
func TestClaim_Unreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemory()
		o, err := begin(cache)
		require.NoError(t, err)
		require.NoError(t, o.save(1))
		cache.onGet = func(string) error { return errRefused }
		<-time.After(checkpoint.ClaimInterval)
		require.ErrorIs(t, o.save(2), errRefused)
		cache.onGet = nil
		require.NoError(t, o.save(2), "it was tried again, and is nobody else's")
	})
}

func TestClaim_Take(t *testing.T) {
	tests := []struct {
		name  string
		fault func(context.Context, string, []byte) ([]byte, error)
		ok    bool
		fatal bool // time does not cure it
	}{
		{"sound", nil, true, false},
		{"refuses", refuses, false, false},
		{"tears", tearsSilently, false, true},
		{"forgets", func(context.Context, string, []byte) ([]byte, error) { return nil, nil }, false, true},
		{"folder missing", func(context.Context, string, []byte) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
		}, false, true},
		{"folder read-only", func(context.Context, string, []byte) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}
		}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := newMemory()
			cache.fail(tt.fault)
			_, err := begin(cache)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "k.owner")
			var unusable *checkpoint.CacheError
			assert.Equal(t, tt.fatal, errors.As(err, &unusable))
		})
	}
}

// Two that start at the same moment do not both go on.
func TestClaim_TakenAtTheSameMoment(t *testing.T) {
	cache := newMemory()
	other := checkpoint.NewClaim(cache, "k.owner", checkpoint.NewOwner())
	once := true
	cache.onGet = func(key string) error {
		if key == "k.owner" && once && len(cache.values) == 1 {
			once = false
			cache.mu.Unlock()
			defer cache.mu.Lock()
			return other.Take(t.Context(), nil)
		}
		return nil
	}
	_, err := begin(cache)
	require.ErrorContains(t, err, "at the same moment")
	require.NoError(t, other.Check(t.Context()))
}

func TestClaim_LoadsReleasedFormats(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "owner_1.json"))
	require.NoError(t, err)
	cache := newMemory()
	cache.values["k.owner"] = string(text)
	claim := checkpoint.NewClaim(cache, "k.owner", checkpoint.NewOwner())
	require.NoError(t, claim.Look(t.Context()))
	assert.False(t, claim.Unbegun("position"))
	assert.True(t, claim.Unbegun("snapshot"))

	cache.values["k.owner"] = `{"format":99}`
	var newer *checkpoint.FormatError
	require.ErrorAs(t, claim.Look(t.Context()), &newer)
}
