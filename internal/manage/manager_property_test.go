package manage

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// history is a world in which people do as they like beside the manager.
type history struct {
	*world
	testing *testing.T
	manager *Manager
	// secret are columns that a person leaves out of instances.
	secret map[string]bool
	// busy are the statements to come that fail, by number.
	busy    []bool
	problem string // the first that was met
}

func (h *history) wrong(format string, args ...any) {
	if h.problem == "" {
		h.problem = fmt.Sprintf(format, args...)
	}
}

// happening is something that happens, and how long it lasts.
type happening struct {
	what string
	then time.Duration
}

func (h *history) subject() *sqlserver.ManagedTable { return h.tables[0] }

// ddl changes the table, and the histories of its instances.
func (h *history) ddl(command string) {
	h.lsn++
	h.version++
	for i := range h.subject().Instances {
		ci := &h.subject().Instances[i]
		ci.DDL = append(slices.Clone(ci.DDL), sqlserver.DDL{Command: command, LSN: at(h.lsn), Time: time.Now().Truncate(time.Minute)})
	}
}

// byHand makes an instance as a person does.
func (h *history) byHand(n int) {
	subject := h.subject()
	if len(subject.Instances) == 2 {
		return
	}
	h.lsn++
	h.version++
	h.next++
	ci := sqlserver.ManagedInstance{Name: fmt.Sprintf("theirs %d", n), ObjectID: h.next, CreateDate: time.Now(), StartLSN: at(h.lsn), PartitionSwitch: true}
	for _, col := range subject.Columns {
		if !h.secret[col.Name] {
			ci.Captured = append(ci.Captured, col)
		}
	}
	subject.Instances = append(subject.Instances, ci)
}

// settle has the newest instance read, and all before it delivered.
func (h *history) settle() {
	if n := len(h.subject().Instances); n > 0 {
		h.manager.Know([]Read{{Table: h.subject().ObjectID, Instance: identify(&h.subject().Instances[n-1]), Alone: true}})
	}
}

// happen does something.
func (h *history) happen(n int, step happening) {
	subject := h.subject()
	switch step.what {
	case "add":
		h.alter(subject, fmt.Sprintf("c%d", n))
		h.ddl(fmt.Sprintf("ALTER TABLE dbo.t ADD c%d int", n))
	case "add secret":
		if len(subject.Instances) > 0 {
			return // while it is captured nobody could tell
		}
		name := fmt.Sprintf("s%d", n)
		h.secret[name] = true
		h.alter(subject, name)
	case "drop":
		if len(subject.Columns) > 1 {
			h.ddl("ALTER TABLE dbo.t DROP COLUMN " + subject.Columns[1].Name)
			subject.Columns = slices.Delete(slices.Clone(subject.Columns), 1, 2)
		}
	case "make":
		h.byHand(n)
	case "disable":
		if len(subject.Instances) > 0 {
			h.version++
			subject.Instances = slices.Delete(slices.Clone(subject.Instances), 0, 1)
		}
	case "settle":
		h.settle()
	case "restart":
		h.restart()
	}
	h.pass(step.then)
}

func (h *history) restart() {
	h.manager = h.world.manager(h.testing, false)
	if err := h.manager.Begin(context.Background()); err != nil {
		h.wrong("beginning: %v", err)
	}
}

// pass lets the manager run for a while, and then a moment pass.
func (h *history) pass(d time.Duration) {
	wait(h.manager, d)
	<-time.After(time.Second)
}

// check looks at a statement before it runs.
func (h *history) check(statement string) error {
	subject := h.subject()
	for i, ci := range subject.Instances {
		drop := sqlserver.DisableTable{Schema: "dbo", Table: "t", Instance: ci.Name, ObjectID: ci.ObjectID}
		switch {
		case statement != drop.Statement():
		case !owner.Owns(ci.Name):
			h.wrong("%q is dropped, which a person has made", ci.Name)
		case i != 0 || len(subject.Instances) != 2 || !h.manager.settled[identify(&subject.Instances[1])]:
			h.wrong("%q is dropped, which is needed", ci.Name)
		}
	}
	busy := len(h.busy) > 0 && h.busy[0]
	h.busy = h.busy[min(1, len(h.busy)):]
	switch {
	case busy:
		return mssql.Error{Number: 1222, Class: 16, Message: "busy"}
	case len(subject.Instances) == 2 && statement[:4] == "EXEC":
		return mssql.Error{Number: 22962, Class: 16, Message: "two exist"}
	}
	return nil
}

// end looks at what has come of it.
func (h *history) end() {
	instances := h.subject().Instances
	switch {
	case len(instances) == 0, len(instances) == 2 && !owner.Owns(instances[0].Name):
		return
	case len(instances) == 2:
		h.wrong("%q is left", instances[0].Name)
	}
	last := &instances[0]
	for _, col := range h.subject().Columns {
		switch captured := captures(last, col.ID); {
		case !captured && !h.secret[col.Name]:
			h.wrong("%q lacks %q", last.Name, col.Name)
		case captured && h.secret[col.Name] && owner.Owns(last.Name):
			h.wrong("%q captures %q, which was left out before", last.Name, col.Name)
		}
	}
}

func play(t *testing.T, steps []happening, busy []bool) (problem string) {
	h := &history{world: newWorld(table(cols("id", "first", "secret"))), testing: t, secret: map[string]bool{"secret": true}, busy: busy}
	h.fail = h.check
	h.restart()
	h.byHand(0)
	h.pass(lookInterval)
	for n, step := range steps {
		h.happen(n+1, step)
	}
	h.busy = nil
	for range 3 {
		h.settle()
		h.pass(6 * time.Minute)
	}
	h.end()
	return h.problem
}

// Whatever people do, nothing of theirs is dropped and nothing that is needed; and
// once they leave the table alone, its newest instance has all columns but those
// that they left out, if there is room for one.
func TestManager_Property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var steps []happening
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			steps = append(steps, happening{
				rapid.SampledFrom([]string{"add", "add secret", "drop", "make", "disable", "settle", "restart", "nothing"}).Draw(rt, "step"),
				rapid.SampledFrom([]time.Duration{time.Second, lookInterval, time.Minute}).Draw(rt, "then"),
			})
		}
		busy := rapid.SliceOfN(rapid.Bool(), 0, 6).Draw(rt, "busy")
		var problem string
		synctest.Test(t, func(t *testing.T) { problem = play(t, steps, busy) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}
