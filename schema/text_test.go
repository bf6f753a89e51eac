package schema

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAppendString(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"plain", "abc", `"abc"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"short escapes", "\b\t\n\f\r", `"\b\t\n\f\r"`},
		{"other controls in upper case", "\x00\x1f\x0b", `"\u0000\u001F\u000B"`},
		{"not escaped", "/<>&\x7f\u2028'", "\"/<>&\x7f\u2028'\""},
		{"two and three bytes", "é€", `"é€"`},
		{"above U+FFFF", "a😀b", `"a\uD83D\uDE00b"`},
		{"last character", "\U0010FFFF", `"\uDBFF\uDFFF"`},
		{"replacement character stays", "\uFFFD", "\"\uFFFD\""},
		{"lone high surrogate", "a\xed\xa0\xbdb", `"a\uD83Db"`},
		{"lone low surrogate", "\xed\xb8\x80", `"\uDE00"`},
		{"invalid bytes", "a\xff\xfeb", "\"a\uFFFD\uFFFDb\""},
		{"cut character", "a\xe2\x82", "\"a\uFFFD\uFFFD\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, string(AppendString(nil, tt.in)))
			assert.Equal(t, "x"+tt.want, string(AppendString([]byte("x"), tt.in)))
		})
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "abc", "a\"\\\n\x00", "é€😀", "\xed\xa0\xbd\xed\xb8\x80", "\xff\xe2\x82", "\uFFFD"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := AppendString(nil, s)
		var decoded string
		require.NoError(t, json.Unmarshal(raw, &decoded), "%s", raw)
		require.True(t, utf8.Valid(raw))
		require.Equal(t, decoded, decodedString(s))
		if utf8.ValidString(s) {
			require.Equal(t, s, decoded)
		}
	})
}
