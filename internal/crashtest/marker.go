package crashtest

import (
	"fmt"
	"regexp"
)

// markers are the rows of table m that were delivered, with the commit LSNs of
// those in the stream. The others, of which a page of the snapshot that was
// read late held the row, have none.
type markers map[string]string

func (m markers) note(events []Event) {
	for _, e := range events {
		switch {
		case e.Table != "m" || e.Kind != kindChange:
		case e.Op == opRead:
			m[e.Key] += "" // it is there now
		default:
			m[e.Key] = e.commit()
		}
	}
}

// commit returns a marker's commit LSN, and whether it was delivered.
func (m markers) commit(marker int) (lsn string, delivered bool) {
	lsn, delivered = m[fmt.Sprintf(`{"id":%d}`, marker)]
	return lsn, delivered
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
