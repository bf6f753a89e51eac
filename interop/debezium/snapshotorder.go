package debezium

import (
	"cmp"
	"slices"
)

// SortSnapshot orders the rows of each snapshot by topic, key and value, for a
// snapshot by several threads, whose rows come in no order of their own. All
// other records stay where they are.
func SortSnapshot(records []Record) []Record {
	sorted := slices.Clone(records)
	begin := 0
	for i := range sorted {
		if isSnapshotRow(sorted[i]) {
			continue
		}
		sortRows(sorted[begin:i])
		begin = i + 1
	}
	sortRows(sorted[begin:])
	return sorted
}

func isSnapshotRow(r Record) bool {
	kind, p, err := r.Decode()
	return err == nil && kind == KindChange && p.Op == "r"
}

func sortRows(rows []Record) {
	slices.SortStableFunc(rows, func(a, b Record) int {
		return cmp.Or(
			cmp.Compare(a.Topic, b.Topic),
			cmp.Compare(string(a.Key), string(b.Key)),
			cmp.Compare(string(a.Value), string(b.Value)),
		)
	})
}
