package metrics

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// The gauge of a held table is 1 and then 0 again, as often as that happens; that of
// the tables that are counted together says how many are held.
func TestMeter_Held(t *testing.T) {
	set, to := exported(t)
	m := NewMeter(set, time.Second)
	m.Connected("db", false)
	is := func(want int64, table, reason string) {
		t.Helper()
		got, set := to.gauge("sqlserver_cdc_table_held{db," + table + "," + reason + "}")
		assert.True(t, set)
		assert.Equal(t, want, got)
	}
	for range 2 {
		m.Held("dbo", "t", "permission", true)
		is(1, "dbo.t", "permission")
		m.Held("dbo", "t", "permission", false)
		is(0, "dbo.t", "permission")
	}
	m.Held("dbo", "t", "instance_gone", true)
	m.Held("dbo", "t", "instance_gone", false)
	m.Held("dbo", "t", "instance_replaced", true)
	is(0, "dbo.t", "instance_gone")
	is(1, "dbo.t", "instance_replaced")

	for n := range maxTables {
		m.label(schema.TableID{Schema: "dbo", Name: "n" + strconv.Itoa(n)})
	}
	m.Held("dbo", "one", "permission", true)
	m.Held("dbo", "two", "permission", true)
	is(2, otherTables, "permission")
	m.Held("dbo", "one", "permission", false)
	is(1, otherTables, "permission")
	m.Held("dbo", "two", "permission", false)
	is(0, otherTables, "permission")
}
