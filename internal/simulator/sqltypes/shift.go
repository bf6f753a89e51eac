package sqltypes

// BitWidth is the number of bits of an integer type: 1 for bit, 8 for tinyint, up
// to 64.
func BitWidth(id ID) uint {
	switch id {
	case Bit:
		return 1
	case TinyInt:
		return 8
	case SmallInt:
		return 16
	case Int:
		return 32
	default:
		return 64
	}
}

// SignExtend reads the low bits of n as a number of the type: tinyint and bit have
// no sign.
func SignExtend(n int64, id ID) int64 {
	width := BitWidth(id)
	if id == TinyInt || id == Bit {
		return n & (1<<width - 1)
	}
	return n << (64 - width) >> (64 - width)
}

// shift moves the bits of n within its type; zeros come in on both sides, and a
// negative distance moves the other way.
// Source: MS docs, "LEFT_SHIFT" and "RIGHT_SHIFT".
func shift(op string, n, distance int64, id ID) int64 {
	if distance < 0 {
		op, distance = map[string]string{"<<": ">>", ">>": "<<"}[op], -distance
	}
	width := BitWidth(id)
	if distance < 0 || distance >= int64(width) {
		return 0
	}
	all := uint64(n) << (64 - width) >> (64 - width)
	if op == "<<" {
		return SignExtend(int64(all<<uint(distance)), id)
	}
	return SignExtend(int64(all>>uint(distance)), id)
}
