package stream

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// chosen is a choice in short.
type chosen struct {
	before, read int32 // object ids; zero: none
	from         int   // FirstStart
	replaced     int32
	unread       int32
	replay       bool
}

func TestChoose(t *testing.T) {
	f := newFakeServer()
	table := f.table("a")
	at := func(objectID int32, start int) *sqlserver.CaptureInstance {
		return f.instance(table, objectID, lsnOf(start))
	}
	list := func(instances ...*sqlserver.CaptureInstance) []*sqlserver.CaptureInstance { return instances }
	unset := at(3, 0)
	unset.StartLSN = lsn.LSN{}
	known := func(objectID int32, from int, replaced *InstanceIdentity) *InstanceIdentity {
		id := identify(table, at(objectID, from))
		id.Replaced = replaced
		return &id
	}
	one := known(1, 10, nil)
	for _, test := range []struct {
		name      string
		instances []*sqlserver.CaptureInstance
		known     *InstanceIdentity
		need      int
		inside    bool
		observe   bool
		refused   bool
		want      chosen
		reason    string
	}{
		{name: "never captured", need: 20},
		{name: "first sight", instances: list(at(1, 10)), need: 20, want: chosen{read: 1, from: 10}},
		{name: "first sight of one that begins later", instances: list(at(1, 30)), need: 20, want: chosen{read: 1, from: 30}},
		{name: "first sight of two: the newest that covers", instances: list(at(1, 10), at(2, 15)), need: 20, want: chosen{read: 2, from: 15}},
		{name: "first sight of two that begin together", instances: list(at(1, 10), at(2, 10)), need: 20, want: chosen{read: 2, from: 10}},
		{name: "first sight of two that begin together, later", instances: list(at(1, 30), at(2, 30)), need: 20, want: chosen{before: 1, read: 2, from: 30, replaced: 1}},
		{name: "first sight of two: the newest is refused", instances: list(at(1, 10), at(2, 15)), need: 20, refused: true, want: chosen{read: 1, from: 10, unread: 2}},
		{name: "first sight of two: the newest does not cover", instances: list(at(1, 10), at(2, 30)), need: 20, want: chosen{before: 1, read: 2, from: 30, replaced: 1}},
		{name: "first sight of two: the same, observing", instances: list(at(1, 10), at(2, 30)), need: 20, observe: true, want: chosen{read: 1, from: 10, unread: 2}},
		{name: "first sight of two: none covers", instances: list(at(1, 30), at(2, 40)), need: 20, want: chosen{before: 1, read: 2, from: 40, replaced: 1}},
		{name: "a start LSN not yet set covers nothing", instances: list(at(1, 10), unset), need: 20, want: chosen{read: 1, from: 10}},

		{name: "read on", instances: list(at(1, 10)), known: one, need: 20, want: chosen{read: 1, from: 10}},
		{name: "read on though cleaned", instances: list(at(1, 90)), known: one, need: 20, want: chosen{read: 1, from: 10}},
		{name: "gone over to at the beginning of the newer", instances: list(at(1, 10), at(2, 30)), known: one, need: 20, want: chosen{before: 1, read: 2, from: 30, replaced: 1}},
		{name: "gone over to at once", instances: list(at(1, 10), at(2, 20)), known: one, need: 20, want: chosen{read: 2, from: 20, replaced: 1}},
		{name: "gone over to one that began together with it", instances: list(at(1, 10), at(2, 10)), known: one, need: 20, want: chosen{read: 2, from: 20, replaced: 1}},
		{name: "gone over to late", instances: list(at(1, 10), at(2, 15)), known: one, need: 20, want: chosen{read: 2, from: 20, replaced: 1}},
		{name: "gone over to after the transaction", instances: list(at(1, 10), at(2, 15)), known: one, need: 20, inside: true, want: chosen{before: 1, read: 2, from: 21, replaced: 1}},
		{name: "observed", instances: list(at(1, 10), at(2, 15)), known: one, need: 20, observe: true, want: chosen{read: 1, from: 10, unread: 2}},
		{name: "refused", instances: list(at(1, 10), at(2, 15)), known: one, need: 20, refused: true, want: chosen{read: 1, from: 10, unread: 2}},
		{name: "the older was cleaned, the newer holds all", instances: list(at(1, 25), at(2, 15)), known: one, need: 20, want: chosen{read: 2, from: 20, replaced: 1}},

		{name: "decided, not begun", instances: list(at(1, 10), at(2, 30)), known: known(2, 30, one), need: 20, want: chosen{before: 1, read: 2, from: 30, replaced: 1}},
		{name: "decided late, not begun", instances: list(at(1, 10), at(2, 30)), known: known(2, 35, one), need: 32, want: chosen{before: 1, read: 2, from: 35, replaced: 1}},
		{name: "decided, and cleaned since", instances: list(at(1, 10), at(2, 40)), known: known(2, 30, one), need: 20, want: chosen{before: 1, read: 2, from: 40, replaced: 1}},
		{name: "decided, and dropped since", instances: list(at(1, 10)), known: known(2, 30, one), need: 20, want: chosen{read: 1, from: 10}},
		{name: "decided, then observing", instances: list(at(1, 10), at(2, 30)), known: known(2, 30, one), need: 20, observe: true, want: chosen{read: 1, from: 10, unread: 2}},
		{name: "decided, the older dropped", instances: list(at(2, 30)), known: known(2, 30, one), need: 20, reason: ReasonInstanceReplaced},
		{name: "decided late, the older dropped, the newer holds all", instances: list(at(2, 30)), known: known(2, 35, one), need: 32, want: chosen{read: 2, from: 32, replaced: 1}},
		{name: "begun", instances: list(at(1, 10), at(2, 30)), known: known(2, 30, one), need: 40, want: chosen{read: 2, from: 30, replaced: 1}},
		{name: "begun, the older dropped", instances: list(at(2, 30)), known: known(2, 30, one), need: 40, want: chosen{read: 2, from: 30, replaced: 1}},
		{name: "begun inside its first transaction", instances: list(at(2, 30)), known: known(2, 30, one), need: 30, inside: true, want: chosen{read: 2, from: 30, replaced: 1, replay: true}},
		{name: "begun, then dropped beside the older", instances: list(at(1, 10)), known: known(2, 30, one), need: 40, want: chosen{read: 1, from: 40, replaced: 2}},
		{name: "begun and cleaned, beside the older", instances: list(at(1, 10), at(2, 50)), known: known(2, 30, one), need: 40, want: chosen{before: 1, read: 2, from: 50, replaced: 1}},
		{name: "back before two", instances: list(at(3, 50)), known: known(3, 50, known(2, 30, one)), need: 20, reason: ReasonInstanceReplaced},
		{name: "between two", instances: list(at(2, 30), at(3, 50)), known: known(3, 50, known(2, 30, one)), need: 40, want: chosen{before: 2, read: 3, from: 50, replaced: 2}},

		{name: "replaced without loss", instances: list(at(2, 20)), known: one, need: 20, want: chosen{read: 2, from: 20, replaced: 1}},
		{name: "replaced without loss, inside a transaction", instances: list(at(2, 20)), known: one, need: 20, inside: true, want: chosen{read: 2, from: 20, replaced: 1, replay: true}},
		{name: "replaced with loss", instances: list(at(2, 21)), known: one, need: 20, reason: ReasonInstanceReplaced},
		{name: "replaced by one without start", instances: list(unset), known: one, need: 20, reason: ReasonInstanceReplaced},
		{name: "replaced by two", instances: list(at(2, 15), at(3, 30)), known: one, need: 20, want: chosen{before: 2, read: 3, from: 30, replaced: 2}},
		{name: "gone", known: one, need: 20, reason: ReasonInstanceGone},
	} {
		t.Run(test.name, func(t *testing.T) {
			table.Instances = test.instances
			got, err := Choose(table, test.known, Terms{
				Need: lsnOf(test.need), Inside: test.inside, Follow: !test.observe,
				Refuse: func(*sqlserver.Table, *sqlserver.CaptureInstance, *sqlserver.CaptureInstance) (string, error) {
					return map[bool]string{true: "a test"}[test.refused], nil
				},
			})
			if test.reason != "" {
				var problem sqlserver.Problem
				require.ErrorAs(t, err, &problem)
				assert.Equal(t, test.reason, problem.Reason())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, inShort(got))
		})
	}
}

