package manage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Terms are what a decision depends on beside the table.
type Terms struct {
	Owner Owner
	// Enable gives tables without an instance one.
	Enable bool
	// Readable decides which instances may be read, by name.
	Readable func(name string) bool
	// Read reports whether changes of a table were read before.
	Read func(table int32) bool
	// Settled reports whether an instance is read and no other of its table is
	// needed any more: what another holds is delivered, acknowledged and stored
	// as such.
	Settled func(*sqlserver.ManagedInstance) bool
	// LastColumn returns the highest column_id that the table had when the
	// instance was seen first, or zero.
	LastColumn func(*sqlserver.ManagedInstance) int
	// Names are those of all instances of the database.
	Names []string
}

// Plan is what is to be done to a table: nothing, or one statement. What comes
// after it is decided when it has been done.
type Plan struct {
	Enable  *sqlserver.EnableTable
	Disable *sqlserver.DisableTable
	// Reason says why.
	Reason string
	// Remark is what cannot be done without a person; empty if there is nothing.
	Remark string
}

// Statement returns the statement to run, empty for none.
func (p Plan) Statement() string {
	switch {
	case p.Enable != nil:
		return p.Enable.Statement()
	case p.Disable != nil:
		return p.Disable.Statement()
	default:
		return ""
	}
}

// Decide decides what is to be done to a table.
//
//   - A table without an instance that may be read gets one if that is wanted.
//     If changes of it were read before, somebody has disabled it, as TRUNCATE
//     TABLE asks for, and enables it again when that is done.
//   - A table whose newest instance has other columns than the table gets a
//     second one like it.
//   - Of two instances the older is dropped if it is the owner's and not needed
//     any more. One that the owner did not make stays: others may read it. While
//     it does, there is no room for a third.
func Decide(t *sqlserver.ManagedTable, terms Terms) Plan {
	if len(t.Instances) > 2 {
		return Plan{} // a table has two at most: one went and one came while this was read
	}
	at := newest(t, terms)
	if at < 0 {
		return first(t, terms)
	}
	current := &t.Instances[at]
	changed := driftOf(t, current, terms)
	if len(t.Instances) == 1 {
		return renewed(t, current, changed, terms)
	}
	if !terms.Settled(current) {
		return Plan{} // the other one is needed, or is the one that is read
	}
	other := &t.Instances[1-at]
	disable := sqlserver.DisableTable{Schema: t.Schema, Table: t.Name, Instance: other.Name, ObjectID: other.ObjectID}
	switch {
	case at == 1 && terms.Owner.Owns(other.Name):
		return Plan{Disable: &disable, Reason: fmt.Sprintf("capture instance %q holds everything that is not delivered yet", current.Name)}
	case changed.none():
		return Plan{}
	default:
		return Plan{Remark: fmt.Sprintf("capture instance %q %s, and there is no room for another, because %q was not made by this input; once nobody reads that, run %s",
			current.Name, changed, other.Name, disable.ByHand())}
	}
}

// newest returns the index of the newest instance that may be read, or -1.
func newest(t *sqlserver.ManagedTable, terms Terms) int {
	for i := range slices.Backward(t.Instances) {
		if terms.Readable(t.Instances[i].Name) {
			return i
		}
	}
	return -1
}

// first plans the first instance of a table, or of those that may be read. Net
// changes are not supported: nobody asked for them, and they cost an index.
func first(t *sqlserver.ManagedTable, terms Terms) Plan {
	if !terms.Enable || strings.EqualFold(t.Schema, "cdc") {
		return Plan{}
	}
	plan := named(t, sqlserver.EnableTable{}, "the table has no capture instance that may be read", terms)
	if plan.Enable != nil && terms.Read(t.ObjectID) {
		return Plan{Remark: fmt.Sprintf("the capture instance that was read is gone, and none is made in its place, because somebody has disabled it; to have one, run %s", plan.Enable.Statement())}
	}
	if len(t.Instances) == 2 {
		return Plan{Remark: fmt.Sprintf("the table has two capture instances, %q and %q, of which none may be read, and there is no room for another",
			t.Instances[0].Name, t.Instances[1].Name)}
	}
	return plan
}

// renewed plans an instance to take the place of one whose columns are not the
// table's any more.
func renewed(t *sqlserver.ManagedTable, current *sqlserver.ManagedInstance, changed drift, terms Terms) Plan {
	if changed.none() {
		return Plan{}
	}
	e := sqlserver.EnableTable{
		Role: current.Role, Index: current.Index, Filegroup: current.Filegroup,
		// They go by an index, which may be gone.
		NetChanges: current.NetChanges && current.Index != "", NoPartitionSwitch: !current.PartitionSwitch,
	}
	whole := true
	for _, col := range t.Columns {
		switch {
		case captures(current, col.ID), slices.Contains(changed.added, col.Name):
			e.Columns = append(e.Columns, col.Name)
		case !col.Computed:
			whole = false
		}
	}
	if whole {
		e.Columns = nil
	} else {
		e.TableID, e.LastColumn = t.ObjectID, lastColumn(t)
	}
	return named(t, e, fmt.Sprintf("capture instance %q %s", current.Name, changed), terms)
}

