package engine

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// indexUsage counts how the indexes of a database were read since the server
// started, for sys.dm_db_index_usage_stats. It is safe for concurrent use.
type indexUsage struct{ counts sync.Map } // indexID -> *indexCounts

type indexID struct {
	table int64
	index int
}

// indexCounts are those of one index: reads of a stretch of it, and of all of
// it. The times are in nanoseconds since 1970, zero for never.
type indexCounts struct {
	seeks, scans       atomic.Int64
	lastSeek, lastScan atomic.Int64
}

// note counts one read of an index by a statement.
func (u *indexUsage) note(t *Table, index int, seek bool, at int64) {
	if index == storage.BaseIndex {
		index = 0
		if ix := t.Clustered(); ix != nil {
			index = ix.ID
		}
	}
	id := indexID{t.ID, index}
	found, ok := u.counts.Load(id)
	if !ok {
		found, _ = u.counts.LoadOrStore(id, &indexCounts{})
	}
	c := found.(*indexCounts)
	if seek {
		c.seeks.Add(1)
		c.lastSeek.Store(at)
	} else {
		c.scans.Add(1)
		c.lastScan.Store(at)
	}
}

// whole reports ranges that are all of an index.
func whole(ranges []keyRange) bool {
	return len(ranges) == 1 && len(ranges[0].low) == 0 && len(ranges[0].high) == 0
}

// indexUsageRows fills sys.dm_db_index_usage_stats, which has a row for each
// index that was read. The simulator's bookmarks and updates are not counted.
// Source: MS docs, sys.dm_db_index_usage_stats.
func indexUsageRows(x *Exec, _ *Database, out *rowFiller) error {
	for _, db := range x.in.Databases() {
		var ids []indexID
		db.usage.counts.Range(func(id, _ any) bool {
			ids = append(ids, id.(indexID))
			return true
		})
		slices.SortFunc(ids, func(a, b indexID) int {
			return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.index, b.index))
		})
		for _, id := range ids {
			found, _ := db.usage.counts.Load(id)
			c := found.(*indexCounts)
			row := fields{
				"database_id": integer(int64(db.id)), "object_id": integer(id.table), "index_id": integer(int64(id.index)),
				"user_seeks": integer(c.seeks.Load()), "user_scans": integer(c.scans.Load()),
			}
			for name, at := range map[string]int64{"last_user_seek": c.lastSeek.Load(), "last_user_scan": c.lastScan.Load()} {
				if at != 0 {
					row[name] = x.dateTime(time.Unix(0, at))
				}
			}
			if err := out.add(row); err != nil {
				return err
			}
		}
	}
	return nil
}
