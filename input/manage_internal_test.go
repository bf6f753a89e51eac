package input

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/manage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// Only what reads manages instances: a test of the connection, and the search for
// an offset, look at the database and leave it as it is.
func TestManage_OnlyWhatReads(t *testing.T) {
	in := testInput(t, &fakeServer{}, newMemoryCache(), "capture_instances: manage")
	looking, err := in.newSource("other")
	require.NoError(t, err)
	assert.Nil(t, looking.instances)
	require.NoError(t, in.add([]string{"db"}))
	assert.NotNil(t, in.sources[0].instances)
	require.NoError(t, in.Close(t.Context()))
}

// An instance is settled once nothing before it is needed, by the table as by its
// held or repeated part.
func TestReads(t *testing.T) {
	id := stream.InstanceIdentity{Schema: "dbo", Table: "t", SourceObjectID: 7, ObjectID: 70}
	replacing, reread := id, id
	replacing.Replaced, reread.Reread = &stream.InstanceIdentity{}, &stream.Reread{}
	for _, test := range []struct {
		name  string
		known stream.InstanceIdentity
		held  []stream.Held
		alone bool
	}{
		{"alone", id, nil, true},
		{"takes the place of another", replacing, nil, false},
		{"rows are read again", reread, nil, false},
		{"held", id, []stream.Held{{SourceObjectID: 7}}, false},
		{"held by its name", id, []stream.Held{{Schema: "dbo", Table: "t", SourceObjectID: 6}}, false},
		{"another is held", id, []stream.Held{{Schema: "dbo", Table: "u", SourceObjectID: 8}}, true},
	} {
		got := reads([]stream.InstanceIdentity{test.known}, stream.Place{Held: test.held})
		assert.Equal(t, []manage.Read{{Table: 7, Instance: manage.Identity{ObjectID: 70}, Alone: test.alone}}, got, test.name)
	}
}
