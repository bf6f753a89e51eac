package sqltypes

import (
	"strconv"
	"strings"
)

// A hierarchyid is a bit string, zero-padded to bytes, in which every label of the path
// is a prefix that tells its range, then its bits, then 1 before a slash and 0 before a
// dot. Bytes compare in depth-first order. The patterns are public through the
// open-source reader dotMorten.Microsoft.SqlServer.Types.
type hierarchyPattern struct {
	low  int64
	form string // x a bit of the label, 0 and 1 fixed bits
}

var hierarchyPatterns = []hierarchyPattern{
	{-281479271682120, "000100xxxxxxxxxxxxxx0xxxxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"},
	{-4294971464, "000101xxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"},
	{-4168, "000110xxxxx0xxx0x1xxx"},
	{-72, "0010xx0x1xxx"},
	{-8, "00111xxx"},
	{0, "01xx"},
	{4, "100xx"},
	{8, "101xxx"},
	{16, "110xx0x1xxx"},
	{80, "1110xxx0xxx0x1xxx"},
	{1104, "11110xxxxx0xxx0x1xxx"},
	{5200, "111110xxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"},
	{4294972496, "111111xxxxxxxxxxxxxx0xxxxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"},
}

const maxHierarchyLabel = 281479271683151

// prefix returns the fixed bits that a pattern begins with.
func (p hierarchyPattern) prefix() string { return p.form[:strings.IndexByte(p.form, 'x')] }

func badHierarchyID(input string) error {
	return Errorf(6522, 2, 16, "A .NET Framework error occurred during execution of user-defined routine or aggregate \"hierarchyid\": Microsoft.SqlServer.Types.HierarchyIdException: 24001: SqlHierarchyId.Parse failed because the input string '%s' is not a valid string representation of a SqlHierarchyId node.", input)
}

// ParseHierarchyID returns the bytes of a path such as "/1/2.5/".
func ParseHierarchyID(path string) (raw string, err error) {
	if path == "/" {
		return "", nil
	}
	if len(path) < 3 || path[0] != '/' || path[len(path)-1] != '/' {
		return "", badHierarchyID(path)
	}
	var bits []byte
	for level := range strings.SplitSeq(path[1:len(path)-1], "/") {
		labels := strings.Split(level, ".")
		for i, label := range labels {
			n, err := strconv.ParseInt(label, 10, 64)
			last := i == len(labels)-1
			if !last {
				n++
			}
			if err != nil || n < hierarchyPatterns[0].low || n > maxHierarchyLabel {
				return "", badHierarchyID(path)
			}
			bits = append(appendLabel(bits, n), boolByte(last))
		}
	}
	return packBits(bits), nil
}

func appendLabel(bits []byte, n int64) []byte {
	i := len(hierarchyPatterns) - 1
	for hierarchyPatterns[i].low > n {
		i--
	}
	p := hierarchyPatterns[i]
	rest := uint64(n - p.low)
	left := strings.Count(p.form, "x")
	for _, c := range p.form {
		if c == 'x' {
			left--
			bits = append(bits, byte(rest>>left&1))
		} else {
			bits = append(bits, byte(c-'0'))
		}
	}
	return bits
}

func packBits(bits []byte) string {
	raw := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		raw[i/8] |= bit << (7 - i%8)
	}
	return string(raw)
}

// FormatHierarchyID returns the path of a hierarchyid's bytes.
func FormatHierarchyID(raw string) (string, error) {
	bits := make([]byte, 0, 8*len(raw))
	for i := range len(raw) {
		for shift := 7; shift >= 0; shift-- {
			bits = append(bits, raw[i]>>shift&1)
		}
	}
	path := "/"
	for strings.IndexByte(string(bits), 1) >= 0 {
		n, rest, ok := readLabel(bits)
		if !ok || len(rest) == 0 {
			return "", badHierarchyID("0x" + upperHex(raw))
		}
		last := rest[0] == 1
		bits = rest[1:]
		if last {
			path += strconv.FormatInt(n, 10) + "/"
		} else {
			path += strconv.FormatInt(n-1, 10) + "."
		}
	}
	if strings.HasSuffix(path, ".") {
		return "", badHierarchyID("0x" + upperHex(raw))
	}
	return path, nil
}

func readLabel(bits []byte) (n int64, rest []byte, ok bool) {
	for _, p := range hierarchyPatterns {
		if !hasBits(bits, p.prefix()) || len(bits) < len(p.form) {
			continue
		}
		for i, c := range p.form {
			switch {
			case c == 'x':
				n = n<<1 | int64(bits[i])
			case bits[i] != byte(c-'0'):
				return 0, nil, false
			}
		}
		return p.low + n, bits[len(p.form):], true
	}
	return 0, nil, false
}

func hasBits(bits []byte, prefix string) bool {
	if len(bits) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if bits[i] != prefix[i]-'0' {
			return false
		}
	}
	return true
}

// toHierarchyID reads a path; bytes are taken as they are.
func toHierarchyID(v Value) (Value, error) {
	if v.kind != KindText {
		return v, nil
	}
	raw, err := ParseHierarchyID(v.s)
	return RawOf(raw), err
}