func inShort(c *Choice) (s chosen) {
	if c == nil {
		return s
	}
	s = chosen{read: c.Instance.ObjectID, from: int(binary.BigEndian.Uint64(c.Identity.FirstStart[2:])), replay: c.replay}
	if c.Before != nil {
		s.before = c.Before.ObjectID
	}
	if c.Identity.Replaced != nil {
		s.replaced = c.Identity.Replaced.ObjectID
	}
	if c.Unread != nil {
		s.unread = c.Unread.ObjectID
	}
	return s
}

// A refusal that cannot be decided ends the choice.
func TestChoose_RefusalFails(t *testing.T) {
	f := newFakeServer()
	table := f.table("a")
	table.Instances = append(table.Instances, f.instance(table, 2, lsnOf(15)))
	id := identify(table, table.Instances[0])
	for name, known := range map[string]*InstanceIdentity{"first sight": nil, "known": &id} {
		t.Run(name, func(t *testing.T) {
			_, err := Choose(table, known, Terms{
				Need: lsnOf(20), Follow: true,
				Refuse: func(*sqlserver.Table, *sqlserver.CaptureInstance, *sqlserver.CaptureInstance) (string, error) {
					return "", assert.AnError
				},
			})
			assert.ErrorIs(t, err, assert.AnError)
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

// The error says what is known: which instance is gone, and what is there. Why,
// nobody knows here.
func TestChoose_SaysWhatIsGone(t *testing.T) {
	old := InstanceIdentity{Schema: "dbo", Table: "a", SourceObjectID: 1, Name: "dbo_a", ObjectID: 11, FirstStart: lsnOf(5)}
	second := &sqlserver.CaptureInstance{ObjectID: 12, SourceObjectID: 1, Name: "dbo_a2", StartLSN: lsnOf(40)}
	unwanted := func(name string) bool { return name != "dbo_a" }
	for name, test := range map[string]struct {
		instances []*sqlserver.CaptureInstance
		wanted    func(string) bool
		reason    string
		says      []string
	}{
		"dropped behind a second one": {
			[]*sqlserver.CaptureInstance{second},
			nil, ReasonInstanceReplaced,
			[]string{`capture instance "dbo_a"`, "is gone", `"dbo_a2"`, "holds changes only from " + lsnOf(40).String() + " on", "in between, if anything was, is in no capture instance"},
		},
		"dropped":  {nil, nil, ReasonInstanceGone, []string{"is gone", "there is no other", "sys.sp_cdc_enable_table"}},
		"left out": {nil, unwanted, ReasonInstanceGone, []string{"left out by capture_instance_include_list"}},
		"left out for another": {
			[]*sqlserver.CaptureInstance{second}, unwanted, ReasonInstanceReplaced, []string{"left out by capture_instance_include_list; let"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			table := &sqlserver.Table{ObjectID: 1, Source: &schema.Table{Schema: "dbo", Name: "a"}, Instances: test.instances}
			_, err := Choose(table, &old, Terms{Need: lsnOf(30), Wanted: test.wanted})
			var problem *InstanceError
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, test.reason, problem.Reason())
			for _, part := range test.says {
				assert.Contains(t, err.Error(), part)
			}
			assert.NotContains(t, err.Error(), "disabled")
			if test.wanted != nil {
				assert.NotContains(t, err.Error(), "gone")
			}
		})
	}
}
