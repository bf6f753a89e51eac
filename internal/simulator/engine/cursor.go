package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// cursor is a Transact-SQL cursor (MS docs: DECLARE CURSOR). All kinds read their
// rows when they are opened: what others change later does not show.
type cursor struct {
	name  string
	query *tsql.SelectQuery
	// from is the scope of the declaration; its variables keep the values that
	// they had there.
	from *Exec
	// scroll allows all directions, readOnly forbids WHERE CURRENT OF, static says
	// that the number of rows is known.
	scroll, readOnly, static bool

	open    bool
	columns []Column
	types   []sqltypes.Type
	rows    [][]value
	// ids are the rows' ids when the query reads one table plainly.
	ids   []storage.RowID
	table *Table
	// at is the place of the current row: -1 before the first.
	at int
}

// errNoCursor is error 16916.
func errNoCursor(name string) error {
	return raise(16916, "A cursor with the name '%s' does not exist.", name)
}

// findCursor finds a cursor of the scope, then one of the session; a variable
// holds one of the scope only.
func (x *Exec) findCursor(name string) (*cursor, error) {
	c, declared := x.scope.cursors[fold(name)]
	if strings.HasPrefix(name, "@") {
		switch {
		case !declared:
			return nil, sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", name)
		case c == nil:
			return nil, raise(16950, "The variable '%s' does not currently have a cursor allocated to it.", name)
		}
		return c, nil
	}
	if c == nil {
		c = x.s.cursors[fold(name)]
	}
	if c == nil {
		return nil, errNoCursor(name)
	}
	return c, nil
}

// declareCursor is DECLARE .. CURSOR and SET @v = CURSOR. A cursor is global
// unless it says LOCAL (database option CURSOR_DEFAULT GLOBAL).
func (x *Exec) declareCursor(st *tsql.DeclareCursorStmt) error {
	has := func(option string) bool { return slices.Contains(st.Options, option) }
	for _, o := range []string{"KEYSET", "DYNAMIC", "SCROLL_LOCKS", "TYPE_WARNING"} {
		if has(o) {
			return unsupported("A cursor with the option " + o)
		}
	}
	from := *x
	from.vars = slices.Clone(x.vars)
	c := &cursor{
		name: st.Name, query: st.Query, from: &from, at: -1,
		scroll:   has("SCROLL") || (has("STATIC") || has("INSENSITIVE")) && !has("FORWARD_ONLY"),
		readOnly: has("READ_ONLY") || has("FAST_FORWARD") || has("INSENSITIVE") || has("STATIC"),
		static:   has("STATIC") || has("INSENSITIVE"),
	}
	key := fold(st.Name)
	if strings.HasPrefix(key, "@") {
		if _, ok := x.scope.cursors[key]; !ok {
			return sqltypes.Errorf(137, 1, 15, "Must declare the scalar variable \"%s\".", st.Name)
		}
		x.scope.cursors[key] = c
		return nil
	}
	into := x.s.cursors
	if has("LOCAL") {
		into = x.scope.cursors
	}
	if into[key] != nil {
		return raise(16915, "A cursor with the name '%s' already exists.", st.Name)
	}
	into[key] = c
	return nil
}

// cursorStmt is OPEN, CLOSE and DEALLOCATE.
func (x *Exec) cursorStmt(st *tsql.CursorStmt) error {
	c, err := x.findCursor(st.Name)
	if err != nil {
		return err
	}
	switch st.Verb {
	case "OPEN":
		return x.openCursor(c)
	case "CLOSE":
		if !c.open {
			return raise(16917, "Cursor is not open.")
		}
		c.close()
		return nil
	}
	key := fold(st.Name)
	switch {
	case strings.HasPrefix(key, "@"):
		x.scope.cursors[key] = nil
	case x.scope.cursors[key] == c:
		delete(x.scope.cursors, key)
	default:
		delete(x.s.cursors, key)
	}
	return nil
}

func (c *cursor) close() {
	c.open, c.rows, c.ids, c.at = false, nil, nil, -1
}

// openCursor runs the query and keeps its rows.
func (x *Exec) openCursor(c *cursor) error {
	if c.open {
		return raise(16905, "The cursor is already open.")
	}
	y := *x
	y.scope, y.vars, y.db, y.prog = c.from.scope, c.from.vars, c.from.db, c.from.prog
	_, single := c.query.Body.(*tsql.SelectSpec)
	k := &compiler{x: &y, maxRecursion: maxRecursion, rowIDs: !c.readOnly && single && c.query.For == nil}
	q, err := k.query(c.query, nil)
	if err != nil {
		return err
	}
	if err := k.showMasked(q); err != nil {
		return err
	}
	c.table = nil
	width := len(q.columns)
	if q.spec != nil && q.spec.target != nil {
		c.table = q.spec.target
	}
	c.columns, c.types = make([]Column, width), q.types()
	for i := range q.columns {
		c.columns[i] = q.columns[i].result()
	}
	err = q.run(&y, nil, func(row []value) error {
		c.rows = append(c.rows, slices.Clone(row[:width]))
		if c.table != nil {
			c.ids = append(c.ids, storage.RowID(row[width].Int64()))
		}
		return nil
	})
	if err != nil {
		c.close()
		return err
	}
	c.open, c.at = true, -1
	x.s.cursorRows = -1
	if c.static {
		x.s.cursorRows = int64(len(c.rows))
	}
	return nil
}

