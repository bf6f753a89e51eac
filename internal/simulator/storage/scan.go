package storage

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// Range selects index entries by prefixes of the key, in the order of the index's
// columns; a bound's values may be fewer than the columns. Values are compared in
// the column's type, NULL lowest. On a Desc column Low is where an ascending walk of
// the index begins, that is the greater value. The zero Range is everything; the heap
// ignores ranges.
type Range struct {
	Low, High []sqltypes.Value
	// An inclusive bound takes the entries that begin with it. Without it they are
	// left out.
	LowInclusive, HighInclusive bool
}

// Point is the range of entries whose keys begin with prefix.
func Point(prefix ...sqltypes.Value) Range {
	return Range{Low: prefix, High: prefix, LowInclusive: true, HighInclusive: true}
}

// ScanOptions qualifies one scan.
type ScanOptions struct {
	// Desc walks the index backwards.
	Desc bool
	// NoLock reads uncommitted rows (NOLOCK, READUNCOMMITTED).
	NoLock bool
	// ReadPast skips rows that other transactions have locked (READPAST).
	ReadPast bool
	// RowLock takes U (UPDLOCK; the read of an UPDATE or DELETE) or X (XLOCK) on each
	// returned row, until the transaction's end or [Iterator.ReleaseRow].
	RowLock LockMode
	// TableLock takes S (TABLOCK) or X (TABLOCKX) on the table: S for the statement
	// under READ COMMITTED, else to the transaction's end.
	TableLock LockMode
	// HoldLock is SERIALIZABLE for this scan (HOLDLOCK): its range of the index, or the
	// whole table if it has no bounds, is protected until the transaction's end.
	HoldLock bool
	// RepeatableRead is REPEATABLE READ for this scan: S on each returned row.
	RepeatableRead bool
	// ReadCommitted is READ COMMITTED for this scan, ReadCommittedLock the same with
	// locks although the database reads versions.
	ReadCommitted, ReadCommittedLock bool
	// NoWait fails (1222) where the scan would wait for a lock (NOWAIT).
	NoWait bool
	// StatementStart hides what the running statement itself has written, so that an
	// UPDATE does not meet its own rows again. Otherwise the scan sees all that the
	// transaction wrote before the Scan call.
	StatementStart bool
}

// span is a range as a walk in one direction meets it.
type span struct {
	desc           bool
	from, stop     entry
	bounded, stops bool // from and stop are set
}

// span returns the range in an index, walked in one direction.
func (r Range) span(ix *index, desc bool) span {
	s := span{desc: desc}
	if len(ix.cols) > 0 {
		s.from, s.bounded = r.startOf(desc)
		s.stop, s.stops = r.stopOf(desc)
	}
	return s
}

// startOf returns where a walk in ascending or descending order begins; false means at
// the very end of the index.
func (r Range) startOf(desc bool) (entry, bool) {
	switch {
	case !desc && len(r.Low) > 0:
		return bound(r.Low, !r.LowInclusive), true
	case desc && len(r.High) > 0:
		return bound(r.High, r.HighInclusive), true
	default:
		return entry{}, false
	}
}

// stopOf returns the bound at which the walk ends; false means nowhere.
func (r Range) stopOf(desc bool) (entry, bool) {
	return Range{
		Low: r.High, High: r.Low, LowInclusive: !r.HighInclusive, HighInclusive: !r.LowInclusive,
	}.startOf(desc)
}

// walk calls f with the entries of the range until f returns false. With resume it
// begins behind that entry. The table's latch is held.
func walk(ix *index, span span, resume *entry, f func(entry) bool) {
	from, bounded := span.from, span.bounded
	if resume != nil {
		from, bounded = *resume, true
	}
	step := func(e entry) bool {
		if resume != nil {
			if e.rec == resume.rec && ix.compareKeys(e.key, resume.key) == 0 {
				return true
			}
			resume = nil
		}
		if span.stops && (ix.compareBound(span.stop.key, e) < 0) != span.desc {
			return false
		}
		return f(e)
	}
	switch {
	case !bounded && !span.desc:
		ix.tree.Scan(step)
	case !bounded:
		ix.tree.Reverse(step)
	case !span.desc:
		ix.tree.Ascend(from, step)
	default:
		ix.tree.Descend(from, step)
	}
}
