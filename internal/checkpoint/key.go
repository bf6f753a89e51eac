package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxKeyPart is the length in bytes above which an encoded part of a key is
// cut and completed with a hash: a file cache makes file names of keys, and
// those may have 255 bytes in all.
const maxKeyPart = 90

// Key returns the cache key of a database: the topic prefix and the database
// name, each percent-encoded, joined by a dot. It depends on nothing else, so
// that renaming a label or moving a stream does not start it afresh. Different
// pairs have different keys.
func Key(topicPrefix, database string) string {
	return encodeKeyPart(topicPrefix) + "." + encodeKeyPart(database)
}

// KeyUnder returns the cache key of one of several databases whose positions
// are kept under a key chosen by a person.
func KeyUnder(key, database string) string { return key + "." + encodeKeyPart(database) }

// encodeKeyPart keeps letters, digits, '-' and '_' and encodes every other
// byte, the dot included because it joins the parts.
func encodeKeyPart(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	if b.Len() <= maxKeyPart {
		return b.String()
	}
	sum := sha256.Sum256([]byte(s))
	return b.String()[:maxKeyPart-33] + "~" + hex.EncodeToString(sum[:16])
}
