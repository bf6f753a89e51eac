package storage

import "sync"

// The log's geometry. Real servers write records into blocks of up to 60 KB that are
// flushed at each commit, number blocks in units of 512 bytes and align them to 4 KB
// sectors; recorded change tables show blocks 0x580, 0x588, 0x590 for three commits in
// a row, with the row's record a few slots before its commit. A virtual log file (VLF)
// that is full is followed by the next number.
const (
	firstVLF      = 0x25
	firstBlock    = 0x10
	sectorSize    = 4096
	sectorUnits   = sectorSize / 512
	maxBlockBytes = 60 << 10
	vlfUnits      = 64 << 20 / 512

	blockHeaderSize  = 72
	beginRecordSize  = 124
	commitRecordSize = 84
	rowRecordSize    = 96 // without the row's values
)

// lsnAllocator hands out LSNs in increasing order. mu is a leaf.
type lsnAllocator struct {
	mu    sync.Mutex
	vlf   uint32
	block uint32
	slot  uint16 // last slot used in the block
	bytes int    // used in the block
	last  LSN    // newest commit LSN
}

func newLSNAllocator() *lsnAllocator { return &lsnAllocator{vlf: firstVLF, block: firstBlock} }

// next returns the LSN of a record of size bytes.
func (a *lsnAllocator) next(size int) LSN {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nextLocked(size)
}

func (a *lsnAllocator) nextLocked(size int) LSN {
	if a.slot > 0 && a.bytes+size > maxBlockBytes {
		a.flush()
	}
	if a.slot == 0 {
		a.bytes = blockHeaderSize
	}
	a.slot++
	a.bytes += size
	return MakeLSN(a.vlf, a.block, a.slot)
}

// commit returns the LSN of a commit record, after which the block is flushed.
func (a *lsnAllocator) commit() LSN {
	a.mu.Lock()
	defer a.mu.Unlock()
	lsn := a.nextLocked(commitRecordSize)
	a.flush()
	a.last = lsn
	return lsn
}

// flush ends the block.
func (a *lsnAllocator) flush() {
	sectors := max(1, (a.bytes+sectorSize-1)/sectorSize)
	a.block += uint32(sectors) * sectorUnits
	a.slot, a.bytes = 0, 0
	if a.block >= vlfUnits {
		a.vlf++
		a.block = firstBlock
	}
}

// after makes all later LSNs greater than lsn, the newest commit.
func (a *lsnAllocator) after(lsn LSN) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if lsn.Compare(a.last) <= 0 {
		return
	}
	a.last = lsn
	a.vlf, a.block, _ = lsn.Parts()
	a.flush()
}

func (a *lsnAllocator) lastCommit() LSN {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// rowSize estimates the bytes of a row in the log.
func rowSize(row Row) int {
	n := 9 * len(row)
	for i := range row {
		n += len(row[i].Raw())
	}
	return n
}
