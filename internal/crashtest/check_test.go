package crashtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ev is an event of table a, at a place in the stream.
func ev(n int, kind, op, key, value string) Event {
	return Event{Kind: kind, Op: op, Database: "db", Table: "a", Key: key, Position: fmt.Sprintf("%08d/1/2/3/4", n), Value: value}
}

// Each of these mistakes is one that a pipeline could make.
func TestSound(t *testing.T) {
	create := ev(1, kindChange, opCreate, "k", `{"before":null,"after":{"id":1,"v":"x"}}`)
	update := ev(2, kindChange, opUpdate, "k", `{"before":{"id":1,"v":"x"},"after":{"id":1,"v":"y"}}`)
	remove := ev(3, kindChange, opDelete, "k", `{"before":{"id":1,"v":"y"},"after":null}`)
	tombstone := ev(4, kindTombstone, "", "k", "")
	numbered := ev(6, kindChange, opCreate, "n", `{"after":{"id":1},"transaction":{"id":"t","total_order":1,"data_collection_order":1}}`)
	begin := ev(5, kindTransaction, "", "", `{"status":"BEGIN","id":"t"}`)
	end := func(count int) Event {
		return ev(7, kindTransaction, "", "", fmt.Sprintf(`{"status":"END","id":"t","event_count":%d,"data_collections":[{"data_collection":"db.dbo.a","event_count":%[1]d}]}`, count))
	}
	told := ev(0, kindSchema, "", "", `{"tableChanges":[{"type":"ALTER","table":{"columns":[{"name":"id"},{"name":"v"},{"name":"w"}]}}]}`)
	require.NoError(t, sound([]Event{create, update, remove, tombstone, begin, numbered, end(1)}))
	for name, events := range map[string][]Event{
		"created twice":        {create, create},
		"changed after delete": {create, update, remove, tombstone, update},
		"an update missing":    {create, remove, tombstone},
		"no tombstone":         {create, update, remove, create},
		"a tombstone too many": {create, tombstone},
		"rolled back":          {ev(1, kindChange, opCreate, "k", `{"after":{"id":1,"v":"undone"}}`)},
		"an end that counts 2": {begin, numbered, end(2)},
		"no beginning":         {numbered, end(1)},
		"a column missing":     {told, create},
	} {
		t.Run(name, func(t *testing.T) { assert.Error(t, sound(events)) })
	}
}

func TestEvent_SameAs(t *testing.T) {
	text := `{"before":null,"after":{"id":1},"op":"c","ts_ms":%d,"ts_us":1}`
	a, b := ev(1, kindChange, opCreate, "k", fmt.Sprintf(text, 1)), ev(1, kindChange, opCreate, "k", fmt.Sprintf(text, 2))
	assert.True(t, a.sameAs(b))
	b.Value = `{"before":null,"after":{"id":2},"op":"c","ts_ms":1,"ts_us":1}`
	assert.False(t, a.sameAs(b))
}

// Shrinking finds the two steps that together make a plan fail.
func TestShrink(t *testing.T) {
	plan := NewPlan(3)
	failure := errors.New("it fails")
	fails := func(p *Plan) error {
		if p.Skip[7] || p.Skip[20] {
			return nil
		}
		return failure
	}
	small, err := Shrink(plan, failure, fails, 1000)
	require.Equal(t, failure, err)
	var left []int
	for i, s := range small.Steps {
		if _, isStart := s.(start); !isStart && !small.Skip[i] {
			left = append(left, i)
		}
	}
	assert.Equal(t, []int{7, 20}, left)
}

func TestNewPlan_IsThatOfItsSeed(t *testing.T) {
	assert.Equal(t, NewPlan(11).String(), NewPlan(11).String())
	assert.NotEqual(t, NewPlan(11).String(), NewPlan(12).String())
}
