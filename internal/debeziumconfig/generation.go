package debeziumconfig

import (
	"fmt"
	"regexp"
)

// Generation is a major version of Debezium: defaults changed between them.
type Generation int

// The generations.
const (
	Debezium1 Generation = 1
	Debezium2 Generation = 2
	Debezium3 Generation = 3
)

// String is the version as it is written, "1.x".
func (g Generation) String() string {
	return fmt.Sprintf("%d.x", int(g))
}

// oldNames matches properties that only 1.x has: 2.0 renamed or removed them.
var oldNames = regexp.MustCompile(`^(database\.(server\.name|dbname|history(\..*)?|server\.timezone)|(database|schema|table|column)\.(whitelist|blacklist)|source\.timestamp\.mode|sanitize\.field\.names|heartbeat\.topics\.prefix)$`)

// recognise tells 1.x by its names. 2.x and 3.x have the same names; the newer
// one is taken.
func recognise(props map[string]string) Generation {
	if _, isNew := props["topic.prefix"]; isNew {
		return Debezium3
	}
	for name := range props {
		if oldNames.MatchString(name) {
			return Debezium1
		}
	}
	return Debezium3
}
