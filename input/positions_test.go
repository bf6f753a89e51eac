package input

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
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

// laterDocuments are those that say more since then.
var laterDocuments = map[string]string{
	"k.position": `{"position":"00000027:00000758:0005/00000001/00000027:00000758:0003/02/0000000000000001","by_command":true,` +
		`"witness":{"commit":"00000027:00000758:0005","ended":"2026-11-30T10:00:00.003"}}`,
	"k.instances": `{"instances":[{"schema":"dbo","table":"t","source_object_id":1,"name":"dbo_t","object_id":5,` +
		`"create_date":"2026-11-30T10:00:00Z","first_start":"00000027:00000700:0001"}],` +
		`"lineage":{"family":"3F506E55-8616-4EC3-8655-612E511372B3","fork":"D5958255-6951-4A04-BF12-EFE6601F9FC3"}}`,
}

var (
	storedWitness = witness{lsn.LSN{0, 0, 0, 0x27, 0, 0, 0x07, 0x58, 0, 5}, "2026-11-30T10:00:00.003"}
	storedLineage = sqlserver.Lineage{Family: "3F506E55-8616-4EC3-8655-612E511372B3", Fork: "D5958255-6951-4A04-BF12-EFE6601F9FC3"}
)

func TestPositions_LoadsReleasedDocuments(t *testing.T) {
	load := func(documents ...map[string]string) (mark, stream.Known, sqlserver.Lineage) {
		cache := newMemoryCache()
		for _, set := range documents {
			for key, doc := range set {
				s := checkpoint.NewStore(cache, key, checkpoint.StoreOptions{})
				_, _, err := s.Load(t.Context())
				require.NoError(t, err)
				require.NoError(t, s.Save(t.Context(), []byte(doc)))
			}
		}
		p := newPositions(cache, "k", checkpoint.NewOwner(), nil)
		got, known, err := p.load(t.Context())
		require.NoError(t, err)
		return got, known, p.lineage
	}
	wantMark, wantKnown := storedMark()
	got, known, lineage := load(storedDocuments)
	assert.Equal(t, wantMark, got)
	assert.Equal(t, wantKnown, known)
	assert.Zero(t, lineage)

	got, known, lineage = load(storedDocuments, laterDocuments)
	wantMark.witness = storedWitness
	assert.Equal(t, wantMark, got)
	assert.Equal(t, wantKnown, known)
	assert.Equal(t, storedLineage, lineage)
}

func TestPositions_SavesWhatItLoads(t *testing.T) {
	cache := newMemoryCache()
	p := newPositions(cache, "k", checkpoint.NewOwner(), nil)
	m, _, err := p.load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, mark{}, m)

	want, known := storedMark()
	want.witness, p.lineage = storedWitness, storedLineage
	require.NoError(t, p.save(t.Context(), want))
	require.NoError(t, p.saveKnown(t.Context(), known))
	documents := maps.Clone(storedDocuments)
	maps.Copy(documents, laterDocuments)
	for key, doc := range documents {
		var slot struct{ Document json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(cache.values[key+".a"]), &slot))
		assert.JSONEq(t, doc, string(slot.Document))
	}
	p = newPositions(cache, "k", checkpoint.NewOwner(), nil)
	got, gotKnown, err := p.load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, known, gotKnown)
	assert.Equal(t, storedLineage, p.lineage)
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

// Before there is a position, the progress of the snapshot has the witness; after,
// the position does.
func TestPositions_KeepsTheWitnessOfASnapshot(t *testing.T) {
	cache := newMemoryCache()
	p := newPositions(cache, "k", checkpoint.NewOwner(), nil)
	_, _, err := p.load(t.Context())
	require.NoError(t, err)
	want := mark{progress: &snapshot.Progress{Start: storedWitness.Commit}, witness: storedWitness}
	require.NoError(t, p.save(t.Context(), want))
	p = newPositions(cache, "k", checkpoint.NewOwner(), nil)
	got, _, err := p.load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)

	want = want.at(stream.Place{Position: lsn.EndOf(lsnOf(9))})
	want.progress, want.witness = &snapshot.Progress{Done: true}, witness{lsnOf(9), storedWitness.Ended}
	require.NoError(t, p.save(t.Context(), want))
	assert.Contains(t, cache.slots("k.position"), `"witness":{`)
	got, _, err = newPositions(cache, "k", checkpoint.NewOwner(), nil).load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want.witness, got.witness)
}

// The position holds that of each table that is held.
func TestPositions_KeepsHeldTables(t *testing.T) {
	cache := newMemoryCache()
	p := newPositions(cache, "k", checkpoint.NewOwner(), nil)
	_, _, err := p.load(t.Context())
	require.NoError(t, err)
	want := mark{}.at(stream.Place{
		Position: lsn.EndOf(lsnOf(9)),
		Held:     []stream.Held{{Schema: "dbo", Table: "t", SourceObjectID: 7, Position: lsn.EndOf(lsnOf(5)), ByCommand: true}},
	})
	require.NoError(t, p.save(t.Context(), want))
	assert.Contains(t, cache.slots("k.position"), `"held":[{"schema":"dbo","table":"t","source_object_id":7,"position":"`+lsn.EndOf(lsnOf(5)).String()+`","by_command":true}]`)
	got, _, err := newPositions(cache, "k", checkpoint.NewOwner(), nil).load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want.state, got.state)
	assert.NotEqual(t, got.place(), mark{}.at(stream.Place{Position: lsn.EndOf(lsnOf(9))}).place(), "late events are a progress too")
}
