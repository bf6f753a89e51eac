package metrics

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

const unset = -999

// shown returns the values of gauges; unset for what was never set.
func (e *exporter) shown(names ...string) (values []int64) {
	for _, name := range names {
		value, set := e.gauge(name)
		if !set {
			value = unset
		}
		values = append(values, value)
	}
	return values
}

// A table of which cleanup has taken nothing has no headroom while it is read up to
// date; one that is gone has none any more, and no drift.
func TestMeter_Tables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, to := exported(t)
		m := NewMeter(set, time.Second)
		m.Connected("db", false)
		now := time.Now()
		state := func(position, low time.Duration, cleaned bool) sqlserver.TableState {
			return sqlserver.TableState{
				Schema: "dbo", Table: "t", Uncaptured: 2, Cleaned: cleaned, Position: now.Add(-position), Low: now.Add(-low),
			}
		}
		for _, step := range []struct {
			name   string
			states []sqlserver.TableState
			want   []int64 // headroom, drift, captured tables
		}{
			{"fresh", []sqlserver.TableState{state(time.Minute, time.Minute, false)}, []int64{unset, 2, 1}},
			{"fresh and behind", []sqlserver.TableState{state(time.Hour, 2*time.Hour, false)}, []int64{3600, 2, 1}},
			{"fresh and up to date again", []sqlserver.TableState{state(time.Minute, 3*time.Hour, false)}, []int64{3*3600 - 60, 2, 1}},
			{"cleaned", []sqlserver.TableState{state(time.Minute, 2*time.Hour, true)}, []int64{2*3600 - 60, 2, 1}},
			{
				"a second instance",
				[]sqlserver.TableState{state(time.Minute, 2*time.Hour, true), state(time.Minute, time.Minute, false)},
				[]int64{2*3600 - 60, 2, 1},
			},
			{"behind what is kept", []sqlserver.TableState{state(3*time.Hour, 2*time.Hour, true)}, []int64{0, 2, 1}},
			{"gone", nil, []int64{noHeadroom, 0, 0}},
			{"back", []sqlserver.TableState{state(time.Minute, 2*time.Hour, true)}, []int64{2*3600 - 60, 2, 1}},
		} {
			m.Tables(step.states)
			assert.Equal(t, step.want, to.shown("sqlserver_cdc_retention_headroom_seconds{db,dbo.t}",
				"sqlserver_cdc_drift_columns{db,dbo.t}", "sqlserver_cdc_captured_tables{db}"), step.name)
		}
	})
}

// Of tables that are counted together the worst is shown.
func TestMeter_OtherTables(t *testing.T) {
	set, to := exported(t)
	m := NewMeter(set, time.Second)
	m.Connected("db", false)
	for n := range maxTables {
		m.label(schema.TableID{Schema: "dbo", Name: "n" + strconv.Itoa(n)})
	}
	now := time.Now()
	m.Tables([]sqlserver.TableState{
		{Table: "a", Uncaptured: 1, Cleaned: true, Position: now, Low: now.Add(-time.Hour)},
		{Table: "b", Uncaptured: 3, Cleaned: true, Position: now, Low: now.Add(-time.Minute)},
		{Table: "c", Uncaptured: 2, Position: now, Low: now},
	})
	assert.Equal(t, []int64{60, 3, 3}, to.shown("sqlserver_cdc_retention_headroom_seconds{db,other}",
		"sqlserver_cdc_drift_columns{db,other}", "sqlserver_cdc_captured_tables{db}"))
}
