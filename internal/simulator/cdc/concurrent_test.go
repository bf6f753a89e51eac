package cdc_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCapture_Concurrent captures while sessions write, and checks that no row
// ever appears at or below a maximum seen before, and that nothing is lost.
func TestCapture_Concurrent(t *testing.T) {
	const writers, rounds = 4, 25
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t")

	var writing sync.WaitGroup
	for w := range writers {
		session := s.login("sa", "secret", "shop")
		writing.Go(func() {
			defer session.Close()
			for i := range rounds {
				id := w*rounds + i
				sql := fmt.Sprintf("BEGIN TRAN; INSERT t VALUES (%d, 0); UPDATE t SET v = %d WHERE id = %d; COMMIT", id, i+1, id)
				var a answer
				assert.NoError(t, session.Batch(context.Background(), sql, &a))
				assert.Empty(t, a.errors)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writing.Wait()
		close(done)
	}()
	seen, above := "0x", 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		s.capture()
		// The job captures as well: the maximum is asked for before the rows.
		// A commit that came during a first, empty scan leaves none yet.
		limit := s.query("SELECT ISNULL(sys.fn_cdc_get_max_lsn(), 0x)")[0]
		rows := s.query("SELECT COUNT(*) FROM cdc.dbo_t_CT WHERE [__$start_lsn] > " + seen + " AND [__$start_lsn] <= " + limit)
		above += atoi(t, rows[0])
		seen = limit
	}
	assert.Equal(t, 3*writers*rounds, above, "each row was above the maximum seen before it")

	replayed := map[string]string{}
	for _, line := range s.query("SELECT [__$operation], [__$update_mask], id, v FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]") {
		apply(t, replayed, line)
	}
	want := s.query("SELECT id, v FROM t")
	slices.Sort(want)
	assert.Equal(t, want, slices.Sorted(maps.Values(replayed)))
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	_, err := fmt.Sscan(s, &n)
	require.NoError(t, err)
	return n
}
