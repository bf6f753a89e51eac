package schema

import (
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hashes of the salt "a" and the text "bc", as Python's hashlib has those of
// "abc"; names are Java's, in any case.
func TestDigest_Algorithms(t *testing.T) {
	known := map[string]bool{}
	for _, test := range []struct{ name, want string }{
		{"MD5", "900150983cd24fb0d6963f7d28e17f72"},
		{"SHA-1", "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"SHA", "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"SHA-224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
		{"SHA-256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"SHA-384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
		{"SHA-512", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
		{"SHA-512/224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"},
		{"SHA-512/256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
		{"SHA3-224", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"},
		{"SHA3-256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"},
		{"SHA3-384", "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25"},
		{"SHA3-512", "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"},
	} {
		d, err := newDigest(HashOptions{Algorithm: test.name, Salt: "a", Version: 2})
		require.NoError(t, err)
		assert.Equal(t, test.want, d.text("bc"), test.name)
		known[test.name] = true
	}
	for name := range digests {
		assert.True(t, known[name], name)
	}
}

// Both versions of texts that are empty, padded, beyond the basic plane or hold
// a NUL, by Python's hashlib; version 1 hashes what java.io.ObjectOutputStream
// writes.
func TestDigest_Versions(t *testing.T) {
	for _, test := range []struct{ text, first, second string }{
		{"", "5b3d6ca0412baec5bd29469bcf15b3d11a89841fb2aaed6509e63dd51531bbb0", "63479ad69a090b258277ec8fba6f99419a2ffb248981510657c944ccd1148e97"},
		{"cc ", "d1d2d0f6801f343a6f2dd36dd9128b0a71c280227000a833dadcba73be9d8189", "ad7d1e91b11a26d2e1cc3ffaf1bcf8f3899a20564706a3cbfba0eabc1092aa1e"},
		{"é😀", "c2543f153d9c3baaf3b3a162cff0d5c3222377691d573355061f4be2f1f7d348", "27ca6683e28c7d6e800f37f8de428729f2f8ce70d9a5d5688c87d2421e6510d1"},
		{"a\x00b", "bdc7f913ce6aff17f08342a233b29e3baeb2bab699ae7dd8acdb7d2dddf810ff", "01ae4a27b0c0dc696c79e30f22c84985219d1aa2a72e768f86a4cf6a95fc88ff"},
	} {
		for version, want := range map[int]string{1: test.first, 2: test.second} {
			d, err := newDigest(HashOptions{Algorithm: "SHA-256", Salt: "salt", Version: version})
			require.NoError(t, err)
			assert.Equal(t, want, d.text(test.text), "version %d of %q", version, test.text)
		}
	}
}

// NULL has no hash; the padding of a char is hashed; the hash is cut to the
// column's length.
func TestDigest_OfColumns(t *testing.T) {
	table := people()
	table.Columns[1].Type = TypeOf(CatalogueType{System: "char", MaxLength: 3})
	s := selection(t, SelectionOptions{Rules: []RuleOptions{{Field: "f", Columns: []string{`.*\.(name|token|photo|id)`}, Hash: &HashOptions{"SHA-256", "salt", 2}}}})
	shaped, _ := s.Shape(table)
	p, err := Compile(shaped, DefaultModes())
	require.NoError(t, err)
	for _, test := range []struct {
		value driver.Value
		want  string
	}{{nil, `{"id":1,"name":null,"photo":"AQ==","token":null}`}, {"cc ", `{"id":1,"name":"ad7","photo":"AQ==","token":null}`}, {"cc", `{"id":1,"name":"7e8","photo":"AQ==","token":null}`}} {
		got, err := p.AppendRow(nil, []driver.Value{int64(1), test.value, []byte{1}, nil}, RowImage{})
		require.NoError(t, err)
		assert.Equal(t, test.want, string(got))
	}
}
