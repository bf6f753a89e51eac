package crashtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// marker is a row of table m, by which to tell that everything before it was
// delivered.
type marker struct {
	database string
	id       int
}

// markers are those that were delivered, with the commit LSNs of those in the
// stream. The others, of which a page of the snapshot that was read late held
// the row, have none.
type markers map[marker]string

func (m markers) note(events []Event) {
	for _, e := range events {
		if e.Table != "m" || e.Kind != kindChange {
			continue
		}
		var is marker
		if _, err := fmt.Sscanf(e.Key, `{"id":%d}`, &is.id); err != nil {
			continue // no marker: it is missed where one is waited for
		}
		is.database = e.Database
		if e.Op == opRead {
			m[is] += "" // it is there now
		} else {
			m[is] = e.commit()
		}
	}
}

var commitInText = regexp.MustCompile(`[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}/`)

// savedCommit returns the commit LSN of the position in a saved document.
func savedCommit(document []byte) string {
	at := commitInText.Find(document)
	if at == nil {
		return ""
	}
	return string(at[:len(at)-1])
}

// holds reports whether tables of a database are held by what is saved, behind
// the others. That one is held no more is saved with the change that comes next.
func holds(cache *streamtest.Cache, database string) bool {
	type place struct {
		Position string
		Held     []struct{ Position string }
	}
	var newest struct {
		Epoch, Revision uint64
		Document        place
	}
	for key, value := range cache.Values() {
		slot := newest
		slot.Document = place{}
		if !strings.Contains(key, "."+database+".position.") || json.Unmarshal(value, &slot) != nil {
			continue // torn
		}
		if slot.Epoch > newest.Epoch || slot.Epoch == newest.Epoch && slot.Revision >= newest.Revision {
			newest = slot
		}
	}
	for _, h := range newest.Document.Held {
		if h.Position < newest.Document.Position {
			return true
		}
	}
	return false
}

// saved returns the greatest commit LSN of a database's saved positions.
func saved(cache *streamtest.Cache, database string) (commit string) {
	for key, value := range cache.Values() {
		if strings.Contains(key, "."+database+".position.") {
			commit = max(commit, savedCommit(value))
		}
	}
	return commit
}
