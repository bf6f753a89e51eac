package crashtest

import (
	"fmt"
	"regexp"
)

// markers are the rows of table m that were delivered, with the commit LSNs of
// those in the stream.
type markers map[string]string

// inSnapshot is in the place of the commit LSN of a row of the snapshot, and is
// less than any.
const inSnapshot = "-"

func (m markers) note(events []Event) {
	for _, e := range events {
		if e.Table == "m" && e.Kind == kindChange {
			m[e.Key] = e.commit()
			if e.Op == opRead {
				m[e.Key] = inSnapshot
			}
		}
	}
}

// commit returns a marker's commit LSN; empty: it was not delivered.
func (m markers) commit(marker int) string { return m[fmt.Sprintf(`{"id":%d}`, marker)] }

var commitInText = regexp.MustCompile(`[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}/`)

// savedCommit returns the commit LSN of the position in a saved document.
func savedCommit(document []byte) string {
	at := commitInText.Find(document)
	if at == nil {
		return ""
	}
	return string(at[:len(at)-1])
}
