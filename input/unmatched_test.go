package input_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// With several databases an entry of a list may be meant for one of them. One
// that matches in none is said once, also when a database cannot be read.
func TestUnmatched_SaidOfAllDatabases(t *testing.T) {
	const fields = `
table_include_list: [ 'dbo\.t', 'dbo\.only_a', 'dbo\.only_b', 'dbo\.nosuch' ]
message_key_columns: 'a.dbo.only_a:id;b.dbo.t:id;b.dbo.only_a:id'
column_mask_with_chars: [ { columns: [ 'a.dbo.t.name', 'dbo.t.mane' ], length: 3 } ]
`
	for name, databases := range map[string]string{"all": "[ a, b ]", "one is not there": "[ a, b, gone ]", "expression": "[ '[ab]' ]"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServerOf(t, "a", "b")
				p := startPipeline(t, server, settings{fields: "poll_interval: 5s\ndatabase_names: " + databases + fields})
				<-time.After(time.Minute)
				log := warnings(p.logs.String())
				for _, said := range []string{
					`No table with a capture instance matches \"dbo\\\\.nosuch\" of`,
					`No column of the captured tables matches message_key_columns: b.dbo.only_a:id`,
					`No column of the captured tables matches column_mask_with_chars[0]: dbo.t.mane`,
				} {
					assert.Equal(t, 1, strings.Count(log, said), "%s in:\n%s", said, log)
				}
				assert.Equal(t, 3, strings.Count(log, "No table with")+strings.Count(log, "No column of"), log)
			})
		})
	}
}
