package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// loadedStore returns a store that has loaded what the cache holds.
func loadedStore(t require.TestingT, cache checkpoint.Cache) *checkpoint.Store {
	s := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{})
	_, _, err := s.Load(context.Background())
	require.NoError(t, err)
	return s
}

func TestStore_FreshStart(t *testing.T) {
	cache := newMemory()
	s := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{})
	doc, found, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.False(t, found)
	assert.Nil(t, doc)
}

func TestStore_FirstSaveWritesBothSlots(t *testing.T) {
	cache := newMemory()
	require.NoError(t, loadedStore(t, cache).Save(t.Context(), []byte(`{"n":1}`)))
	assert.Contains(t, cache.values, "k.a")
	assert.Contains(t, cache.values, "k.b")
}

func TestStore_SavesInTurn(t *testing.T) {
	cache := newMemory()
	s := loadedStore(t, cache)
	require.NoError(t, s.Save(t.Context(), []byte(`{"n":1}`)))
	for n := 2; n < 6; n++ {
		before := map[string]string{"k.a": cache.values["k.a"], "k.b": cache.values["k.b"]}
		require.NoError(t, s.Save(t.Context(), fmt.Appendf(nil, `{"n":%d}`, n)))
		changed := 0
		for key, value := range before {
			if cache.values[key] != value {
				changed++
			}
		}
		assert.Equal(t, 1, changed)
		doc, found, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
		require.NoError(t, err)
		assert.True(t, found)
		assert.JSONEq(t, fmt.Sprintf(`{"n":%d}`, n), string(doc))
	}
}

func TestStore_NewOwnerGoesOn(t *testing.T) {
	cache := newMemory()
	for n := range 5 {
		require.NoError(t, loadedStore(t, cache).Save(t.Context(), fmt.Appendf(nil, `{"n":%d}`, n)))
	}
	doc, _, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
	require.NoError(t, err)
	assert.JSONEq(t, `{"n":4}`, string(doc))
}

func TestStore_FailedWrites(t *testing.T) {
	faults := map[string]func(context.Context, string, []byte) ([]byte, error){
		"refuses": refuses, "empties": empties, "tears": tears, "mangles": mangles, "hangs": hangs,
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			cache := newMemory()
			s := loadedStore(t, cache)
			require.NoError(t, s.Save(t.Context(), []byte(`{"n":1}`)))
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // ends the hang
			cache.fail(fault)
			// However often it fails, the document saved before is there.
			for range 3 {
				require.Error(t, s.Save(ctx, []byte(`{"n":2}`)))
				doc, found, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
				require.NoError(t, err)
				require.True(t, found)
				require.JSONEq(t, `{"n":1}`, string(doc))
			}
			cache.fail(nil)
			require.NoError(t, s.Save(t.Context(), []byte(`{"n":3}`)))
			doc, _, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
			require.NoError(t, err)
			require.JSONEq(t, `{"n":3}`, string(doc))
		})
	}
}

func TestStore_TornSlotIsReported(t *testing.T) {
	cache := newMemory()
	s := loadedStore(t, cache)
	require.NoError(t, s.Save(t.Context(), []byte(`{"n":1}`)))
	cache.fail(tearsSilently)
	require.NoError(t, s.Save(t.Context(), []byte(`{"n":2}`)))

	var damaged []string
	again := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{OnDamage: func(key string, problem error) {
		damaged = append(damaged, key)
		assert.Error(t, problem)
	}})
	doc, found, err := again.Load(t.Context())
	require.NoError(t, err)
	assert.True(t, found)
	assert.JSONEq(t, `{"n":1}`, string(doc))
	assert.Len(t, damaged, 1)
}

// What a kill leaves while a slot is written is told from what it does not.
func TestStore_SaysWhatAKillLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(text string) string
		want string
	}{
		"empty":   {func(string) string { return "" }, "it is empty, as a kill"},
		"cut":     {func(text string) string { return text[:len(text)/2] }, "it is cut short, as a kill"},
		"mangled": {func(text string) string { return strings.Replace(text, ":", ";", 1) }, "parsing JSON"},
		"another": {func(text string) string { return strings.Replace(text, `"n":2`, `"n":3`, 1) }, "the checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			cache := newMemory()
			s := loadedStore(t, cache)
			require.NoError(t, s.Save(t.Context(), []byte(`{"n":1}`)))
			require.NoError(t, s.Save(t.Context(), []byte(`{"n":2}`)))
			cache.values["k.a"] = test.harm(cache.values["k.a"])
			var said string
			_, found, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{OnDamage: func(key string, problem error) {
				said = key + ": " + problem.Error()
			}}).Load(t.Context())
			require.NoError(t, err)
			assert.True(t, found)
			assert.Contains(t, said, "k.a: "+test.want)
		})
	}
}

