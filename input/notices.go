package input

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

// notices are warnings about what a database is like, each of which is said
// once in the life of an input: a new connection meets the same database. It
// is safe for concurrent use.
type notices struct {
	log       *slog.Logger
	unmatched *unmatched // told which entries of lists match nothing

	mu   sync.Mutex
	said map[notice]bool
}

// notice is a remark on a table, or on none.
type notice struct{ table, text string }

func newNotices(log *slog.Logger) *notices {
	return &notices{log: log, said: map[notice]bool{}}
}

// warn logs a notice that is news.
func (n *notices) warn(table, text string) {
	if !n.news(notice{table, text}) {
		return
	}
	log := n.log
	if table != "" {
		log = log.With("table", table)
	}
	log.Warn(text)
}

// info logs what is no trouble, once.
func (n *notices) info(text string) {
	if n.news(notice{text: text}) {
		n.log.Info(text)
	}
}

// news reports whether a notice was not said before, and notes that it is.
func (n *notices) news(what notice) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said[what] {
		return false
	}
	n.said[what] = true
	return true
}

// replaced warns of text that is not what the source holds, for all that can be
// seen of it.
func (n *notices) replaced(r event.ReplacedNotice) {
	n.warn(r.Table.ID().String(), fmt.Sprintf("column %q holds U+FFFD: unless the source has it so, it stands for half of a surrogate pair or for bytes that the column's code page does not define", r.Column))
}

// omitted names the captured columns that the events of a table version leave
// out.
func (n *notices) omitted(e *event.Encoder) {
	for _, o := range e.Omitted() {
		n.warn(e.Table().ID().String(), "column "+strconv.Quote(o.Column)+" is left out of events: "+o.Reason)
	}
}
