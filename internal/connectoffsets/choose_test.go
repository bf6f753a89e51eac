package connectoffsets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The connector is the one with the topic prefix, and its name tells it from
// another that has the same.
func TestOfConnector(t *testing.T) {
	offsets := []Offset{
		{Connector: "a", Server: "p", Database: "x"}, {Connector: "b", Server: "p", Database: "y"}, {Connector: "c", Server: "q"}, {Server: "r"},
	}
	for _, test := range []struct {
		name, prefix, connector string
		want                    []Offset
		err                     string
	}{
		{"the only one", "q", "", offsets[2:3], ""},
		{"named", "p", "b", offsets[1:2], ""},
		{"of a topic that does not say", "r", "any", offsets[3:], ""},
		{"several", "p", "", nil, `name one of ["a" "b"]`},
		{"another prefix", "s", "", nil, `there are some of ["p" "p" "q" "r"]`},
		{"another connector", "q", "a", nil, `a connector "a"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := OfConnector(offsets, test.prefix, test.connector)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// Where nothing is left to choose from, the error says that and no more.
func TestOfConnector_Nothing(t *testing.T) {
	for name, file := range map[string]string{
		"an empty file":  "",
		"a removed line": `["c",{"server":"p","database":"d"}]` + "\tnull\n",
		"a null offset":  `{"offsets":[{"partition":{"server":"p","database":"d"},"offset":null}]}`,
		"no offsets":     `{"offsets":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			offsets, err := Read([]byte(file))
			require.NoError(t, err)
			_, err = OfConnector(offsets, "p", "")
			require.ErrorContains(t, err, "the file holds no offset")
		})
	}
}

// An offset without a database is that of the only one.
func TestOfDatabase(t *testing.T) {
	named, nameless := Offset{Database: "Sales", Serial: 1}, Offset{Serial: 2}
	for _, test := range []struct {
		name   string
		offset Offset
		only   bool
		found  bool
	}{
		{"named", named, false, true},
		{"nameless, one database", nameless, true, true},
		{"nameless, several databases", nameless, false, false},
		{"another", Offset{Database: "other"}, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := OfDatabase([]Offset{test.offset}, "sales", test.only)
			if !test.found {
				require.ErrorContains(t, err, "there is no offset of it")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.offset, got)
		})
	}
	_, err := OfDatabase([]Offset{{Database: "sales", Unfinished: "a snapshot"}}, "sales", true)
	require.ErrorContains(t, err, "stopped in a snapshot")
}
