package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func sysname(name string) Param { return Param{Name: name, Type: typeSysname} }

func optional(p Param, v value) Param {
	p.Default = &v
	return p
}

// registerSystemObjects adds the engine's own procedures and views.
func (in *Instance) registerSystemObjects() {
	in.registerSystemViews()
	in.registerSynonymView()
	in.registerHelpText()
	in.registerSequenceView()
	in.registerAppLocks()
	in.registerTransactionViews()
	in.RegisterProcedure("sys", "sp_rename", Procedure{
		Params: []Param{{Name: "@objname", Type: sqltypes.NVarCharOf(1035)}, sysname("@newname"), optional(Param{Name: "@objtype", Type: sqltypes.VarCharOf(13)}, value{})},
		Run:    rename,
	})
	in.RegisterProcedure("sys", "sp_addrolemember", Procedure{
		Params: []Param{sysname("@rolename"), sysname("@membername")},
		Run: func(x *Exec, a []value) (int32, error) {
			return 0, x.SetRoleMember(x.db, a[0].Str(), a[1].Str(), true)
		},
	})
	in.RegisterProcedure("sys", "sp_droprolemember", Procedure{
		Params: []Param{sysname("@rolename"), sysname("@membername")},
		Run: func(x *Exec, a []value) (int32, error) {
			return 0, x.SetRoleMember(x.db, a[0].Str(), a[1].Str(), false)
		},
	})
	in.RegisterProcedure("sys", "sp_changedbowner", Procedure{
		Params: []Param{sysname("@loginame"), optional(Param{Name: "@map", Type: sqltypes.VarCharOf(5)}, value{})},
		Run: func(x *Exec, a []value) (int32, error) {
			return 0, x.UpdateOptions(x.db, func(o *DatabaseOptions) { o.Owner = a[0].Str() })
		},
	})
	in.RegisterProcedure("sys", "sp_configure", Procedure{
		Params: []Param{nullParam(Param{Name: "@configname", Type: sqltypes.VarCharOf(35)}), nullParam(Param{Name: "@configvalue", Type: typeInt})},
		Run:    configureOption,
	})
	in.RegisterProcedure("sys", "sp_reset_connection", Procedure{Run: func(*Exec, []value) (int32, error) { return 0, nil }})
	in.RegisterProcedure("sys", "sp_set_session_context", Procedure{
		Params: []Param{sysname("@key"), {Name: "@value", Type: typeText}, optional(Param{Name: "@read_only", Type: typeBit}, integer(0))},
		Run:    func(*Exec, []value) (int32, error) { return 0, nil },
	})
	in.registerCatalogProcedures()
	in.registerPropertyProcedures()
	in.registerODBCProcedures()
	in.registerHelpProcedures()
	in.registerDescribeProcedures()
	in.registerTypeProcedures()
}

// rename is sp_rename of tables, columns, indexes, constraints and modules.
func rename(x *Exec, a []value) (int32, error) {
	n, newName, kind := splitName(a[0].Str()), a[1].Str(), strings.ToUpper(a[2].Str())
	notFound := sqltypes.Errorf(15225, 11, 16, "No item by the name of '%s' could be found in the current database '%s', given that @itemtype was input as '%s'.", a[0].Str(), x.db.Name(), kindOrNull(kind))
	caution := func() error {
		return x.Message(&Message{Number: 15477, State: 1, Class: 0, Text: "Caution: Changing any part of an object name could break scripts and stored procedures."})
	}
	if kind == "COLUMN" || kind == "INDEX" {
		if len(n.Parts) < 2 {
			return 1, notFound
		}
		table := tsql.Name{Parts: n.Parts[:len(n.Parts)-1]}
		db, t, err := x.findTable(table)
		if err != nil {
			return 1, notFound
		}
		if err := renamePart(x, db, t, kind, n.Base(), newName, notFound); err != nil {
			return 1, err
		}
		return 0, caution()
	}
	if kind == "DATABASE" {
		db := x.in.Database(n.Base())
		if db == nil {
			return 1, notFound
		}
		return 0, x.renameDatabase(db, newName)
	}
	schema := n.Schema()
	if schema == "" {
		schema = x.defaultSchema(x.db)
	}
	c := x.catalog(x.db)
	id := c.lookup(schema, n.Base())
	if c.lookup(schema, newName) != 0 && !strings.EqualFold(n.Base(), newName) {
		return 1, sqltypes.Errorf(15335, 1, 11, "Error: The new name '%s' is already in use as a object name and would cause a duplicate that is not permitted.", newName)
	}
	if t := c.tables[id]; t != nil {
		d := t.clone()
		d.Name = newName
		return 0, firstError(x.renameEvent(x.db, t, d, "RENAME TABLE", "", nil), caution)
	}
	if m := c.modules[id]; m != nil {
		d := *m
		d.Name = newName
		return 0, firstError(x.putModule(x.db, &d), caution)
	}
	if t := c.tables[c.parents[id]]; t != nil {
		d := t.clone()
		for _, ix := range d.Indexes {
			if ix.ConstraintID == id {
				ix.Name = newName
			}
		}
		for _, col := range d.Columns {
			if col.Default != nil && col.Default.ID == id {
				def := *col.Default
				def.Name = newName
				col.Default = &def
			}
		}
		for _, ck := range d.Checks {
			if ck.ID == id {
				ck.Name = newName
			}
		}
		for _, fk := range d.ForeignKeys {
			if fk.ID == id {
				fk.Name = newName
			}
		}
		return 0, firstError(x.putTable(x.db, d), caution)
	}
	return 1, notFound
}

func kindOrNull(kind string) string {
	if kind == "" {
		return "(null)"
	}
	return kind
}

func firstError(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

func renamePart(x *Exec, db *Database, t *Table, kind, old, newName string, notFound error) error {
	d := t.clone()
	if kind == "INDEX" {
		ix := d.Index(old)
		if ix == nil {
			return notFound
		}
		ix.Name = newName
		return x.putTable(db, d)
	}
	col := d.Column(old)
	if col == nil {
		return notFound
	}
	if other := d.Column(newName); other != nil && other != col {
		return sqltypes.Errorf(15335, 1, 11, "Error: The new name '%s' is already in use as a COLUMN name and would cause a duplicate that is not permitted.", newName)
	}
	name := col.Name
	col.Name = newName
	return x.renameEvent(db, t, d, "RENAME COLUMN", "RENAME", []string{name, newName})
}

func (x *Exec) renameEvent(db *Database, before, after *Table, kind, action string, columns []string) error {
	ev := DDLEvent{Phase: DDLBefore, Kind: kind, Database: db, Before: before, Action: action, Columns: columns, Text: "sp_rename"}
	if err := x.event(ev); err != nil {
		return err
	}
	after.Modified = x.Now()
	if err := x.putTable(db, after); err != nil {
		return err
	}
	ev.Phase, ev.After = DDLAfter, after
	return x.event(ev)
}