// named completes the plan of an instance.
func named(t *sqlserver.ManagedTable, e sqlserver.EnableTable, reason string, terms Terms) Plan {
	e.Schema, e.Table = t.Schema, t.Name
	e.Instance = terms.Owner.Name(t.Schema, t.Name, e.Columns != nil, terms.Names)
	if !terms.Readable(e.Instance) {
		return Plan{Remark: fmt.Sprintf("%s, and another one, %q, could not be read: let capture_instance_include_list match it", reason, e.Instance)}
	}
	return Plan{Enable: &e, Reason: reason}
}

// drift is how the columns of a table differ from those of an instance.
type drift struct {
	added []string // since the instance was made, by name
	lost  []string // by the name of when it was made
}

func (d drift) none() bool { return len(d.added)+len(d.lost) == 0 }

// String completes a sentence about the instance.
func (d drift) String() string {
	var parts []string
	if len(d.added) > 0 {
		parts = append(parts, "lacks "+list(d.added)+", added since")
	}
	if len(d.lost) > 0 {
		parts = append(parts, "has "+list(d.lost)+", dropped since")
	}
	return strings.Join(parts, " and ")
}

func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// driftOf compares a table with an instance. A column that is not captured may
// have been left out on purpose. It was added later if the instance was made with
// all columns that there were, if it was not there when the instance was seen
// first, or if the statement that added it is on record. A type that was altered
// needs no other instance: the capture job alters the change table. Computed
// columns are never recorded.
// Source: MS docs, "About change data capture", on source table changes.
func driftOf(t *sqlserver.ManagedTable, current *sqlserver.ManagedInstance, terms Terms) (d drift) {
	whole, last := terms.Owner.whole(current.Name), terms.LastColumn(current)
	for _, col := range t.Columns {
		if col.Computed || captures(current, col.ID) {
			continue
		}
		_, recorded := addedBy(current, col.Name)
		if whole || last > 0 && col.ID > last || recorded {
			d.added = append(d.added, col.Name)
		}
	}
	for _, captured := range current.Captured {
		if !captured.Computed && !slices.ContainsFunc(t.Columns, func(col sqlserver.ManagedColumn) bool { return col.ID == captured.ID }) {
			d.lost = append(d.lost, captured.Name)
		}
	}
	return d
}

// captures reports whether an instance captures the column with an id.
func captures(ci *sqlserver.ManagedInstance, id int) bool {
	return slices.ContainsFunc(ci.Captured, func(col sqlserver.ManagedColumn) bool { return col.ID == id })
}

// lastColumn returns the highest column_id of a table.
func lastColumn(t *sqlserver.ManagedTable) (last int) {
	for _, col := range t.Columns {
		last = max(last, col.ID)
	}
	return last
}

// addedBy returns where a column was added, after an instance was made. The
// history of an instance may begin with statements from before it: it was seen
// to get that of an older one.
func addedBy(ci *sqlserver.ManagedInstance, column string) (at lsn.LSN, found bool) {
	for _, ddl := range ci.DDL {
		if before(ddl, ci) {
			continue
		}
		if slices.ContainsFunc(addedColumns(ddl.Command), func(name string) bool { return strings.EqualFold(name, column) }) {
			at, found = ddl.LSN, true
		}
	}
	return at, found
}

// before reports whether a statement is older than an instance. Each cleanup moves
// the start of the instance up, so an LSN below it tells nothing later than about
// the minute in which the instance was made; the time of a statement has no
// seconds, and may be rounded up.
func before(ddl sqlserver.DDL, ci *sqlserver.ManagedInstance) bool {
	return ddl.LSN.Before(ci.StartLSN) && !ddl.Time.After(ci.CreateDate.Truncate(time.Minute).Add(time.Minute))
}

// Unrecorded says which values change data capture could not record of columns
// that an instance of the owner's has and the one before it lacks: those written
// between the statement that added a column and the beginning of the instance.
// It is empty if there is no such column, or if it is not known yet where it was
// added.
func Unrecorded(t *sqlserver.ManagedTable, terms Terms) string {
	if len(t.Instances) != 2 || !terms.Owner.Owns(t.Instances[1].Name) || t.Instances[1].StartLSN.IsZero() {
		return ""
	}
	old, current := &t.Instances[0], &t.Instances[1]
	var names []string
	from := current.StartLSN
	for _, col := range current.Captured {
		if col.Computed || captures(old, col.ID) {
			continue
		}
		at, found := addedBy(old, col.Name)
		switch {
		case found && at.Before(from):
			from = at
		case !found && !terms.Settled(current):
			return "" // the capture job has not met the statement yet
		}
		names = append(names, col.Name)
	}
	if len(names) == 0 {
		return ""
	}
	since := "before " + current.StartLSN.String()
	if from != current.StartLSN {
		since = fmt.Sprintf("from %s to %s", from, current.StartLSN)
	}
	return fmt.Sprintf("change data capture has no values of the columns %s for changes %s: capture instance %q, which has the columns, begins there. Events of these changes lack them; the rows themselves have them",
		list(names), since, current.Name)
}
