package sqlserver

import (
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPageBuffer_KeepsRowsInOrder(t *testing.T) {
	for _, width := range []int{1, 5, 15, 1029} {
		for range 2 { // the second in the memory of the first
			p := newPageBuffer(width, 1<<30)
			const rows = 5000
			for i := range rows {
				slot := p.slot()
				for j := range slot {
					if slot[j] != nil {
						t.Fatal("a slot is not empty")
					}
					slot[j] = int64(i)
				}
				p.keep()
			}
			assert.Equal(t, rows*width*valueOverhead, p.bytes)
			got := p.slices()
			assert.Len(t, got, rows)
			for i, row := range got {
				assert.Len(t, row, width)
				assert.Equal(t, []driver.Value{int64(i), int64(i)}, []driver.Value{row[0], row[width-1]})
			}
			p.release()
			assert.Empty(t, p.slices())
		}
	}
}

func TestPageBuffer_EndsWithItsBytes(t *testing.T) {
	p := newPageBuffer(1, 2*valueOverhead+5)
	assert.False(t, p.full())
	for _, text := range []string{"abc", "de"} {
		assert.False(t, p.full())
		p.slot()[0] = text
		p.keep()
	}
	assert.True(t, p.full())
	assert.Equal(t, "abc", p.slices()[0][0])
}
