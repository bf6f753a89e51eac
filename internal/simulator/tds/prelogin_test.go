package tds

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clientPrelogin is what go-mssqldb sends: VERSION, ENCRYPTION, INSTOPT,
// THREADID and MARS.
var clientPrelogin = []byte{
	0, 0, 26, 0, 6, 1, 0, 32, 0, 1, 2, 0, 33, 0, 5, 3, 0, 38, 0, 4, 4, 0, 42, 0, 1, 0xFF,
	1, 10, 0, 0, 0, 0, 1, 'i', 'n', 's', 't', 0, 0, 0, 0, 0, 0,
}

func TestParsePrelogin(t *testing.T) {
	p, err := ParsePrelogin(clientPrelogin)
	require.NoError(t, err)
	assert.Equal(t, Prelogin{Version: Version{Major: 1, Minor: 10}, Encryption: EncryptOn, Instance: "inst"}, p)

	t.Run("no encryption option means not supported", func(t *testing.T) {
		p, err := ParsePrelogin([]byte{0, 0, 6, 0, 6, 0xFF, 9, 0, 0, 0, 0, 0})
		require.NoError(t, err)
		assert.Equal(t, EncryptNotSupported, p.Encryption)
	})
}

func TestParsePrelogin_Malformed(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		want string
	}{
		{"empty", nil, "no terminator"},
		{"no terminator", []byte{0, 0, 0, 0, 0}, "option 0 has 0 bytes"},
		{"cut option", []byte{1, 0, 6}, "option 1 is cut"},
		{"data outside", []byte{1, 0, 6, 0, 9, 0xFF, 0}, "option 1 ends at 15 of 7"},
		{"short version", []byte{0, 0, 6, 0, 2, 0xFF, 1, 2}, "option 0 has 2 bytes"},
		{"no version", []byte{1, 0, 6, 0, 1, 0xFF, 0}, "no VERSION"},
		{"option twice", []byte{1, 0, 11, 0, 1, 1, 0, 11, 0, 1, 0xFF, 0}, "option 1 twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePrelogin(tt.in)
			require.ErrorIs(t, err, errPrelogin)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAppendPrelogin_RoundTrip(t *testing.T) {
	want := Prelogin{Version: Version{Major: 16, Build: 4165, SubBuild: 4}, Encryption: EncryptRequired}
	got, err := ParsePrelogin(AppendPrelogin(nil, want))
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func FuzzParsePrelogin(f *testing.F) {
	f.Add(clientPrelogin)
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := ParsePrelogin(in)
		if err != nil {
			return
		}
		again, err := ParsePrelogin(AppendPrelogin(nil, p))
		require.NoError(t, err)
		p.Instance, p.FedAuth = "", false // a server's answer has neither
		require.Equal(t, p, again)
	})
}
