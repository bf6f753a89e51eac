package stream

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

func TestChoose(t *testing.T) {
	f := newFakeServer()
	table := f.table("a")
	at := func(objectID int32, start int) *sqlserver.CaptureInstance {
		return f.instance(table, objectID, lsnOf(start))
	}
	unset := at(3, 0)
	unset.StartLSN = lsn.LSN{}
	for _, test := range []struct {
		name      string
		instances []*sqlserver.CaptureInstance
		known     int32 // zero: none
		need      int
		want      int32 // zero: none
		reason    string
	}{
		{"never captured", nil, 0, 20, 0, ""},
		{"first sight", []*sqlserver.CaptureInstance{at(1, 10)}, 0, 20, 1, ""},
		{"first sight of one that begins later", []*sqlserver.CaptureInstance{at(1, 30)}, 0, 20, 1, ""},
		{"first sight of two: the newest that covers", []*sqlserver.CaptureInstance{at(1, 10), at(2, 15)}, 0, 20, 2, ""},
		{"first sight of two: the newest does not cover", []*sqlserver.CaptureInstance{at(1, 10), at(2, 30)}, 0, 20, 1, ""},
		{"first sight of two: none covers", []*sqlserver.CaptureInstance{at(1, 30), at(2, 40)}, 0, 20, 1, ""},
		{"a start LSN not yet set covers nothing", []*sqlserver.CaptureInstance{at(1, 10), unset}, 0, 20, 1, ""},
		{"known stays", []*sqlserver.CaptureInstance{at(1, 10), at(2, 15)}, 1, 20, 1, ""},
		{"known stays though cleaned", []*sqlserver.CaptureInstance{at(1, 90)}, 1, 20, 1, ""},
		{"replaced without loss", []*sqlserver.CaptureInstance{at(2, 20)}, 1, 20, 2, ""},
		{"replaced with loss", []*sqlserver.CaptureInstance{at(2, 21)}, 1, 20, 0, ReasonInstanceReplaced},
		{"replaced by one without start", []*sqlserver.CaptureInstance{unset}, 1, 20, 0, ReasonInstanceReplaced},
		{"gone", nil, 1, 20, 0, ReasonInstanceGone},
	} {
		t.Run(test.name, func(t *testing.T) {
			table.Instances = test.instances
			var known *InstanceIdentity
			if test.known != 0 {
				id := identify(table, at(test.known, 10), nil)
				known = &id
			}
			got, err := Choose(table, known, lsnOf(test.need))
			if test.reason != "" {
				var problem sqlserver.Problem
				require.ErrorAs(t, err, &problem)
				assert.Equal(t, test.reason, problem.Reason())
				return
			}
			require.NoError(t, err)
			if test.want == 0 {
				assert.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			assert.Equal(t, test.want, got.ObjectID)
		})
	}
}

func TestStartingAt(t *testing.T) {
	inside := lsn.Position{Commit: lsnOf(20), Command: 3, Change: lsnOf(15), Operation: opInsert}
	byChange := lsn.Position{Commit: lsnOf(20), Change: lsnOf(15), Operation: opInsert}
	replay := lsn.EndOf(lsnOf(19))
	for _, test := range []struct {
		name    string
		at      lsn.Position
		was, is bool
		want    lsn.Position
	}{
		{"nothing delivered", lsn.Position{}, false, true, lsn.Position{}},
		{"whole transactions mean the same in every order", lsn.EndOf(lsnOf(20)), true, false, lsn.EndOf(lsnOf(20))},
		{"by command, still", inside, true, true, inside},
		{"by change, still", byChange, false, false, byChange},
		{"by command, no longer", inside, true, false, replay},
		{"by change, no longer", byChange, false, true, replay},
		{"stored order contradicts the position", inside, false, true, replay},
		{"stored order contradicts, other way", byChange, true, true, replay},
		{"a snapshot row stands before its commit's changes", lsn.Position{Commit: lsnOf(20), Ordinal: 7}, false, true, lsn.Position{Commit: lsnOf(20), Ordinal: 7}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, startingAt(test.at, test.was, test.is))
		})
	}
}

func TestNextLimit(t *testing.T) {
	assert.Equal(t, 100, nextLimit(1000, 50, 5000, 10000), "rows that fit")
	assert.Equal(t, 2, nextLimit(1, 50, 5000, 10000), "doubles at most")
	assert.Equal(t, 10, nextLimit(1000, 50, 50000, 10), "never more than a page")
	assert.Equal(t, 1, nextLimit(1000, 5000, 50, 10), "one row at least")
	assert.Equal(t, 10, nextLimit(1000, 0, 5000, 10), "rows of no size")
}
