package builtin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func errorNumber(err error) int32 {
	var e *sqltypes.Error
	errors.As(err, &e)
	if e == nil {
		return 0
	}
	return e.Number
}

// TestJSON has examples of MS docs, "JSON_VALUE", "JSON_QUERY", "JSON path expressions".
func TestJSON(t *testing.T) {
	const doc = `{"info":{"type":1,"address":{"town":"Bristol","county":"Avon"},"tags":["Sport","Water \"polo\""], "e":null,"a b":1.50,"t":true},"type":"Basic", "type":2}`
	tests := []struct {
		function, text, path, want string
		errNo                      int32
	}{
		{"JSON_VALUE", doc, "$.type", "Basic", 0},
		{"JSON_VALUE", doc, "$.info.address.town", "Bristol", 0},
		{"JSON_VALUE", doc, "$.info.tags[1]", `Water "polo"`, 0},
		{"JSON_VALUE", doc, "$.info.type", "1", 0},
		{"JSON_VALUE", doc, `$.info."a b"`, "1.50", 0},
		{"JSON_VALUE", doc, "$.info.t", "true", 0},
		{"JSON_VALUE", doc, "$.info.e", "NULL", 0},
		{"JSON_VALUE", doc, "$.info.address", "NULL", 0},
		{"JSON_VALUE", doc, "strict $.info.address", "", 13623},
		{"JSON_VALUE", doc, "$.info.none", "NULL", 0},
		{"JSON_VALUE", doc, "strict $.info.none", "", 13608},
		{"JSON_VALUE", doc, "$.info.tags[2]", "NULL", 0},
		{"JSON_VALUE", doc, "$.Type", "NULL", 0},
		{"JSON_VALUE", doc, "lax $.info.tags.x", "NULL", 0},
		{"JSON_VALUE", doc, "info", "", 13607},
		{"JSON_VALUE", doc, "$.", "", 13607},
		{"JSON_VALUE", doc, "$[x]", "", 13607},
		{"JSON_VALUE", `{"a":`, "$.a", "", 13609},
		{"JSON_VALUE", "", "$.a", "", 13609},
		{"JSON_VALUE", `{"a":"` + strings.Repeat("x", 4001) + `"}`, "$.a", "NULL", 0},
		{"JSON_VALUE", `{"a":"` + strings.Repeat("x", 4001) + `"}`, "strict $.a", "", 13625},
		{"JSON_VALUE", " [1, [2,3 ] ] ", "$[1][1]", "3", 0},
		{"JSON_QUERY", doc, "$.info.tags", `["Sport","Water \"polo\""]`, 0},
		{"JSON_QUERY", ` {"a" : [1 , 2] } `, "$", `{"a" : [1 , 2] }`, 0},
		{"JSON_QUERY", doc, "$.type", "NULL", 0},
		{"JSON_QUERY", doc, "strict $.type", "", 13624},
	}
	for _, tt := range tests {
		t.Run(tt.function+" "+tt.path, func(t *testing.T) {
			v, _, err := call(newEnv(t), tt.function, ns(tt.text), ns(tt.path))
			if tt.errNo != 0 {
				require.Error(t, err)
				assert.Equal(t, tt.errNo, errorNumber(err), err.Error())
				return
			}
			require.NoError(t, err)
			if tt.want == "NULL" {
				assert.True(t, v.IsNull())
				return
			}
			assert.Equal(t, tt.want, v.Str())
		})
	}
}

func TestJSON_NamesThePlaceOfAnError(t *testing.T) {
	_, _, err := call(newEnv(t), "JSON_VALUE", ns("{not valid}"), ns("$.x"))
	assert.ErrorContains(t, err, "JSON text is not properly formatted. Unexpected character 'n' is found at position 1.")
}

func TestIsJSON(t *testing.T) {
	for text, want := range map[string]int64{`{"a":1}`: 1, " [ ] ": 1, "1": 0, `"x"`: 0, "{a:1}": 0, "": 0, "[1": 0} {
		v, _, err := call(newEnv(t), "ISJSON", ns(text))
		require.NoError(t, err)
		assert.Equal(t, want, v.Int64(), text)
	}
	v, _, err := call(newEnv(t), "ISJSON", nullText())
	require.NoError(t, err)
	assert.True(t, v.IsNull())
}

