package notice

import (
	"log/slog"
	"sync"
)

// Once logs remarks on what a database is like, each of them once in the life of
// an input: a new connection meets the same database. It is safe for concurrent
// use.
type Once struct {
	log *slog.Logger

	mu   sync.Mutex
	said map[remark]bool
}

// remark is one on a table, or on none.
type remark struct{ table, text string }

// NewOnce returns what has said nothing yet.
func NewOnce(log *slog.Logger) *Once {
	return &Once{log: log, said: map[remark]bool{}}
}

// Warn logs a remark on a table, or on none, that is news.
func (o *Once) Warn(table, text string) {
	if !o.news(remark{table, text}) {
		return
	}
	log := o.log
	if table != "" {
		log = log.With("table", table)
	}
	log.Warn(text)
}

// Info logs what is no trouble, once.
func (o *Once) Info(text string) {
	if o.news(remark{text: text}) {
		o.log.Info(text)
	}
}

// news reports whether a remark was not said before, and notes that it is.
func (o *Once) news(what remark) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said[what] {
		return false
	}
	o.said[what] = true
	return true
}
