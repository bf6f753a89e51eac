package sqlserver

import (
	"database/sql/driver"
	"iter"
	"sync"
)

// Rows of a page share blocks of values. The first ones are small and of a few
// rows, so that a page of few rows stays small; all others are of one size,
// whatever the width of a row, so that they can be used again.
const (
	firstBlock  = 16      // rows
	blockValues = 8 << 10 // more than the 1,024 columns a table may have
)

// blocks holds cleared blocks of blockValues.
var blocks sync.Pool // of *[]driver.Value

// Bytes that a value takes beside its content: its interface, and the box
// behind it.
const valueOverhead = 32

// pageBuffer collects the rows of a page and counts their bytes.
type pageBuffer struct {
	width    int
	maxBytes int
	bytes    int
	count    int
	blocks   [][]driver.Value
	used     int // values of the last block
}

func newPageBuffer(width, maxBytes int) *pageBuffer {
	return &pageBuffer{width: width, maxBytes: maxBytes}
}

// slot returns where the next row goes. It is the same until keep.
func (p *pageBuffer) slot() []driver.Value {
	if last := len(p.blocks) - 1; last < 0 || len(p.blocks[last])-p.used < p.width {
		p.blocks = append(p.blocks, p.block())
		p.used = 0
	}
	return p.blocks[len(p.blocks)-1][p.used : p.used+p.width : p.used+p.width]
}

// block returns a new block, twice as large as all before it together up to
// the greatest size.
func (p *pageBuffer) block() []driver.Value {
	size := max(firstBlock, 2*p.count) * p.width
	if size < blockValues {
		return make([]driver.Value, size)
	}
	if b, ok := blocks.Get().(*[]driver.Value); ok {
		return *b
	}
	return make([]driver.Value, blockValues)
}

// keep makes the slot a row of the page.
func (p *pageBuffer) keep() {
	p.bytes += rowBytes(p.slot())
	p.used += p.width
	p.count++
}

// full reports whether the page holds as many bytes as it may.
func (p *pageBuffer) full() bool { return p.bytes >= p.maxBytes && p.count > 0 }

// rows returns the rows with their numbers, in order.
func (p *pageBuffer) rows() iter.Seq2[int, []driver.Value] {
	return func(yield func(int, []driver.Value) bool) {
		i := 0
		for _, block := range p.blocks {
			for ; len(block) >= p.width && i < p.count; i++ {
				if !yield(i, block[:p.width:p.width]) {
					return
				}
				block = block[p.width:]
			}
		}
	}
}

// slices returns the rows as a slice.
func (p *pageBuffer) slices() [][]driver.Value {
	out := make([][]driver.Value, p.count)
	for i, row := range p.rows() {
		out[i] = row
	}
	return out
}

// release gives back the blocks, which nobody may use any more. All are
// cleared, so that such a use shows in small pages too.
func (p *pageBuffer) release() {
	for _, b := range p.blocks {
		clear(b)
		if len(b) == blockValues {
			blocks.Put(&b)
		}
	}
	p.blocks, p.count = nil, 0
}

func rowBytes(row []driver.Value) int {
	n := len(row) * valueOverhead
	for _, v := range row {
		switch v := v.(type) {
		case []byte:
			n += len(v)
		case string:
			n += len(v)
		}
	}
	return n
}