func TestStore_DamageIsNeverAFreshStart(t *testing.T) {
	sound := func(t *testing.T) string {
		cache := newMemory()
		require.NoError(t, loadedStore(t, cache).Save(t.Context(), []byte(`{"n":1}`)))
		return cache.values["k.a"]
	}(t)
	tests := []struct {
		name   string
		values map[string]string
	}{
		{"both empty", map[string]string{"k.a": "", "k.b": ""}},
		{"one empty, one missing", map[string]string{"k.a": ""}},
		{"one torn, one missing", map[string]string{"k.b": sound[:len(sound)/2]}},
		{"both torn", map[string]string{"k.a": sound[:40], "k.b": sound[:len(sound)-1]}},
		{"checksum of another document", map[string]string{"k.a": strings.Replace(sound, `"n":1`, `"n":2`, 1), "k.b": ""}},
		{"foreign JSON", map[string]string{"k.a": `{}`, "k.b": `[]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := newMemory()
			cache.values = tt.values
			_, _, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{WithoutIt: "all is lost"}).Load(t.Context())
			var damaged *checkpoint.DamagedError
			require.ErrorAs(t, err, &damaged)
			assert.Equal(t, []string{"k.a", "k.b"}, damaged.Keys)
			assert.Contains(t, err.Error(), `"k.a"`)
			assert.Contains(t, err.Error(), `or start afresh; with only "k.a" and "k.b" removed, all is lost`)
		})
	}
}

func TestStore_ReadErrorIsNeverAFreshStart(t *testing.T) {
	for _, broken := range []string{"k.a", "k.b"} {
		cache := newMemory()
		cache.onGet = func(key string) error {
			if key == broken {
				return errRefused
			}
			return nil
		}
		_, _, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
		require.ErrorIs(t, err, errRefused)
		assert.Contains(t, err.Error(), broken)
	}
}

func TestStore_SaveNeedsLoad(t *testing.T) {
	cache := newMemory()
	require.Error(t, checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Save(t.Context(), []byte(`{}`)))
	assert.Empty(t, cache.values)
}

func TestStore_RefusesDocumentsThatAreNotJSON(t *testing.T) {
	cache := newMemory()
	require.Error(t, loadedStore(t, cache).Save(t.Context(), []byte(`{`)))
	assert.Empty(t, cache.values)
}

func TestStore_WhitespaceDoesNotCount(t *testing.T) {
	cache := newMemory()
	require.NoError(t, loadedStore(t, cache).Save(t.Context(), []byte(`{"a":"<&>"}`)))
	cache.values["k.a"] = strings.ReplaceAll(cache.values["k.a"], `,"`, ",\n  \"") + "\n"
	delete(cache.values, "k.b")
	doc, found, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
	require.NoError(t, err)
	assert.True(t, found)
	assert.JSONEq(t, `{"a":"<&>"}`, string(doc))
}

// Every format ever released stays loadable: the files are never rewritten.
func TestStore_LoadsReleasedFormats(t *testing.T) {
	for _, name := range []string{"format_1.json"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			cache := newMemory()
			cache.values["k.a"] = string(text)
			doc, found, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
			require.NoError(t, err)
			assert.True(t, found)
			assert.JSONEq(t, `{"position":"00000027:00000758:0005/00000001/00000027:00000758:0003/02/0000000000000000"}`, string(doc))
		})
	}
}

func TestStore_NewerFormatAsksForAnUpgrade(t *testing.T) {
	cache := newMemory()
	cache.values["k.a"] = `{"format":99,"something":"else"}`
	_, _, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
	var newer *checkpoint.FormatError
	require.ErrorAs(t, err, &newer)
	assert.Equal(t, &checkpoint.FormatError{Key: "k.a", Format: 99}, newer)
	assert.ErrorContains(t, err, "upgrade")
}

// Whatever goes wrong, in whatever order, loading gives the last document
// that was saved or one that was tried after it, and never an older one.
func TestStore_NeverGoesBack(t *testing.T) {
	faults := []func(context.Context, string, []byte) ([]byte, error){
		nil, nil, refuses, empties, tears, mangles, storesAndFails,
	}
	rapid.Check(t, func(t *rapid.T) {
		cache := newMemory()
		s := loadedStore(t, cache)
		saved := 0
		for n := 1; n <= 20; n++ {
			cache.fail(rapid.SampledFrom(faults).Draw(t, "fault"))
			if err := s.Save(context.Background(), fmt.Appendf(nil, `{"n":%d}`, n)); err == nil {
				saved = n
			}
			if saved == 0 {
				continue
			}
			again := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{})
			doc, found, err := again.Load(context.Background())
			require.NoError(t, err)
			require.True(t, found)
			var got int
			_, err = fmt.Sscanf(string(doc), `{"n":%d}`, &got)
			require.NoError(t, err)
			require.GreaterOrEqual(t, got, saved)
			require.LessOrEqual(t, got, n)
			if rapid.Bool().Draw(t, "restart") {
				s, saved = again, got
			}
		}
	})
}

func FuzzStore_Load(f *testing.F) {
	sound, err := os.ReadFile(filepath.Join("testdata", "format_1.json"))
	require.NoError(f, err)
	f.Add(string(sound))
	f.Add(string(sound[:len(sound)-1]))
	f.Add("")
	f.Add(`{"format":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		cache := newMemory()
		cache.values["k.a"] = text
		doc, found, err := checkpoint.NewStore(cache, "k", checkpoint.StoreOptions{}).Load(t.Context())
		if err != nil {
			return
		}
		require.True(t, found, "a value is never a fresh start")
		require.NoError(t, loadedStore(t, cache).Save(t.Context(), doc), "what loads can be saved")
	})
}
