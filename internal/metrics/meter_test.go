package metrics

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// countedQueue counts how often it is asked: once each time that gauges are set.
type countedQueue struct{ times atomic.Int64 }

func (q *countedQueue) Fill() (messages, bytes int64)     { q.times.Add(1); return 0, 0 }
func (q *countedQueue) Capacity() (messages, bytes int64) { return 0, 0 }

// While nothing but time passes the gauges are set more and more rarely; what
// happens is seen within a second.
func TestMeter_Pace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(NewSet(service.MockResources().Metrics()), time.Hour)
		m.Connected("db", false)
		q := &countedQueue{}
		m.Reads(q, func() int { return 0 })
		go m.Run(t.Context())
		during := func(d time.Duration) int64 {
			before := q.times.Load()
			<-time.After(d)
			synctest.Wait()
			return q.times.Load() - before
		}
		quiet := sqlserver.Poll{MaxTime: time.Now()}
		m.Polled(quiet, 1)
		assert.EqualValues(t, 10, during(10*time.Second))
		during(10 * time.Minute)
		for range 100 {
			m.Polled(quiet, 1) // a look without news is no reason to hurry
		}
		assert.EqualValues(t, 6, during(time.Minute))

		for name, happens := range map[string]func(){
			"a look with news":  func() { quiet.MaxTime = time.Now(); m.Polled(quiet, 2) },
			"a batch":           func() { m.CountBatch(event.NewBatch(0)) },
			"acknowledgement":   func() { m.Acknowledged(stream.Place{}) },
			"capture stops":     func() { m.Stalled(true) },
			"a snapshot begins": func() { m.SnapshotBegins(2, 0) },
			"a table is read":   m.TableRead,
			"a snapshot ends":   m.SnapshotEnds,
			"another reading":   func() { m.Reads(q, func() int { return 0 }) },
		} {
			during(10 * time.Minute)
			happens()
			assert.EqualValues(t, 1, during(publishInterval), name)
		}
	})
}
