package storage

import "time"

// Clock is the only source of time. Commit times come from Now, lock timeouts from
// AfterFunc. It may be a test's clock; inside testing/synctest [SystemClock] does.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine once d has passed, unless stop was
	// called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the clock of package time.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc calls f after d.
func (SystemClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// FsyncPolicy says what a commit waits for before it returns.
type FsyncPolicy uint8

const (
	// FsyncNever hands each commit to the operating system and does not wait for the
	// disk: it survives the death of the process (kill -9), not that of the machine.
	FsyncNever FsyncPolicy = iota
	// FsyncCommit waits for the disk. Commits that wait at the same time share one
	// flush.
	FsyncCommit
)

// Options configures a [Store].
type Options struct {
	// Dir is the folder of the databases' files, made when missing. Empty keeps
	// everything in memory.
	Dir string
	// Clock defaults to [SystemClock].
	Clock Clock
	// Fsync matters only when Dir is set.
	Fsync FsyncPolicy
}
