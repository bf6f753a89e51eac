package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// trigger is an AFTER trigger of a table, parsed.
type trigger struct {
	module *Module
	parsed *parsedModule
	events []string
}

// firing is the trigger that a scope runs, with the rows it is about.
type firing struct {
	trigger           *trigger
	table             *Table
	inserted, deleted [][]value
	// assigned are the column ids that an UPDATE assigns; nil stands for all.
	assigned []int
}

// changeSet collects what a statement does to one table for one event.
type changeSet struct {
	w                 *tableWriter
	event             string
	inserted, deleted []storage.Row
	assigned          []int
}

// createTrigger checks CREATE TRIGGER and makes the trigger's module a child of
// its table. INSTEAD OF and DDL triggers are not modelled.
func (x *Exec) createTrigger(db *Database, schema *Schema, m *Module, st *tsql.CreateTriggerStmt) error {
	if st.Scope != "" {
		return unsupported("A trigger ON " + st.Scope)
	}
	if st.InsteadOf {
		return unsupported("An INSTEAD OF trigger")
	}
	tdb, t, err := x.findTable(st.Table)
	if err != nil || tdb != db || t.heldBySession {
		return sqltypes.Errorf(8197, 4, 16, "The object '%s' does not exist or is invalid for this operation.", st.Table.String())
	}
	if t.SchemaID != schema.ID {
		return raise(2103, "Cannot create trigger '%s' because its schema is different from the schema of the target table or view.", st.Name.String())
	}
	for _, e := range st.Events {
		switch e {
		case "INSERT", "UPDATE", "DELETE":
		default:
			return sqltypes.Errorf(1084, 1, 15, "'%s' is an invalid event type.", e)
		}
	}
	m.Parent = t.ID
	return x.needAlter(db, t.Object)
}

// triggerSchema is the schema of a trigger's table, where the trigger goes when
// its own name has none.
func (x *Exec) triggerSchema(st *tsql.CreateTriggerStmt) tsql.Name {
	n := st.Name
	if n.Schema() != "" || st.Scope != "" {
		return n
	}
	db, t, err := x.findTable(st.Table)
	if err != nil || t.heldBySession {
		return n
	}
	return tsql.Name{Span: n.Span, Parts: []string{x.catalog(db).schemaName(t.SchemaID), n.Base()}}
}

// tableTriggers are the enabled triggers of a table, by object id: the order in
// which they were created.
func (c *compiler) tableTriggers(db *Database, t *Table) ([]*trigger, error) {
	var list []*trigger
	for _, m := range c.catalog(db).sortedModules() {
		if m.Kind != KindTrigger || m.Parent != t.ID || m.Disabled {
			continue
		}
		parsed, err := c.x.in.module(m)
		if err != nil {
			return nil, err
		}
		if st, ok := parsed.stmt.(*tsql.CreateTriggerStmt); ok {
			list = append(list, &trigger{module: m, parsed: parsed, events: st.Events})
		}
	}
	return list, nil
}

// fires reports whether a trigger waits for the event.
func (w *tableWriter) fires(event string) bool {
	return slices.ContainsFunc(w.triggers, func(t *trigger) bool { return slices.Contains(t.events, event) })
}

// begin announces an event of the statement: its triggers fire even when no row
// changes.
func (w *tableWriter) begin(x *Exec, event string, assigned []int) {
	if w.fires(event) {
		x.changeSet(w, event).assigned = assigned
	}
}

// note records a changed row for the triggers.
func (w *tableWriter) note(x *Exec, event string, old, next storage.Row) {
	if !w.fires(event) {
		return
	}
	set := x.changeSet(w, event)
	if old != nil {
		set.deleted = append(set.deleted, old)
	}
	if next != nil {
		set.inserted = append(set.inserted, next)
	}
}

func (x *Exec) changeSet(w *tableWriter, event string) *changeSet {
	for _, s := range x.changes {
		if s.w.table.ID == w.table.ID && s.event == event {
			return s
		}
	}
	s := &changeSet{w: w, event: event}
	x.changes = append(x.changes, s)
	return s
}

// fireTriggers runs the triggers of everything that the statement changed, count
// rows of its own table. They see @@ROWCOUNT as the statement leaves it.
func (x *Exec) fireTriggers(count int64) error {
	sets := x.changes
	x.changes = nil
	for _, set := range sets {
		for _, t := range set.w.triggers {
			// A trigger does not fire itself (RECURSIVE_TRIGGERS OFF).
			if stack := x.s.firing; !slices.Contains(t.events, set.event) || len(stack) > 0 && stack[len(stack)-1] == t.module.ID {
				continue
			}
			x.s.rowCount = count
			if err := x.fire(t, set); err != nil {
				return err
			}
		}
	}
	return nil
}

