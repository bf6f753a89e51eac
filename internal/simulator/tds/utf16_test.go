package tds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func TestAppendUTF16_EqualsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching(`[ -~]{0,20}[é€🙂][ -~]{0,20}`)).Draw(t, "s")
		want := sqltypes.AppendUTF16([]byte("x"), s)
		got := appendUTF16([]byte("x"), s)
		if string(want) != string(got) {
			t.Fatalf("want %x, got %x", want, got)
		}
	})
}

func TestAppendUTF16_LoneSurrogate(t *testing.T) {
	const lone = "abcdefgh\xED\xA0\x80z"
	b := appendUTF16(nil, lone)
	assert.Equal(t, []byte{0x00, 0xD8, 'z', 0}, b[16:])
	assert.Equal(t, lone, sqltypes.DecodeUTF16(b))
}

func TestText_LengthPrefixes(t *testing.T) {
	long := strings.Repeat("x", 300)
	b := appendBVarChar(nil, long)
	assert.Equal(t, uint8(255), b[0])
	assert.Len(t, b, 1+2*255)
	assert.Equal(t, long, (&cursor{b: appendUSVarChar(nil, long)}).usVarChar())
	assert.Equal(t, "a🙂", (&cursor{b: appendBVarChar(nil, "a🙂")}).bVarChar())
}
