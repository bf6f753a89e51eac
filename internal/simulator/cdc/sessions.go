package cdc

import (
	"errors"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// keptSessions is how many log scan sessions and errors the views show (MS docs:
// sys.dm_cdc_log_scan_sessions).
const keptSessions = 32

// sessionHistory is what the views show of one database's log scans. It is
// empty after a restart, as the server's is.
type sessionHistory struct {
	mu       sync.Mutex
	next     int64
	sessions []*logSession // oldest first
	total    logSession    // all of them, those no longer kept included
	failures []scanError
}

// logSession is one log scan session. Successive sessions that find nothing are
// one row with a growing count.
type logSession struct {
	id                      int64
	start, end              time.Time
	startLSN                storage.LSN
	transactions, records   int64
	schemaChanges, commands int64
	firstCDC, lastCDC       storage.LSN
	lastCDCTime             time.Time
	emptyScans, failed      int64
	errors                  int64
}

// scanError is one row of sys.dm_cdc_errors.
type scanError struct {
	session int64
	at      time.Time
	err     *sqltypes.Error
	where   scanPlace
}

// scanPlace says how far a scan had come when it failed: the transaction's commit
// and begin, and the change.
type scanPlace struct{ commit, begin, sequence storage.LSN }

// failedScanError is an error with its place.
type failedScanError struct {
	scanPlace
	err error
}

func (f *failedScanError) Error() string { return f.err.Error() }
func (f *failedScanError) Unwrap() error { return f.err }

// add counts a scan that found transactions.
func (s *logSession) add(found *scan) {
	s.transactions += found.transactions
	s.records += found.records
	s.schemaChanges += found.schemaChanges
	s.commands += found.commands
	if s.firstCDC.IsZero() {
		s.firstCDC = found.first
	}
	if !found.last.IsZero() {
		s.lastCDC, s.lastCDCTime = found.last, found.lastTime
	}
}

// end files a finished session; err is what made it fail.
func (h *sessionHistory) end(s *logSession, now time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.end = now
	list := serverErrors(err)
	s.errors = int64(len(list))
	switch {
	case err != nil:
		s.failed = 1
	case s.transactions == 0:
		s.emptyScans = 1
	}
	h.sum(s)
	if last := h.last(); last != nil && last.emptyScans > 0 && s.emptyScans > 0 {
		last.end = now
		last.emptyScans++
		return
	}
	h.next++
	s.id = h.next
	h.sessions = append(h.sessions, s)
	if len(h.sessions) > keptSessions {
		h.sessions = h.sessions[1:]
	}
	var where scanPlace
	if f, ok := errors.AsType[*failedScanError](err); ok {
		where = f.scanPlace
	}
	for _, e := range list {
		h.fail(scanError{session: s.id, at: now, err: e, where: where})
	}
}

func (h *sessionHistory) last() *logSession {
	if len(h.sessions) == 0 {
		return nil
	}
	return h.sessions[len(h.sessions)-1]
}

// sum adds a session to the aggregate row.
func (h *sessionHistory) sum(s *logSession) {
	t := &h.total
	if t.start.IsZero() {
		t.start = s.start
	}
	t.end = s.end
	t.transactions += s.transactions
	t.records += s.records
	t.schemaChanges += s.schemaChanges
	t.commands += s.commands
	t.emptyScans += s.emptyScans
	t.failed += s.failed
	t.errors += s.errors
	if t.firstCDC.IsZero() {
		t.firstCDC = s.firstCDC
	}
	if !s.lastCDC.IsZero() {
		t.lastCDC, t.lastCDCTime = s.lastCDC, s.lastCDCTime
	}
}

// fail files an error and forgets those of sessions that are no longer kept.
func (h *sessionHistory) fail(e scanError) {
	h.failures = append(h.failures, e)
	for len(h.failures) > 0 && h.failures[0].session <= h.next-keptSessions {
		h.failures = h.failures[1:]
	}
}

// serverErrors are the errors as the server reports them: what went wrong, then
// that the scan failed.
func serverErrors(err error) []*sqltypes.Error {
	if err == nil {
		return nil
	}
	var list []*sqltypes.Error
	collectErrors(err, &list)
	if len(list) == 1 && list[0].Number == 22903 {
		return list
	}
	return append(list, errScanFailed())
}

// collectErrors gathers the server errors in a tree of wrapped ones.
func collectErrors(err error, list *[]*sqltypes.Error) {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case nil:
	case *sqltypes.Error:
		*list = append(*list, e)
	case interface{ Unwrap() error }:
		collectErrors(e.Unwrap(), list)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			collectErrors(inner, list)
		}
	}
}

// snapshot copies what the views show.
func (h *sessionHistory) snapshot() (total logSession, sessions []logSession, failures []scanError) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		sessions = append(sessions, *s)
	}
	return h.total, sessions, append(failures, h.failures...)
}
