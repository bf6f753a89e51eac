package storage

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// A file is a sequence of frames: magic, payload length, checksum of all that follows
// it, kind, payload.
const (
	frameMagic      = "\xd5LG1"
	frameHeaderSize = 4 + 4 + 4 + 1
	maxFrame        = 1<<31 - 1
)

// The kinds of frames.
const (
	frameHeader    = 1 // format, database id and name; always the first
	frameTxn       = 2 // a committed transaction
	frameTruncate  = 3 // TruncateLog
	frameRetention = 4 // SetLogRetention
	frameName      = 5 // RenameDatabase
	frameCounters  = 6 // counters outside of a commit
	frameState     = 7 // compaction: LSNs, transaction number, last commit time
	frameTable     = 8 // compaction: a table's definition
	frameRows      = 9 // compaction: rows of a table
	frameLogged    = 10
	// frameContinues is the continuation of a frameTxn or frameLogged.
	frameContinues = 11
	// frameMore is set in a kind whose record continues in the next frame.
	frameMore = 0x80
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// beginFrame appends a frame header that endFrame fills in.
func beginFrame(b []byte, kind byte) []byte {
	b = append(b, frameMagic...)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	return append(b, kind)
}

// endFrame completes the frame that begins at start and ends with b.
func endFrame(b []byte, start int, more bool) {
	f := b[start:]
	if more {
		f[frameHeaderSize-1] |= frameMore
	}
	binary.LittleEndian.PutUint32(f[4:], uint32(len(f)-frameHeaderSize))
	binary.LittleEndian.PutUint32(f[8:], frameSum(f))
}

// frameSum is the checksum over length, kind and payload.
func frameSum(f []byte) uint32 {
	return crc32.Update(crc32.Checksum(f[4:8], castagnoli), castagnoli, f[frameHeaderSize-1:])
}

// frameReader reads a file's frames in order.
type frameReader struct {
	r    io.ReaderAt
	size int64
	off  int64 // of the next frame
	buf  []byte
}

// next returns the next frame. ok is false at the end, and where no whole frame
// follows: r.off stays there. The payload is valid until the next call.
func (r *frameReader) next() (kind byte, payload []byte, ok bool, err error) {
	f, ok, err := r.frameAt(r.off)
	if !ok || err != nil {
		return 0, nil, false, err
	}
	r.off += int64(len(f))
	return f[frameHeaderSize-1], f[frameHeaderSize:], true, nil
}

// frameAt reads a frame and checks it.
func (r *frameReader) frameAt(off int64) (f []byte, ok bool, err error) {
	if r.size-off < frameHeaderSize {
		return nil, false, nil
	}
	if f, err = r.read(off, frameHeaderSize); err != nil {
		return nil, false, err
	}
	length := int64(binary.LittleEndian.Uint32(f[4:]))
	if string(f[:4]) != frameMagic || length > r.size-off-frameHeaderSize {
		return nil, false, nil
	}
	if f, err = r.read(off, frameHeaderSize+int(length)); err != nil {
		return nil, false, err
	}
	return f, binary.LittleEndian.Uint32(f[8:]) == frameSum(f), nil
}

func (r *frameReader) read(off int64, n int) ([]byte, error) {
	if cap(r.buf) < n {
		r.buf = make([]byte, n+n/2)
	}
	b := r.buf[:n]
	if _, err := r.r.ReadAt(b, off); err != nil {
		return nil, err
	}
	return b, nil
}

// searchChunk is how much is searched at a time for a frame behind a damaged one.
const searchChunk = 64 << 10

// anyAfter reports whether a whole frame begins behind off. If so the damage at off is
// in the middle of the file; if not it is the tail of a write that did not finish.
func (r *frameReader) anyAfter(off int64) (bool, error) {
	chunk := make([]byte, searchChunk)
	for off++; r.size-off >= frameHeaderSize; {
		b := chunk[:min(searchChunk, r.size-off)]
		if _, err := r.r.ReadAt(b, off); err != nil {
			return false, err
		}
		i := bytes.Index(b, []byte(frameMagic))
		if i < 0 {
			off += int64(len(b)) - int64(len(frameMagic)) + 1
			continue
		}
		off += int64(i)
		if _, ok, err := r.frameAt(off); ok || err != nil {
			return ok, err
		}
		off++
	}
	return false, nil
}
