package schema

import (
	"crypto"
	_ "crypto/md5"    // registers MD5
	_ "crypto/sha1"   // registers SHA-1
	_ "crypto/sha256" // registers SHA-224 and SHA-256
	_ "crypto/sha3"   // registers SHA-3
	_ "crypto/sha512" // registers SHA-384 and SHA-512
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// digests are the algorithms by their names in Java, in upper case.
// Source: Java Security Standard Algorithm Names, "MessageDigest Algorithms";
// MD2 is the one that Go does not have.
var digests = map[string]crypto.Hash{
	"MD5":         crypto.MD5,
	"SHA-1":       crypto.SHA1,
	"SHA-224":     crypto.SHA224,
	"SHA-256":     crypto.SHA256,
	"SHA-384":     crypto.SHA384,
	"SHA-512":     crypto.SHA512,
	"SHA-512/224": crypto.SHA512_224,
	"SHA-512/256": crypto.SHA512_256,
	"SHA3-224":    crypto.SHA3_224,
	"SHA3-256":    crypto.SHA3_256,
	"SHA3-384":    crypto.SHA3_384,
	"SHA3-512":    crypto.SHA3_512,
}

// digest turns texts into salted hashes.
type digest struct {
	hash   crypto.Hash
	salt   string
	encode func(string) []byte
}

func newDigest(o HashOptions) (digest, error) {
	d := digest{salt: o.Salt}
	name := strings.ToUpper(o.Algorithm)
	if name == "SHA" || name == "SHA1" {
		name = "SHA-1" // Java's aliases
	}
	var known bool
	if d.hash, known = digests[name]; !known {
		return digest{}, fmt.Errorf("unknown algorithm %q; use %s", o.Algorithm, strings.Join(slices.Sorted(maps.Keys(digests)), ", "))
	}
	switch o.Version {
	case 1:
		d.encode = javaSerialised
	case 2:
		d.encode = func(s string) []byte { return []byte(s) }
	default:
		return digest{}, fmt.Errorf("unknown version %d; use 1 or 2", o.Version)
	}
	return d, nil
}

// text returns the hash as lower-case hexadecimal digits.
func (d digest) text(s string) string {
	h := d.hash.New()
	h.Write([]byte(d.salt))
	h.Write(d.encode(s))
	return hex.EncodeToString(h.Sum(nil))
}

// javaSerialised returns a string as java.io.ObjectOutputStream writes it.
// Source: Java Object Serialization Specification, section 6.4.
func javaSerialised(s string) []byte {
	const (
		magicAndVersion = "\xac\xed\x00\x05"
		tcString        = 0x74
		tcLongString    = 0x7c
	)
	text := modifiedUTF8(s)
	b := []byte(magicAndVersion)
	if len(text) > math.MaxUint16 {
		b = binary.BigEndian.AppendUint64(append(b, tcLongString), uint64(len(text)))
	} else {
		b = binary.BigEndian.AppendUint16(append(b, tcString), uint16(len(text)))
	}
	return append(b, text...)
}

// modifiedUTF8 returns text in Java's form of UTF-8: NUL takes two bytes, and
// a character above U+FFFF is written as its two surrogates.
// Source: java.io.DataInput, "Modified UTF-8".
func modifiedUTF8(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r == 0:
			b = append(b, 0xc0, 0x80)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendUnitUTF8(appendUnitUTF8(b, high), low)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// appendUnitUTF8 appends a surrogate as if it were a character.
func appendUnitUTF8(dst []byte, unit rune) []byte {
	return append(dst, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
}
