package input_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

const twoTables = "CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY)\nCREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY)\n"

// A table that is dropped takes what was not read of it with it, which is said
// once; the others go on, and one of the same name that is made and enabled later
// is a table that was not read before.
func TestCases_DroppedTable(t *testing.T) {
	for name, down := range map[string]bool{"running": false, "down": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, twoTables+enable("dbo", "a")+enable("dbo", "b"))
				s := settings{store: newStore(), fields: noData + "poll_interval: 10s"}
				p := startPipeline(t, server, s)
				defer func() { p.stop() }()
				<-time.After(time.Minute)
				change(t, server, "INSERT dbo.a VALUES (1)\nINSERT dbo.b VALUES (1)")
				p.want(`c dbo.a {"id":1}`, `c dbo.b {"id":1}`)
				if down {
					p.stop()
				}
				change(t, server, "DROP TABLE dbo.a\nINSERT dbo.b VALUES (2)")
				if down {
					p = startPipeline(t, server, s)
				}
				p.want(`c dbo.b {"id":2}`)
				p.logged("table was dropped or renamed")
				change(t, server, "CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY, v int)\n"+enable("dbo", "a")+"INSERT dbo.a VALUES (3, 3)")
				p.want(`c dbo.a {"id":3,"v":3}`)
				p.quiet()
				assert.Equal(t, 1, countLines(p, "table was dropped or renamed"), "log:\n%s", p.logs)
				assert.NotContains(t, p.logs.String(), "Cannot go on")
			})
		})
	}
}

// A table that is enabled while the stream runs, or while it is down, joins it.
func TestCases_TableEnabledLater(t *testing.T) {
	for name, down := range map[string]bool{"running": false, "down": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, twoTables+enable("dbo", "a"))
				s := settings{store: newStore(), fields: noData + "poll_interval: 10s"}
				p := startPipeline(t, server, s)
				defer func() { p.stop() }()
				<-time.After(time.Minute)
				change(t, server, "INSERT dbo.a VALUES (1)\nINSERT dbo.b VALUES (1)")
				p.want(`c dbo.a {"id":1}`)
				if down {
					p.stop()
				}
				change(t, server, enable("dbo", "b")+"INSERT dbo.b VALUES (2)\nINSERT dbo.a VALUES (2)")
				if down {
					p = startPipeline(t, server, s)
				}
				p.want(`c dbo.b {"id":2}`, `c dbo.a {"id":2}`)
				p.quiet()
				assert.Equal(t, 1, countLines(p, "reading a table that was not read before"), "log:\n%s", p.logs)
			})
		})
	}
}

// Of two instances the one that the list names is read, whichever is newer, and
// the other is as if it were not there.
func TestCases_InstanceChosenByName(t *testing.T) {
	for pattern, want := range map[string]string{`[a-z]+_1`: `c dbo.a {"id":1}`, `.*_2`: `c dbo.a {"id":1,"v":1}`} {
		t.Run(pattern, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, "CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY)\n"+enableAs("dbo", "a", "ours_1")+
					"ALTER TABLE dbo.a ADD v int NULL\n"+enableAs("dbo", "a", "ours_2"))
				p := startPipeline(t, server, settings{fields: noData + "poll_interval: 10s\ncapture_instance_include_list: [ '" + pattern + "' ]"})
				defer p.stop()
				<-time.After(time.Minute)
				change(t, server, "INSERT dbo.a VALUES (1, 1)")
				p.want(want)
				p.quiet()
				assert.False(t, strings.Contains(p.logs.String(), "newer"), "log:\n%s", p.logs)
			})
		})
	}
}