// fetch is FETCH. It sets @@FETCH_STATUS: 0, or -1 beyond the rows.
func (x *Exec) fetch(st *tsql.FetchStmt) error {
	c, err := x.findCursor(st.Cursor)
	if err != nil {
		return err
	}
	if !c.open {
		return raise(16917, "Cursor is not open.")
	}
	if st.Direction != "NEXT" && !c.scroll {
		return raise(16911, "fetch: The fetch type %s cannot be used with forward only cursors.", strings.ToLower(st.Direction))
	}
	if len(st.Into) > 0 && len(st.Into) != len(c.columns) {
		return raise(16924, "Cursorfetch: The number of variables declared in the INTO list must match that of selected columns.")
	}
	n := int64(0)
	if st.N != nil {
		v, t, err := x.evaluate(st.N)
		if err != nil {
			return err
		}
		if v, err = sqltypes.Convert(v, t, typeInt, 0); err != nil {
			return err
		}
		n = v.Int64()
	}
	c.move(st.Direction, int(n))
	found := c.at >= 0 && c.at < len(c.rows)
	x.s.fetchStatus = -1
	if found {
		x.s.fetchStatus = 0
	}
	if len(st.Into) == 0 {
		var rows [][]value
		if found {
			rows = append(rows, c.rows[c.at])
		}
		return x.SendRows(c.columns, rows)
	}
	x.s.rowCount = 0
	if !found {
		return nil
	}
	x.s.rowCount = 1
	return x.assignRow(st.Into, c.rows[c.at], c.types)
}

// assignRow stores a row in variables.
func (x *Exec) assignRow(names []string, row []value, types []sqltypes.Type) error {
	for i, name := range names {
		slot, ok := x.scope.slots[fold(name)]
		if !ok {
			return sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", name)
		}
		v := row[i]
		if !v.IsNull() {
			var err error
			if v, err = sqltypes.Assign(v, types[i], x.scope.types[slot], ""); err != nil {
				return err
			}
		}
		x.vars[slot] = v
	}
	return nil
}

// move sets the current row; past either end it stays just outside.
func (c *cursor) move(direction string, n int) {
	switch direction {
	case "NEXT":
		c.at++
	case "PRIOR":
		c.at--
	case "FIRST":
		c.at = 0
	case "LAST":
		c.at = len(c.rows) - 1
	case "RELATIVE":
		c.at += n
	case "ABSOLUTE":
		switch {
		case n > 0:
			c.at = n - 1
		case n < 0:
			c.at = len(c.rows) + n
		default:
			c.at = -1
		}
	}
	c.at = min(max(c.at, -1), len(c.rows))
}

// currentOf finds the row that WHERE CURRENT OF means in the statement's table.
func (x *Exec) currentOf(name string, t *Table) (storage.RowID, error) {
	c, err := x.findCursor(name)
	switch {
	case err != nil:
		return 0, err
	case !c.open:
		return 0, raise(16917, "Cursor is not open.")
	case c.readOnly:
		return 0, raise(16929, "The cursor is READ ONLY.")
	case c.table == nil:
		return 0, unsupported("WHERE CURRENT OF a cursor over other than one plain table")
	case c.table.ID != t.ID:
		return 0, raise(16933, "The cursor does not include the table being modified or the table is not updatable through the cursor.")
	case c.at < 0 || c.at >= len(c.rows):
		return 0, raise(16930, "The requested row is not in the fetch buffer.")
	}
	return c.ids[c.at], nil
}

// cursorStatus is CURSOR_STATUS: 1 with rows, 0 without, -1 closed, -2 an empty
// variable, -3 no such cursor.
func cursorStatus(x *Exec, a []value) (value, error) {
	name := fold(a[1].Str())
	var c *cursor
	known := false
	switch fold(a[0].Str()) {
	case "local", "variable":
		c, known = x.scope.cursors[name]
	case "global":
		c, known = x.s.cursors[name]
	}
	switch {
	case !known:
		return integer(-3), nil
	case c == nil:
		return integer(-2), nil
	case !c.open:
		return integer(-1), nil
	case len(c.rows) == 0:
		return integer(0), nil
	}
	return integer(1), nil
}