func TestStringEscape(t *testing.T) {
	v, _, err := call(newEnv(t), "STRING_ESCAPE", ns("\\\t\n\b\f\r\"/\x01é"), s("json"))
	require.NoError(t, err)
	assert.Equal(t, `\\\t\n\b\f\r\"\/\u0001é`, v.Str())
	_, _, err = call(newEnv(t), "STRING_ESCAPE", ns("x"), s("xml"))
	assert.Error(t, err)
}

func TestCompress(t *testing.T) {
	for _, in := range []arg{ns("héllo"), s("hello"), bin("\x00\x01"), s("")} {
		packed, typ, err := call(newEnv(t), "COMPRESS", in)
		require.NoError(t, err)
		raw, _, err := call(newEnv(t), "DECOMPRESS", arg{packed, typ})
		require.NoError(t, err)
		back, err := sqltypes.Convert(raw, sqltypes.VarBinaryOf(sqltypes.Max), in.t, sqltypes.DefaultStyle)
		require.NoError(t, err)
		assert.Equal(t, in.v, back)
	}
	_, _, err := call(newEnv(t), "COMPRESS", n(1))
	assert.Equal(t, int32(8116), errorNumber(err))
	_, _, err = call(newEnv(t), "DECOMPRESS", bin("no gzip"))
	assert.Error(t, err)
}

func TestCryptGenRandom(t *testing.T) {
	a, _, err := call(newEnv(t), "CRYPT_GEN_RANDOM", n(16))
	require.NoError(t, err)
	b, _, err := call(newEnv(t), "CRYPT_GEN_RANDOM", n(16), bin("seed"))
	require.NoError(t, err)
	assert.Len(t, a.Bytes(), 16)
	assert.NotEqual(t, a, b)
	_, _, err = call(newEnv(t), "CRYPT_GEN_RANDOM", n(8001))
	assert.Equal(t, int32(537), errorNumber(err))
}

// TestDateBucket has examples of MS docs, "DATE_BUCKET".
func TestDateBucket(t *testing.T) {
	tests := []struct {
		part  string
		width int64
		date  string
		want  string
	}{
		{"week", 1, "2020-04-15 21:22:11", "2020-04-13 00:00:00.0000000"},
		{"day", 1, "2020-04-30 21:21:21", "2020-04-30 00:00:00.0000000"},
		{"day", 10, "2020-04-15 00:00:00", "2020-04-11 00:00:00.0000000"},
		{"month", 6, "2020-04-15 21:22:11", "2020-01-01 00:00:00.0000000"},
		{"quarter", 1, "2020-05-15 21:22:11", "2020-04-01 00:00:00.0000000"},
		{"year", 5, "2020-04-15 21:22:11", "2020-01-01 00:00:00.0000000"},
		{"hour", 2, "2020-04-15 21:22:11", "2020-04-15 20:00:00.0000000"},
		{"millisecond", 500, "2020-04-15 21:22:11.7", "2020-04-15 21:22:11.5000000"},
		{"day", 7, "1899-12-31 01:00:00", "1899-12-25 00:00:00.0000000"},
		{"month", 2, "1899-12-31 01:00:00", "1899-11-01 00:00:00.0000000"},
	}
	for _, tt := range tests {
		t.Run(tt.part+" "+tt.date, func(t *testing.T) {
			v, typ, err := call(newEnv(t), "DATE_BUCKET", s(tt.part), n(tt.width), cast(t, tt.date, "datetime2", 7))
			require.NoError(t, err)
			assert.Equal(t, tt.want, show(t, v, typ))
		})
	}
	origin := cast(t, "2019-01-31", "date")
	v, typ, err := call(newEnv(t), "DATE_BUCKET", s("month"), n(1), cast(t, "2019-03-30", "date"), origin)
	require.NoError(t, err)
	assert.Equal(t, "2019-02-28", show(t, v, typ))
	_, _, err = call(newEnv(t), "DATE_BUCKET", s("day"), n(0), origin)
	assert.Equal(t, int32(9834), errorNumber(err))
	_, _, err = call(newEnv(t), "DATE_BUCKET", s("day"), n(1), s("2019-01-01"))
	assert.Equal(t, int32(8116), errorNumber(err))
}
