package input

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// buildIn builds an input with the resources of a process.
func buildIn(t *testing.T, mgr *service.Resources, fields string) (*input, error) {
	t.Helper()
	parsed, err := sharedSpec().ParseYAML("host: h\nuser: u\npassword: p\ntopic_prefix: p\ncheckpoint_cache: offsets\n"+fields, nil)
	require.NoError(t, err)
	return newInput(parsed, mgr, options{})
}

// Two inputs of one process with the same key are a mistake of the
// configuration: the second is not even built.
func TestKeys_TwoInputsOfAProcess(t *testing.T) {
	for name, test := range map[string]struct {
		first, second string
		refused       bool
	}{
		"same":                     {"database_names: [db]", "database_names: [db]", true},
		"one database of several":  {"database_names: [a, b]", "database_names: [b, c]", true},
		"same key given":           {"database_names: [a]\ncheckpoint_cache_key: k", "database_names: [b]\ncheckpoint_cache_key: k", true},
		"other databases":          {"database_names: [a]", "database_names: [b]", false},
		"another key":              {"database_names: [db]", "database_names: [db]\ncheckpoint_cache_key: k", false},
		"key of several databases": {"database_names: [a, b]\ncheckpoint_cache_key: k", "database_names: [c, d]\ncheckpoint_cache_key: k", false},
		"names not known yet":      {"database_names: [a]", "database_names: ['.*']", false},
	} {
		inBubble(t, name, func(t *testing.T) {
			mgr := service.MockResources(service.MockResourcesOptAddCache("offsets"))
			first, err := buildIn(t, mgr, test.first)
			require.NoError(t, err)
			second, err := buildIn(t, mgr, test.second)
			if !test.refused {
				require.NoError(t, err)
				require.NoError(t, second.Close(t.Context()))
				require.NoError(t, first.Close(t.Context()))
				return
			}
			var problem sqlserver.Problem
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, checkpoint.ReasonTaken, problem.Reason())
			assert.ErrorContains(t, err, "checkpoint_cache_key")
			require.NoError(t, first.Close(t.Context()))
			second, err = buildIn(t, mgr, test.second)
			require.NoError(t, err, "once the first is closed")
			require.NoError(t, second.Close(t.Context()))
		})
	}
}

// Names that are known only once a server was asked are found out then, before
// anything is read.
func TestKeys_FoundOutWhenConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mgr := service.MockResources(service.MockResourcesOptAddCache("offsets"))
		cache := newMemoryCache()
		var inputs []*input
		for range 2 {
			in, err := buildIn(t, mgr, "database_names: ['d.']")
			require.NoError(t, err)
			in.cache, in.open = cache, (&fakeServer{changes: 1, batch: 1}).open
			in.list = func(context.Context, *sqlserver.Server) ([]sqlserver.DatabaseEntry, error) {
				return []sqlserver.DatabaseEntry{{Name: "db", CDCEnabled: true}}, nil
			}
			inputs = append(inputs, in)
		}
		require.NoError(t, inputs[0].Connect(t.Context()))
		err := inputs[1].Connect(t.Context())
		var wait *service.ErrBackOff
		require.ErrorAs(t, err, &wait)
		require.ErrorContains(t, wait.Err, "another input of this process")

		require.NoError(t, inputs[0].Close(t.Context()))
		require.NoError(t, inputs[1].Connect(t.Context()), "it heals by itself")
		require.NoError(t, inputs[1].Close(t.Context()))
	})
}

// An input that was built and never connected, since a part beside it could not
// be, does not keep its key for ever.
func TestKeys_LeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mgr := service.MockResources(service.MockResourcesOptAddCache("offsets"))
		_, err := buildIn(t, mgr, "database_names: [db]")
		require.NoError(t, err)
		_, err = buildIn(t, mgr, "database_names: [db]")
		require.Error(t, err)
		<-time.After(buildGrace)
		in, err := buildIn(t, mgr, "database_names: [db]")
		require.NoError(t, err)
		require.NoError(t, in.Close(t.Context()))
	})
}
