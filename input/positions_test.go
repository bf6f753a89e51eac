package input

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// storedDocuments are documents as the first release writes them. They are
// never changed: every release must load them.
var storedDocuments = map[string]string{
	"k.position": `{"position":"00000027:00000758:0005/00000001/00000027:00000758:0003/02/0000000000000001","by_command":true}`,
	"k.snapshot": `{"start":"00000027:00000750:0001","next_ordinal":1099511627776,"done":true,` +
		`"tables":{"[dbo].[t]":{"done":true,"object_id":1},"[dbo].[u]":{"done":false,"object_id":2,"key":"id int","after":["7"]}}}`,
	"k.instances": `{"instances":[{"schema":"dbo","table":"t","source_object_id":1,"name":"dbo_t","object_id":5,` +
		`"create_date":"2026-11-30T10:00:00Z","first_start":"00000027:00000700:0001"}]}`,
}

func storedMark() (mark, stream.Known) {
	change := lsn.LSN{0, 0, 0, 0x27, 0, 0, 0x07, 0x58, 0, 3}
	commit := lsn.LSN{0, 0, 0, 0x27, 0, 0, 0x07, 0x58, 0, 5}
	m := mark{
		progress: &snapshot.Progress{
			Start: lsn.LSN{0, 0, 0, 0x27, 0, 0, 0x07, 0x50, 0, 1}, NextOrdinal: 1 << 40, Done: true,
			Tables: map[string]snapshot.TableProgress{
				"[dbo].[t]": {Done: true, ObjectID: 1},
				"[dbo].[u]": {ObjectID: 2, Key: "id int", After: []string{"7"}},
			},
		},
		streaming: true,
		state: stream.State{
			Position:  lsn.Position{Commit: commit, Command: 1, Change: change, Operation: 2, Ordinal: 1},
			ByCommand: true,
		},
	}
	instances := []stream.InstanceIdentity{{
		Schema: "dbo", Table: "t", SourceObjectID: 1, Name: "dbo_t", ObjectID: 5,
		CreateDate: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC),
		FirstStart: lsn.LSN{0, 0, 0, 0x27, 0, 0, 0x07, 0, 0, 1},
	}}
	return m, stream.Known{Instances: instances}
}

func TestPositions_LoadsReleasedDocuments(t *testing.T) {
	cache := newMemoryCache()
	for key, doc := range storedDocuments {
		s := checkpoint.NewStore(cache, key, checkpoint.StoreOptions{})
		_, _, err := s.Load(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Save(t.Context(), []byte(doc)))
	}
	got, known, err := newPositions(cache, "k", checkpoint.NewOwner(), nil).load(t.Context())
	require.NoError(t, err)
	wantMark, wantKnown := storedMark()
	assert.Equal(t, wantMark, got)
	assert.Equal(t, wantKnown, known)
}

func TestPositions_SavesWhatItLoads(t *testing.T) {
	cache := newMemoryCache()
	p := newPositions(cache, "k", checkpoint.NewOwner(), nil)
	m, _, err := p.load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, mark{}, m)

	want, known := storedMark()
	require.NoError(t, p.save(t.Context(), want))
	require.NoError(t, p.saveKnown(t.Context(), known))
	for key, doc := range storedDocuments {
		var slot struct{ Document json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(cache.values[key+".a"]), &slot))
		assert.JSONEq(t, doc, string(slot.Document))
	}
	got, gotKnown, err := newPositions(cache, "k", checkpoint.NewOwner(), nil).load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, known, gotKnown)
}

func TestMark_Order(t *testing.T) {
	start := lsnOf(5)
	marks := []mark{
		{},
		{progress: &snapshot.Progress{Start: start}},
		{progress: &snapshot.Progress{Start: start}, ordinal: 9},
		mark{}.at(stream.Place{Position: lsn.EndOf(start)}),
		mark{}.at(stream.Place{Position: lsn.Position{Commit: lsnOf(6)}}),
		mark{}.at(stream.Place{Position: lsn.Position{Commit: lsnOf(6), Change: lsnOf(6)}}),
	}
	for i := range marks {
		for j := range marks {
			assert.Equal(t, i < j, marks[i].before(marks[j]), "%d before %d", i, j)
		}
	}
}
