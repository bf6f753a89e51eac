package event

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// periods is a table whose key holds moments in nanoseconds.
func periods() *schema.Table {
	moment := schema.Type{Kind: schema.DateTime2, Name: "datetime2", Scale: 7}
	return &schema.Table{
		Database: "testDB", Schema: "dbo", Name: "periods",
		Columns: []schema.Column{
			{Name: "valid_to", Type: moment, ID: 1, Ordinal: 1},
			{Name: "seen", Type: moment, Nullable: true, ID: 2, Ordinal: 2},
		},
		Key: []int{0},
	}
}

// A change of which no event can be made is told of and left out, and the next
// is as if it had not been there. What can be null is, if that is wanted.
func TestEncoder_LeavesOut(t *testing.T) {
	forever := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for name, test := range map[string]struct {
		failures FailureMode
		change   Change
		left     bool
	}{
		"good":                   {FailuresUnset, change(OpCreate, nil, []driver.Value{now, nil}), false},
		"key":                    {FailuresUnset, change(OpCreate, nil, []driver.Value{forever, nil}), true},
		"key, null wanted":       {FailuresWarn, change(OpCreate, nil, []driver.Value{forever, nil}), true},
		"value":                  {FailuresUnset, change(OpCreate, nil, []driver.Value{now, forever}), true},
		"value, null wanted":     {FailuresSkip, change(OpCreate, nil, []driver.Value{now, forever}), false},
		"value before":           {FailuresUnset, change(OpUpdate, []driver.Value{now, forever}, []driver.Value{now, nil}), true},
		"new key":                {FailuresUnset, change(OpUpdate, []driver.Value{now, nil}, []driver.Value{forever, nil}), true},
		"half of a key's change": {FailuresUnset, change(OpUpdate, []driver.Value{now, nil}, []driver.Value{now.Add(time.Hour), forever}), true},
		"unexpected null":        {FailuresFail, change(OpDelete, []driver.Value{nil, nil}, nil), true},
		"undecodable":            {FailuresWarn, change(OpCreate, nil, []driver.Value{"now", nil}), true},
	} {
		for kind, structured := range map[string]bool{"text": false, "structured": true} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				var notices []FailureNotice
				var values int
				e, err := NewEncoder(periods(), options(func(o *Options) {
					o.Failures, o.Structured = test.failures, structured
					o.OnFailure = func(n FailureNotice) { notices = append(notices, n) }
					o.OnValue = func(ValueNotice) { values++ }
				}))
				require.NoError(t, err)

				events, err := e.Events(test.change)
				require.NoError(t, err)
				require.Empty(t, notices, "counting tells of nothing")
				dropped, err := e.Drops(test.change)
				require.NoError(t, err)
				assert.Equal(t, test.left, dropped)
				assert.Zero(t, values)
				notices = nil

				var b Batch
				require.NoError(t, e.Row(&b, test.change))
				if !test.left {
					assert.Equal(t, int64(1), events)
					require.Len(t, b.Messages, 1)
					require.Empty(t, notices)
					return
				}
				assert.Zero(t, events)
				require.Empty(t, b.Messages)
				require.Len(t, notices, 1)
				assert.Equal(t, e.Table(), notices[0].Table)
				assert.Equal(t, test.change.Position, notices[0].Position)
				assert.ErrorContains(t, notices[0].Err, "of testDB.dbo.periods")

				require.NoError(t, e.Row(&b, change(OpCreate, nil, []driver.Value{now, nil})))
				require.Len(t, b.Messages, 1)
			})
		}
	}
}

// A change that does not fit its table is a mistake of the program and no
// reason to leave anything out.
func TestEncoder_LeavesOutNoMistakes(t *testing.T) {
	e, err := NewEncoder(periods(), options(func(o *Options) {
		o.OnFailure = func(n FailureNotice) { assert.Fail(t, "left out", "%v", n.Err) }
	}))
	require.NoError(t, err)
	short := change(OpCreate, nil, []driver.Value{nil})
	require.Error(t, e.Row(&Batch{}, short))
	_, err = e.Events(short)
	require.Error(t, err)
	_, err = e.Drops(short)
	require.Error(t, err)
}
