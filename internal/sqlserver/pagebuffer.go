package sqlserver

import "database/sql/driver"

// Rows of a page share blocks of values, of at most this many rows: a page of
// few rows stays small, and many rows cost few allocations.
const (
	firstBlock = 16
	lastBlock  = 512
)

// Bytes that a value takes beside its content: its interface, and the box
// behind it.
const valueOverhead = 32

// pageBuffer collects the rows of a page and counts their bytes.
type pageBuffer struct {
	width    int
	maxBytes int
	bytes    int
	rows     [][]driver.Value
	block    []driver.Value // the rest of the present block
	size     int            // rows of the present block
}

func newPageBuffer(width, maxBytes int) *pageBuffer {
	return &pageBuffer{width: width, maxBytes: maxBytes, size: firstBlock / 2}
}

// slot returns where the next row goes. It is the same until keep.
func (p *pageBuffer) slot() []driver.Value {
	if len(p.block) < p.width {
		p.size = min(2*p.size, lastBlock)
		p.block = make([]driver.Value, p.size*p.width)
	}
	return p.block[:p.width:p.width]
}

// keep makes the slot a row of the page.
func (p *pageBuffer) keep() {
	row := p.block[:p.width:p.width]
	p.block = p.block[p.width:]
	p.rows = append(p.rows, row)
	p.bytes += rowBytes(row)
}

// full reports whether the page holds as many bytes as it may.
func (p *pageBuffer) full() bool { return p.bytes >= p.maxBytes && len(p.rows) > 0 }

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