// fire runs one trigger in the statement's transaction, which it may end (error
// 3609). In it XACT_ABORT is on and @@TRANCOUNT is at least one (MS docs: CREATE
// TRIGGER, SET XACT_ABORT).
func (x *Exec) fire(t *trigger, set *changeSet) error {
	s := x.s
	y := x.child()
	y.db, y.proc = set.w.db, t.module.Name
	y.enter(planTrigger, t.parsed.body, "", t.module.ID)
	y.firing = &firing{trigger: t, table: set.w.table, inserted: presentColumns(set.w.table, set.inserted), deleted: presentColumns(set.w.table, set.deleted), assigned: set.assigned}
	tx := s.current()
	auto := tx.count == 0
	if auto {
		tx.count = 1
	}
	before := tx.count
	saved := s.settings
	s.xactAbort = true
	s.firing = append(s.firing, t.module.ID)
	err := x.nested(func() error { return y.runProgram(t.parsed.body, newVariables(), nil) })
	s.firing = s.firing[:len(s.firing)-1]
	identity := s.identityInsert
	s.settings = saved
	s.identityInsert = identity
	if s.tx == tx {
		if auto {
			tx.count--
		}
		if err == nil && tx.count < before && !auto {
			err = errEndedInTrigger()
		}
		return err
	}
	if rest := s.tx; rest != nil && rest.count == 0 {
		// What the trigger did after its ROLLBACK stands on its own.
		s.tx = nil
		if e := rest.commit(); e != nil && err == nil {
			err = e
		}
	}
	if err == nil {
		err = errEndedInTrigger()
	}
	return err
}

func errEndedInTrigger() error {
	return raise(3609, "The transaction ended in the trigger. The batch has been aborted.")
}

// presentColumns are stored rows without the places of dropped columns.
func presentColumns(t *Table, rows []storage.Row) [][]value {
	out := make([][]value, len(rows))
	for i, r := range rows {
		row := make([]value, len(t.Columns))
		for k, c := range t.Columns {
			row[k] = r[c.slot()]
		}
		out[i] = row
	}
	return out
}

// triggerTable compiles inserted or deleted in a trigger's body; nil elsewhere.
func (c *compiler) triggerTable(name, alias string) *leaf {
	f := c.x.firing
	which := fold(name)
	if f == nil || c.module != nil || which != "inserted" && which != "deleted" {
		return nil
	}
	var cols []columnDesc
	for _, d := range tableSourceOf(f.table, nil, alias, name).columns {
		d.identity, d.updatable = false, false
		cols = append(cols, d)
	}
	call := &tableCall{rows: func(x *Exec, _ []value, emit func([]value) error) error {
		rows := x.firing.inserted
		if which == "deleted" {
			rows = x.firing.deleted
		}
		for _, row := range rows {
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}}
	return &leaf{src: &source{alias: alias, columns: cols}, table: call}
}

// updateCond is UPDATE(column): whether the statement assigns it. An INSERT
// assigns all.
func (c *compiler) updateCond(f *tsql.FuncCall) (*cond, error) {
	if c.x.firing == nil || len(f.Args) != 1 {
		return nil, sqltypes.Errorf(420, 1, 16, "The UPDATE() function can only be used within a trigger.")
	}
	ref, ok := f.Args[0].(*tsql.ColumnRef)
	if !ok {
		return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near 'UPDATE'.")
	}
	col := c.x.firing.table.Column(ref.Base())
	if col == nil {
		return nil, errInvalidColumn(ref.Base())
	}
	return &cond{volatile: true, eval: func(fr *frame) (tri, error) {
		a := fr.x.firing.assigned
		return triOf(a == nil && len(fr.x.firing.inserted) > 0 || slices.Contains(a, col.ID)), nil
	}}, nil
}

// columnsUpdated is COLUMNS_UPDATED(): a bit for each column id, the first in
// the lowest bit of the first byte.
func columnsUpdated(x *Exec, _ []value) (value, error) {
	f := x.firing
	if f == nil {
		return value{}, nil
	}
	mask := make([]byte, (f.table.Width+7)/8)
	for id := 1; id <= f.table.Width; id++ {
		if f.assigned == nil && len(f.inserted) > 0 || slices.Contains(f.assigned, id) {
			mask[(id-1)/8] |= 1 << ((id - 1) % 8)
		}
	}
	return sqltypes.BytesOf(mask), nil
}

// enableTriggers is ENABLE and DISABLE TRIGGER, in both of their forms.
func (x *Exec) enableTriggers(on tsql.Name, e *tsql.EnableTrigger) error {
	if on.IsZero() {
		return unsupported("ENABLE and DISABLE TRIGGER ON DATABASE or ALL SERVER")
	}
	db, t, err := x.findTable(on)
	if err != nil {
		return sqltypes.Errorf(1088, 120, 16, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", on.String())
	}
	if err := x.needAlter(db, t.Object); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range x.catalog(db).sortedModules() {
		named := slices.ContainsFunc(e.Names, func(n string) bool { return strings.EqualFold(splitName(n).Base(), m.Name) })
		if m.Kind != KindTrigger || m.Parent != t.ID || !e.All && !named {
			continue
		}
		known[fold(m.Name)] = true
		d := *m
		d.Disabled = !e.Enable
		if err := x.putModule(db, &d); err != nil {
			return err
		}
	}
	for _, n := range e.Names {
		if !known[fold(splitName(n).Base())] {
			return sqltypes.Errorf(4920, 0, 16, "ALTER TABLE failed because trigger '%s' on table '%s' does not exist.", n, t.Name)
		}
	}
	return nil
}
