package input

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// What is concluded from the fork, from what is recorded of the commit at the
// position, and from both.
func TestComparison(t *testing.T) {
	const same, refused = "", "restored"
	at := time.Date(2026, 11, 30, 10, 0, 0, 3_000_000, time.UTC)
	w := witness{lsnOf(50), "2026-11-30T10:00:00.003"}
	a := sqlserver.Lineage{Family: "F", Fork: "A"}
	b := sqlserver.Lineage{Family: "F", Fork: "B"}
	fromA := func(point int) sqlserver.Lineage {
		return sqlserver.Lineage{Family: "F", Fork: "B", Before: "A", ForkPoint: lsnOf(point)}
	}
	unknown := sqlserver.Lineage{}
	found := sqlserver.Recorded{Oldest: lsnOf(10), Newest: lsnOf(90), Found: true, Ended: at}
	otherTime := sqlserver.Recorded{Oldest: lsnOf(10), Newest: lsnOf(90), Found: true, Ended: at.Add(3 * time.Millisecond)}
	absent := sqlserver.Recorded{Oldest: lsnOf(10), Newest: lsnOf(90)}
	behind := sqlserver.Recorded{Oldest: lsnOf(10), Newest: lsnOf(40)}
	cleaned := sqlserver.Recorded{Oldest: lsnOf(60), Newest: lsnOf(90)}
	empty := sqlserver.Recorded{}
	tests := []struct {
		name        string
		witness     witness
		stored, now sqlserver.Lineage
		recorded    sqlserver.Recorded
		want        string
	}{
		{"same", w, a, a, found, same},
		{"a replica that lags", w, a, a, behind, same},
		{"changes were cleaned up", w, a, a, cleaned, same},
		{"change data capture was enabled anew", w, a, a, empty, same},
		{"files copied back: the fork is the same, and the log is past the position", w, a, a, absent, refused},
		{"files copied back, and another transaction has the LSN", w, a, a, otherTime, refused},

		{"a failover with a fork of its own", w, a, b, found, same},
		{"restored to a point behind the position", w, a, fromA(70), found, same},
		{"restored, and behind the position", w, a, fromA(30), behind, refused},
		{"restored, and past the position already", w, a, fromA(30), absent, refused},
		{"restored, and another transaction has the LSN", w, a, fromA(30), otherTime, refused},
		{"a replica that lags, behind a failover", w, a, fromA(50), behind, same},
		{"a failover that lost the position", w, a, fromA(49), behind, refused},
		{"forked more than once, and lags", w, a, b, behind, refused},
		{"forked more than once, and cleaned up", w, a, b, cleaned, refused},
		{"another database of the name", w, a, sqlserver.Lineage{Family: "G", Fork: "C"}, behind, refused},
		{"another database, that has the same LSN and time", w, a, sqlserver.Lineage{Family: "G", Fork: "C"}, found, refused},

		{"no witness, same fork", witness{}, a, a, absent, same},
		{"no witness, fork behind the position", witness{}, a, fromA(50), absent, same},
		{"no witness, fork before the position", witness{}, a, fromA(49), absent, refused},
		{"an older witness proves nothing of the position", witness{lsnOf(48), w.Ended}, a, b, found, refused},

		{"nothing of forks, found", w, unknown, unknown, found, same},
		{"nothing of forks, behind", w, unknown, unknown, behind, same},
		{"nothing of forks, past the position", w, unknown, unknown, absent, refused},
		{"nothing of forks, another time", w, unknown, a, otherTime, refused},
		{"no fork stored", w, unknown, a, found, same},
		{"the fork is not seen any more", w, a, unknown, behind, same},
		{"nothing is known", witness{}, unknown, unknown, absent, same},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := histories{lsnOf(50), tt.witness, tt.stored, tt.now, tt.recorded}.problem()
			if tt.want == same {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, got, lsnOf(50).String())
		})
	}
}

func TestSeen_Witness(t *testing.T) {
	at := time.Date(2026, 11, 30, 10, 0, 0, 997_000_000, time.UTC)
	before := witness{lsnOf(3), "before"}
	s := newSeen(sqlserver.Poll{
		Max: lsnOf(9), MaxRecorded: at.Add(time.Hour),
		Commits: []sqlserver.Commit{{LSN: lsnOf(5), Recorded: at}, {LSN: lsnOf(6)}, {LSN: lsnOf(7), Recorded: at.Add(time.Minute)}},
	})
	assert.Equal(t, witness{lsnOf(5), "2026-11-30T10:00:00.997"}, s.witness(lsnOf(5), before))
	assert.Equal(t, witness{lsnOf(7), "2026-11-30T10:01:00.997"}, s.witness(lsnOf(7), before))
	assert.Equal(t, witness{lsnOf(9), "2026-11-30T11:00:00.997"}, s.witness(lsnOf(9), before), "the newest, idle or not")
	assert.Equal(t, before, s.witness(lsnOf(6), before), "a commit without a time")
	assert.Equal(t, before, s.witness(lsnOf(8), before), "no commit")
	assert.Equal(t, witness{}, s.witness(lsnOf(2), before), "a mark behind part of a batch")
	assert.Equal(t, before, (*seen)(nil).witness(lsnOf(4), before))
}

// A commit that is not recorded, or without a time, proves nothing.
func TestWitness_Recorded(t *testing.T) {
	ended := time.Date(2026, 11, 30, 10, 0, 0, 997e6, time.UTC)
	for _, test := range []struct {
		recorded sqlserver.Recorded
		want     witness
	}{
		{sqlserver.Recorded{}, witness{}},
		{sqlserver.Recorded{Found: true}, witness{}},
		{sqlserver.Recorded{Found: true, Ended: ended}, witness{lsnOf(5), "2026-11-30T10:00:00.997"}},
	} {
		assert.Equal(t, test.want, witnessAt(lsnOf(5), test.recorded))
	}
}
