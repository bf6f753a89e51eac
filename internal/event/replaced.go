package event

import (
	"database/sql/driver"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// replacement is U+FFFD, by which the driver replaces half of a surrogate pair
// and bytes that a code page does not define.
const replacement = "\uFFFD"

// ReplacedNotice reports a text that holds U+FFFD: the source has it so, or it
// stands for something that UTF-8 cannot express. It comes once for each column
// of an encoder.
type ReplacedNotice struct {
	Table  *schema.Table
	Column string
}

// reportReplaced tells the hook of the columns of a change that hold U+FFFD for
// the first time.
func (e *Encoder) reportReplaced(c *Change) {
	if e.opts.OnReplaced == nil {
		return
	}
	for _, row := range [][]driver.Value{c.Before, c.After} {
		for i, v := range row {
			if text, ok := v.(string); ok && !e.replaced[i] && strings.Contains(text, replacement) {
				if e.replaced == nil {
					e.replaced = map[int]bool{}
				}
				e.replaced[i] = true
				e.opts.OnReplaced(ReplacedNotice{Table: e.Table(), Column: e.Table().Columns[i].Name})
			}
		}
	}
}
