package debezium

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseProperties(t *testing.T) {
	got, err := ParseProperties(strings.NewReader(`
# a comment
! another
topic.prefix = server1
database.names=shop, Store
empty=
table.include.list=dbo[.]a,\
  dbo[.]b
equation=a=b
`))
	require.NoError(t, err)
	assert.Equal(t, Properties{
		"topic.prefix": "server1", "database.names": "shop, Store", "empty": "",
		"table.include.list": "dbo[.]a,dbo[.]b", "equation": "a=b",
	}, got)
	assert.Equal(t, []string{"shop", "Store"}, got.Databases())
}

func TestParseProperties_Errors(t *testing.T) {
	for text, want := range map[string]string{
		"a=1\nb":       `line 2: want name=value, got "b"`,
		"=1":           `line 1: want name=value, got "=1"`,
		"a=1\n\na = 2": `line 3: "a" stands twice`,
		"a=1\\":        `line 1: nothing follows "a=1\\"`,
	} {
		_, err := ParseProperties(strings.NewReader(text))
		assert.EqualError(t, err, want)
	}
}

func TestProperties_With(t *testing.T) {
	base := Properties{"a": "1", "b": "2"}
	assert.Equal(t, Properties{"a": "1", "b": "3", "c": "4"}, base.With(Properties{"b": "3", "c": "4"}))
	assert.Equal(t, Properties{"a": "1", "b": "2"}, base, "the base stays")
	assert.Equal(t, Properties{"a": "1"}, Properties(nil).With(Properties{"a": "1"}))
}

func TestProperties_SignalTable(t *testing.T) {
	database, schema, table, ok := Properties{"signal.data.collection": "shop.dbo.signals, Store.dbo.s"}.SignalTable()
	assert.True(t, ok)
	assert.Equal(t, []string{"shop", "dbo", "signals"}, []string{database, schema, table})
	_, _, _, ok = Properties{"signal.data.collection": "dbo.signals"}.SignalTable()
	assert.False(t, ok)
	_, _, _, ok = Properties{}.SignalTable()
	assert.False(t, ok)
}
