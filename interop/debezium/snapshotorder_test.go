package debezium

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSortSnapshot(t *testing.T) {
	row := func(topic, key string) Record { return record(topic, key, `{"op":"r","after":{}}`) }
	other := record("p.a", `{"id":0}`, `{"op":"c","after":{}}`)
	a1, a2, b1 := row("p.a", `{"id":1}`), row("p.a", `{"id":2}`), row("p.b", `{"id":1}`)
	assert.Equal(t, []Record{a1, a2, b1, other, a1, b1}, SortSnapshot([]Record{b1, a2, a1, other, b1, a1}))
	assert.Equal(t, []Record{other}, SortSnapshot([]Record{other}))
	assert.Empty(t, SortSnapshot(nil))
}
