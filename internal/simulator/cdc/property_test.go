package cdc_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCapture_ReplayGivesTheTable runs random statements and checks that the
// change rows, applied in the order of the change table, make the source table
// from nothing, and that masks say exactly what changed.
func TestCapture_ReplayGivesTheTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := start(t)
		s.exec("CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE, v varchar(20), w int)")
		s.track("t")
		statements := rapid.SliceOfN(rapid.Custom(randomStatement), 1, 30).Draw(rt, "statements")
		for i, sql := range statements {
			batch(t, s.session, sql) // duplicate keys fail and leave nothing
			if i%7 == 6 {
				s.capture()
			}
		}
		s.capture()
		replayed := map[string]string{}
		for _, line := range s.query("SELECT [__$operation], [__$update_mask], id, u, v, w FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]") {
			apply(rt, replayed, line)
		}
		want := s.query("SELECT id, u, v, w FROM t ORDER BY id")
		slices.Sort(want)
		got := slices.Sorted(maps.Values(replayed))
		require.Equal(rt, want, got)
	})
}

func randomStatement(t *rapid.T) string {
	id := rapid.IntRange(1, 6).Draw(t, "id")
	n := rapid.IntRange(1, 9).Draw(t, "n")
	return rapid.SampledFrom([]string{
		fmt.Sprintf("INSERT t VALUES (%d, %d, 'v%d', NULL)", id, n, n),
		fmt.Sprintf("INSERT t VALUES (%d, %d, 'a', 1), (%d, %d, 'b', 2)", id, n, id+1, n+1),
		fmt.Sprintf("UPDATE t SET v = 'x%d' WHERE id >= %d", n, id),
		fmt.Sprintf("UPDATE t SET w = w + 1, v = 'x' WHERE id = %d", id),
		fmt.Sprintf("UPDATE t SET id = %d WHERE id = %d", n, id),
		fmt.Sprintf("UPDATE t SET id = id + %d", n),
		fmt.Sprintf("UPDATE t SET u = u + 1 WHERE id > %d", id),
		fmt.Sprintf("DELETE t WHERE id = %d", id),
		fmt.Sprintf("DELETE t WHERE u < %d", n),
		fmt.Sprintf("BEGIN TRAN; INSERT t VALUES (%d, %d, 'r', 0); UPDATE t SET w = 5; ROLLBACK", id+20, n+20),
		fmt.Sprintf("BEGIN TRAN; UPDATE t SET w = %d; DELETE t WHERE id = %d; COMMIT", n, id),
	}).Draw(t, "sql")
}

// apply performs one change row on the replayed table, which maps a key to its
// row as text.
func apply(t require.TestingT, table map[string]string, line string) {
	fields := strings.Fields(line)
	op, mask, key, row := fields[0], fields[1], fields[2], strings.Join(fields[2:], " ")
	switch op {
	case "1":
		require.Equal(t, row, table[key], "deleting what is there")
		delete(table, key)
	case "2":
		require.NotContains(t, table, key)
		table[key] = row
	case "3":
		require.Equal(t, row, table[key], "the before image")
	case "4":
		want := 0
		for i, old := range strings.Fields(table[key]) {
			if old != fields[2+i] {
				want |= 1 << i
			}
		}
		require.Equal(t, fmt.Sprintf("0x%02X", want), mask)
		table[key] = row
	}
}
