package manage

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestOwner_Name(t *testing.T) {
	owner := OwnerOf("server1.db")
	long := strings.Repeat("x", 128)
	for _, test := range []struct {
		name, schema, table string
		partial             bool
		taken               []string
		want                string
	}{
		{"the first", "dbo", "orders", false, []string{"dbo_orders"}, "dbo_orders_" + string(owner) + "_1"},
		{"one of few columns", "dbo", "orders", true, nil, "dbo_orders_" + string(owner) + "_1p"},
		{"after another", "dbo", "orders", false, []string{"dbo_orders_" + string(owner) + "_7"}, "dbo_orders_" + string(owner) + "_8"},
		{"after one of few columns", "dbo", "orders", false, []string{"dbo_orders_" + string(owner) + "_9P"}, "dbo_orders_" + string(owner) + "_10"},
		{"of a table with the same letters", "a", "b_c", false, []string{"A_B_C_" + string(owner) + "_1"}, "a_b_c_" + string(owner) + "_2"},
		{"another owner's", "dbo", "orders", false, []string{"dbo_orders_m00000000_7"}, "dbo_orders_" + string(owner) + "_1"},
		{"too long", "dbo", long, false, nil, "dbo_" + long[:100-len("dbo_")-len("_m12345678_1")-1] + "_" + string(owner) + "_1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := owner.Name(test.schema, test.table, test.partial, test.taken)
			assert.Equal(t, test.want, got)
			assert.True(t, owner.Owns(got))
		})
	}
}

func TestOwner_Owns(t *testing.T) {
	owner := OwnerOf("server1.db")
	assert.NotEqual(t, owner, OwnerOf("server2.db"))
	for name, want := range map[string]bool{
		"dbo_orders_" + string(owner) + "_1":                 true,
		"dbo_orders_" + string(owner) + "_12p":               true,
		"dbo_orders":                                         false,
		"dbo_orders_" + string(owner):                        false,
		"dbo_orders_" + string(owner) + "_":                  false,
		"dbo_orders_" + string(owner) + "_1_":                false,
		"dbo_orders_" + string(owner) + "_x":                 false,
		"dbo_orders_" + string(owner) + "_-1":                false,
		"dbo_orders_" + string(OwnerOf("server2.db")) + "_1": false,
		"": false,
	} {
		assert.Equal(t, want, owner.Owns(name), "%q", name)
	}
}

// A name fits, is the owner's, and is nobody's yet.
func TestOwner_NameProperty(t *testing.T) {
	owner := OwnerOf("key")
	rapid.Check(t, func(t *rapid.T) {
		schema, table := rapid.StringN(1, 128, 512).Draw(t, "schema"), rapid.StringN(1, 128, 512).Draw(t, "table")
		var taken []string
		for range rapid.IntRange(1, 12).Draw(t, "instances") {
			name := owner.Name(schema, table, rapid.Bool().Draw(t, "partial"), taken)
			assert.LessOrEqual(t, len(utf16.Encode([]rune(name))), 100)
			assert.True(t, owner.Owns(name))
			for _, other := range taken {
				assert.False(t, strings.EqualFold(name, other))
			}
			taken = append(taken, name)
		}
	})
}
