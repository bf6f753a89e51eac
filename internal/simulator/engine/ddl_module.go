package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// kindTableType is the kind of a table type's object (TT in sys.objects).
const kindTableType ObjectKind = "TT"

// createModule is CREATE, ALTER and CREATE OR ALTER of views, procedures and
// functions, and CREATE TYPE.
func (x *Exec) createModule(stmt tsql.Stmt) error {
	var n tsql.Name
	var kind ObjectKind
	mode := tsql.Create
	var what string
	switch st := stmt.(type) {
	case *tsql.CreateViewStmt:
		n, kind, mode, what = st.Name, KindView, st.Mode, "CREATE VIEW"
	case *tsql.CreateProcedureStmt:
		n, kind, mode, what = st.Name, KindProcedure, st.Mode, "CREATE PROCEDURE"
	case *tsql.CreateFunctionStmt:
		n, kind, mode, what = st.Name, KindScalarFunction, st.Mode, "CREATE FUNCTION"
		if st.Query != nil {
			kind = KindInlineFunction
		} else if st.ReturnTable != nil {
			kind = KindTableFunction
		}
	case *tsql.CreateTypeStmt:
		if st.Table == nil {
			return x.createType(st)
		}
		n, kind, what = st.Name, kindTableType, "CREATE TYPE"
	case *tsql.CreateTriggerStmt:
		n, kind, mode, what = x.triggerSchema(st), KindTrigger, st.Mode, "CREATE TRIGGER"
	}
	db, schema, err := x.place(n)
	if err != nil {
		return err
	}
	if kind != KindTrigger {
		if err := x.needDDL(db, what); err != nil {
			return err
		}
	}
	c := x.catalog(db)
	id := c.lookup(schema.Name, n.Base())
	old := c.modules[id]
	switch {
	case mode == tsql.Create && id != 0, mode == tsql.CreateOrAlter && id != 0 && old == nil:
		return sqltypes.Errorf(2714, 3, 16, "There is already an object named '%s' in the database.", n.Base())
	case mode == tsql.Alter && old == nil:
		return sqltypes.Errorf(208, 6, 16, "Invalid object name '%s'.", n.String())
	case old != nil && moduleClass(old.Kind) != moduleClass(kind):
		return sqltypes.Errorf(2010, 1, 16, "Cannot perform alter on '%s' because it is an incompatible object type.", n.String())
	}
	now := x.Now()
	m := &Module{
		Object: Object{ID: db.newObjectID(), SchemaID: schema.ID, Name: n.Base(), Kind: kind, Created: now, Modified: now, MSShipped: x.system && x.shipping},
		Text:   x.textOf(stmt), QuotedIdentifier: !x.s.quotedOff,
	}
	if old != nil {
		m.ID, m.Created, m.Name = old.ID, old.Created, old.Name
	}
	if st, ok := stmt.(*tsql.CreateTriggerStmt); ok {
		if err := x.createTrigger(db, schema, m, st); err != nil {
			return err
		}
		if old != nil && old.Parent != m.Parent {
			return sqltypes.Errorf(2110, 1, 15, "Cannot alter trigger '%s' on '%s' because this trigger does not belong to this object.", n.String(), st.Table.String())
		}
	}
	if err := x.within(db).checkModule(db, schema.Name, m, stmt); err != nil {
		return err
	}
	return x.putModule(db, m)
}

func moduleClass(k ObjectKind) string {
	switch k {
	case KindScalarFunction, KindInlineFunction, KindTableFunction:
		return "function"
	}
	return string(k)
}

