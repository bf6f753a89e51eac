package connectoffsets

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Of the grammar of Java's object streams: what a HashMap of byte arrays is
// made of.
// Source: Java Object Serialization Specification, 6.4.
const (
	streamHeader = "\xac\xed\x00\x05"

	tagNull         = 0x70
	tagReference    = 0x71
	tagClass        = 0x72
	tagObject       = 0x73
	tagArray        = 0x75
	tagBlockData    = 0x77
	tagEndBlockData = 0x78

	firstHandle = 0x7e0000
)

// entry is one of the map: a nil value is null.
type entry struct{ key, value []byte }

// isJavaStream reports whether data begins as an object stream does.
func isJavaStream(data []byte) bool {
	return len(data) >= len(streamHeader) && string(data[:len(streamHeader)]) == streamHeader
}

// readJavaMap reads the file of Kafka Connect's FileOffsetBackingStore: a
// serialised java.util.HashMap of byte arrays. Nothing else is understood.
func readJavaMap(data []byte) ([]entry, error) {
	if !isJavaStream(data) {
		return nil, errors.New("not a stream of Java objects")
	}
	r := javaReader{data: data[len(streamHeader):], at: len(streamHeader)}
	entries := r.hashMap()
	if r.err == nil && len(r.data) > 0 {
		r.fail("%d bytes follow the map", len(r.data))
	}
	return entries, r.err
}

// javaReader reads from the front of data and keeps the first error.
type javaReader struct {
	data    []byte
	at      int               // bytes read before data
	handles int               // given to what was read so far
	arrays  map[uint32][]byte // by handle
	bytes   uint32            // the handle of the class of byte arrays; zero: not met
	err     error
}

func (r *javaReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("reading a map of Java at byte %d: %s", r.at, fmt.Sprintf(format, args...))
	}
}

// take returns the next n bytes, zeros after an error.
func (r *javaReader) take(n int) []byte {
	if r.err == nil && n > len(r.data) {
		r.fail("the file ends too early")
	}
	if r.err != nil {
		return make([]byte, min(n, 8))
	}
	taken := r.data[:n]
	r.data, r.at = r.data[n:], r.at+n
	return taken
}

func (r *javaReader) uint8() byte    { return r.take(1)[0] }
func (r *javaReader) uint16() uint16 { return binary.BigEndian.Uint16(r.take(2)) }
func (r *javaReader) uint32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

func (r *javaReader) want(tag byte, what string) {
	if got := r.uint8(); r.err == nil && got != tag {
		r.fail("%#x where %s begins with %#x", got, what, tag)
	}
}

func (r *javaReader) wantText(want string) {
	if got := r.take(int(r.uint16())); r.err == nil && string(got) != want {
		r.fail("%q where %q is expected", got, want)
	}
}

// handle gives the next handle.
func (r *javaReader) handle() uint32 {
	r.handles++
	return firstHandle + uint32(r.handles) - 1
}

func (r *javaReader) hashMap() []entry {
	r.want(tagObject, "an object")
	r.want(tagClass, "a class")
	r.wantText("java.util.HashMap")
	r.take(8 + 1) // version and flags
	r.handle()
	if fields := r.uint16(); r.err == nil && fields != 2 {
		r.fail("a HashMap of %d fields", fields)
	}
	r.take(1)
	r.wantText("loadFactor")
	r.take(1)
	r.wantText("threshold")
	r.want(tagEndBlockData, "the end of a class")
	r.want(tagNull, "no parent class")
	r.handle()
	r.take(4 + 4) // loadFactor, threshold
	r.want(tagBlockData, "the size of the map")
	if n := r.uint8(); r.err == nil && n != 8 {
		r.fail("%d bytes of sizes", n)
	}
	r.take(4) // buckets
	size := r.uint32()
	var entries []entry
	for range size {
		e := entry{key: r.byteArray()}
		e.value = r.byteArray()
		if r.err != nil {
			return nil
		}
		entries = append(entries, e)
	}
	r.want(tagEndBlockData, "the end of the map")
	return entries
}

// byteArray returns a copy of an array, or nil for null.
func (r *javaReader) byteArray() []byte {
	switch tag := r.uint8(); {
	case r.err != nil || tag == tagNull:
		return nil
	case tag == tagReference:
		at := r.uint32()
		array, known := r.arrays[at]
		if !known {
			r.fail("a reference to %#x, which is no array", at)
		}
		return array
	case tag != tagArray:
		r.fail("%#x where an array of bytes is expected", tag)
		return nil
	}
	r.byteArrayClass()
	handle := r.handle()
	array := append([]byte{}, r.take(int(r.uint32()))...)
	if r.arrays == nil {
		r.arrays = map[uint32][]byte{}
	}
	r.arrays[handle] = array
	return array
}

// byteArrayClass reads the class of byte arrays, the first time in full.
func (r *javaReader) byteArrayClass() {
	switch tag := r.uint8(); {
	case r.err != nil:
	case tag == tagReference:
		if at := r.uint32(); r.bytes == 0 || at != r.bytes {
			r.fail("an array of another class than bytes")
		}
	case tag == tagClass && r.bytes == 0:
		r.wantText("[B")
		r.take(8 + 1) // version and flags
		r.bytes = r.handle()
		if fields := r.uint16(); r.err == nil && fields != 0 {
			r.fail("an array of %d fields", fields)
		}
		r.want(tagEndBlockData, "the end of a class")
		r.want(tagNull, "no parent class")
	default:
		r.fail("%#x where the class of an array is expected", tag)
	}
}
