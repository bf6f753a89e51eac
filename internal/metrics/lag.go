package metrics

import (
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

const (
	// lsnSilence is the age of the newest LSN from which on it counts as a lag:
	// while nothing happens the capture job notes so about every five minutes. A
	// capture job that is known to stand still counts at once.
	lsnSilence = 6 * time.Minute
	// pollSilence is how long no look for changes may succeed, beyond the time
	// between two of them, until it is a lag that the database cannot be asked.
	pollSilence = 10 * time.Second
)

// lag knows how far behind the source a database's events are: the age of the
// oldest transaction that is not delivered whole. While there is none it is zero,
// unless nobody can know: then it is the time since it was known.
type lag struct {
	// waiting are the batches read and not acknowledged, from head on, in the
	// order of their positions; last is that of the last one ever.
	waiting []waiting
	head    int
	last    lsn.Position

	held map[string]heldLag // by name of the table

	commits  []sqlserver.Commit // of the last look for changes
	unread   time.Time          // of the next transaction to be read; zero: none
	newest   lsn.LSN            // that the capture job has passed
	captured time.Time          // when that was; zero: never looked
	stalled  bool               // the capture job is known to stand still since
	polled   time.Time          // the last look for changes, by our clock
	skew     time.Duration      // of the server's clock to ours
}

// waiting is a batch that is not acknowledged.
type waiting struct {
	upTo   lsn.Position
	oldest time.Time // the time of its first transaction
	events int64
}

// looked notes what a look for changes has found, and whether that is news.
func (l *lag) looked(now time.Time, p sqlserver.Poll) (news bool) {
	news = len(p.Commits) > 0 || !p.MaxTime.Equal(l.captured)
	if p.Max != l.newest {
		l.stalled = false // until that is found again
	}
	l.newest = p.Max
	l.polled, l.commits, l.captured = now, p.Commits, p.MaxTime
	if !p.Now.IsZero() {
		l.skew = p.Now.Sub(now)
	}
	if len(p.Commits) > 0 {
		l.unread = p.Commits[0].End
	}
	for table, h := range l.held {
		l.held[table] = h.behind(p.Commits)
	}
	return news
}

// caughtUp notes that all that was found is read, and whether that is news.
func (l *lag) caughtUp() (news bool) {
	news = !l.unread.IsZero()
	l.unread = time.Time{}
	return news
}

// read notes a batch. One that is read again, after a rejection, waits already.
func (l *lag) read(b *event.Batch, upTo lsn.Position) (lastCommit time.Time) {
	n := len(b.Messages)
	if n == 0 {
		return time.Time{}
	}
	lastCommit = l.timeOf(&b.Messages[n-1])
	l.unread = lastCommit
	if l.last.Before(upTo) {
		l.last = upTo
		l.compact()
		l.waiting = append(l.waiting, waiting{upTo, l.timeOf(&b.Messages[0]), int64(n)})
	}
	return lastCommit
}

// compact gives back the room of what is acknowledged, without moving much.
func (l *lag) compact() {
	if l.head > 0 && l.head*2 >= len(l.waiting) {
		l.waiting = l.waiting[:copy(l.waiting, l.waiting[l.head:])]
		l.head = 0
	}
}

// timeOf returns when the transaction of a message ended, whatever its source
// block says.
func (l *lag) timeOf(m *event.Message) time.Time {
	i, found := slices.BinarySearchFunc(l.commits, m.Position.Commit, func(c sqlserver.Commit, want lsn.LSN) int {
		return c.LSN.Compare(want)
	})
	if found && !l.commits[i].End.IsZero() {
		return l.commits[i].End
	}
	return m.SourceTime
}

// acknowledged notes that everything up to a position is delivered, and calls
// each with how long the batches took.
func (l *lag) acknowledged(now time.Time, upTo lsn.Position, each func(took time.Duration, events int64)) {
	for ; l.head < len(l.waiting) && !upTo.Before(l.waiting[l.head].upTo); l.head++ {
		w := l.waiting[l.head]
		each(l.age(now, w.oldest), w.events)
	}
}

// age returns how long ago something was by the server's clock, at least zero.
func (l *lag) age(now, then time.Time) time.Duration {
	if then.IsZero() {
		return 0
	}
	return max(0, now.Add(l.skew).Sub(then))
}

// lsnAge returns the age of the newest LSN.
func (l *lag) lsnAge(now time.Time) time.Duration { return l.age(now, l.captured) }

// behind returns the lag, given the longest time between two looks for changes.
func (l *lag) behind(now time.Time, interval time.Duration) time.Duration {
	oldest := l.unread
	if l.head < len(l.waiting) {
		oldest = l.waiting[l.head].oldest
	}
	behind := l.age(now, oldest)
	for _, h := range l.held {
		behind = max(behind, l.age(now, h.oldest))
	}
	if age := l.lsnAge(now); l.stalled || age > lsnSilence {
		behind = max(behind, age)
	}
	if l.silent(now, interval) {
		behind = max(behind, now.Sub(l.polled))
	}
	return behind
}

// silent reports whether the database could not be asked for too long, given the
// longest time between two looks for changes.
func (l *lag) silent(now time.Time, interval time.Duration) bool {
	return !l.polled.IsZero() && now.Sub(l.polled) > interval+pollSilence
}