// checkModule compiles what the server would compile on creation: a view's and
// an inline function's query. Procedures resolve their names when they run.
func (x *Exec) checkModule(db *Database, schema string, m *Module, stmt tsql.Stmt) error {
	c := &compiler{x: x, module: &moduleScope{db: db, schema: schema}, maxRecursion: maxRecursion}
	switch st := stmt.(type) {
	case *tsql.CreateViewStmt:
		if len(st.Query.OrderBy) > 0 {
			if spec, ok := st.Query.Body.(*tsql.SelectSpec); !ok || spec.Top == nil && st.Query.Offset == nil {
				return sqltypes.Errorf(1033, 1, 15, "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also specified.")
			}
		}
		q, err := c.query(st.Query, nil)
		if err != nil {
			return err
		}
		_, err = renamed(q.columns, st.Columns, m.Name, db.nameRules())
		return err
	case *tsql.CreateFunctionStmt:
		params, err := x.paramsOf(st.Params)
		if err != nil {
			return err
		}
		for _, p := range params {
			if p.table != nil {
				return unsupported("A table-valued parameter of a function")
			}
		}
		if st.Query != nil {
			_, err = c.functionBody(st.Query, params, db, schema)
		}
		return err
	case *tsql.CreateProcedureStmt:
		params, err := x.paramsOf(st.Params)
		if err != nil {
			return err
		}
		return x.bindProcedure(m.Name, params, st.Body)
	}
	return nil
}

func (x *Exec) createType(st *tsql.CreateTypeStmt) error {
	db, schema, err := x.place(st.Name)
	if err != nil {
		return err
	}
	t, _, err := x.resolveType(st.From)
	if err != nil {
		return err
	}
	key := x.catalog(db).objectKey(schema.ID, st.Name.Base())
	if x.catalog(db).types[key] != nil {
		return sqltypes.Errorf(219, 1, 16, "The type '%s' already exists, or you do not have permission to create it.", st.Name.String())
	}
	u := &UserType{ID: int32(256 + db.store.AddCounter("types", 1)), SchemaID: schema.ID, Name: st.Name.Base(), Type: t, Nullable: st.Null != tsql.NotNull}
	doc, err := encodeType(u)
	if err != nil {
		return err
	}
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.PutMeta(metaType+itoa(int64(u.ID)), doc); err != nil {
		return err
	}
	x.change(db, func(c *Catalog) {
		types := map[string]*UserType{key: u}
		for k, v := range c.types {
			types[k] = v
		}
		c.types = types
	})
	return nil
}

// paramsOf resolves the parameters of a procedure or function.
func (x *Exec) paramsOf(list []tsql.Param) ([]Param, error) {
	out := make([]Param, len(list))
	for i, p := range list {
		if table, ok := x.tableType(p.Type); ok && table != nil {
			var err error
			if out[i], err = tableParam(p, table); err != nil {
				return nil, err
			}
			continue
		}
		t, _, err := x.resolveType(p.Type)
		if err != nil {
			return nil, err
		}
		out[i] = Param{Name: p.Name, Type: t, Output: p.Output}
		if p.Default == nil {
			continue
		}
		v, err := x.defaultValue(p.Default, t)
		if err != nil {
			return nil, err
		}
		out[i].Default = &v
	}
	return out, nil
}

// defaultValue evaluates a parameter's default: a constant, or a bare word taken
// as text.
func (x *Exec) defaultValue(e tsql.Expr, t sqltypes.Type) (value, error) {
	if r, ok := e.(*tsql.ColumnRef); ok && len(r.Parts) == 1 {
		return sqltypes.Assign(sqltypes.StringOf(r.Base()), typeSysname, t, "")
	}
	c := &compiler{x: x}
	k, err := c.expr(e, nil)
	if err != nil {
		return value{}, err
	}
	v, err := k.eval(&frame{x: x})
	if err != nil || v.IsNull() {
		return v, err
	}
	return sqltypes.Assign(v, k.typ, t, "")
}

// functionTypes are the parameters and the result type of a function.
func (x *Exec) functionTypes(p *parsedModule) ([]Param, sqltypes.Type, error) {
	st, ok := p.stmt.(*tsql.CreateFunctionStmt)
	if !ok {
		return nil, typeNull, unsupported("This function")
	}
	params, err := x.paramsOf(st.Params)
	if err != nil || st.Returns.IsZero() {
		return params, typeNull, err
	}
	t, _, err := x.resolveType(st.Returns)
	return params, t, err
}
