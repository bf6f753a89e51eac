package input

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

func TestDatabaseNames_Resolve(t *testing.T) {
	existing := []sqlserver.DatabaseEntry{
		{Name: "master"},
		{Name: "Orders", CDCEnabled: true},
		{Name: "plain"},
		{Name: "shop.eu", CDCEnabled: true},
		{Name: "shopXeu", CDCEnabled: true},
		{Name: "shop_1", CDCEnabled: true},
		{Name: "shop_2", CDCEnabled: true},
		{Name: "shop_3"},
	}
	tests := []struct {
		name      string
		entries   []string
		want      []string
		unmatched []string
	}{
		{"in their order", []string{"shop_2", "Orders"}, []string{"shop_2", "Orders"}, nil},
		{"as the server writes it", []string{"ORDERS"}, []string{"Orders"}, nil},
		{"a name without capture", []string{"plain"}, []string{"plain"}, nil},
		{"a name that is not there", []string{"later", "Orders"}, []string{"later", "Orders"}, nil},
		{"a pattern means those with capture", []string{`shop_\d`}, []string{"shop_1", "shop_2"}, nil},
		{"as a whole and ignoring case", []string{"SHOP_?"}, nil, []string{"SHOP_?"}},
		{"all", []string{".*"}, []string{"Orders", "shop.eu", "shopXeu", "shop_1", "shop_2"}, nil},
		{"an exact name that is a pattern too", []string{"shop.eu"}, []string{"shop.eu"}, nil},
		{"a pattern that is no name", []string{"shop.e."}, []string{"shop.eu", "shopXeu"}, nil},
		{"each once", []string{"shop_2", "shop_.*", "SHOP_1"}, []string{"shop_2", "shop_1"}, nil},
		{"one of two matches", []string{"x.*", "ord.*"}, []string{"Orders"}, []string{"x.*"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names, err := parseDatabaseNames(tt.entries)
			require.NoError(t, err)
			got, unmatched := names.resolve(existing)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.unmatched, unmatched)
		})
	}
}

// The key of one database is the one chosen; those of several never meet.
func TestConfig_CheckpointKeys(t *testing.T) {
	for _, tt := range []struct{ databases, key, want string }{
		{"[shop]", "", "p.shop"},
		{"[shop, store]", "", "p.shop"},
		{"[shop]", "mine", "mine"},
		{"[shop, store]", "mine", "mine.shop"},
		{"['sh.*']", "mine", "mine.shop"},
	} {
		t.Run(tt.databases+" "+tt.key, func(t *testing.T) {
			text := "host: h\nuser: u\ntopic_prefix: p\ncheckpoint_cache: offsets\ndatabase_names: " + tt.databases
			if tt.key != "" {
				text += "\ncheckpoint_cache_key: " + tt.key
			}
			parsed, err := sharedSpec().ParseYAML(text, nil)
			require.NoError(t, err)
			cfg, err := parseConfig(parsed)
			require.NoError(t, err)
			assert.Equal(t, tt.want, cfg.checkpointKey("shop"))
			if tt.key == "" || cfg.databases.several() {
				assert.NotEqual(t, cfg.checkpointKey("shop"), cfg.checkpointKey("a.b"))
			}
		})
	}
}
