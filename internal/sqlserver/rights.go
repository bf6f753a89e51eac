package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// What a login may do is asked with one text for all tables. The right to read
// a whole table says nothing of columns that are denied, and its absence nothing
// of columns that are granted: so tables without it, and those for which there
// are rights on single columns, are asked for each of their columns.
//
// HAS_PERMS_BY_NAME is NULL for what does not exist, or may not be known of, and
// for rights that a version does not have: VIEW DATABASE PERFORMANCE STATE and
// VIEW SERVER SECURITY STATE came with SQL Server 2022, where they are enough.
// Names of columns are not to be quoted.
//
// Sources: MS docs, HAS_PERMS_BY_NAME, sys.database_permissions,
// sys.dm_cdc_log_scan_sessions, sys.dm_cdc_errors, sys.dm_server_services.
var rightsStatement = `SELECT USER_NAME(), SUSER_SNAME(), ` + mayRead("N'cdc'", "N'SCHEMA'") + `, ` +
	mayRead("N'[cdc].[change_tables]'", "N'OBJECT'") + `, ` + mayRead("N'[cdc].[captured_columns]'", "N'OBJECT'") + `, ` +
	mayRead("N'[cdc].[ddl_history]'", "N'OBJECT'") + `, ` + mayRead("N'[cdc].[lsn_time_mapping]'", "N'OBJECT'") + `;
SELECT t.object_id, s.name, t.name, ` + mayRead("QUOTENAME(s.name) + N'.' + QUOTENAME(t.name)", "N'OBJECT'") + `, c.name
FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id JOIN sys.columns AS c ON c.object_id = t.object_id
WHERE t.is_tracked_by_cdc = 1
 AND (` + mayRead("QUOTENAME(s.name) + N'.' + QUOTENAME(t.name)", "N'OBJECT'") + ` = 0
  OR EXISTS (SELECT 1 FROM sys.database_permissions AS p WHERE p.class = 1 AND p.major_id = t.object_id AND p.minor_id <> 0))
 AND COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(t.name), N'OBJECT', N'SELECT', c.name, N'COLUMN'), 0) = 0
ORDER BY s.name, t.name, c.column_id;`

// alwaysRead are the tables of schema cdc that are read whatever is captured, in
// the order of rightsStatement.
var alwaysRead = []string{"change_tables", "captured_columns", "ddl_history", "lsn_time_mapping"}

// mayRead is an expression, 1 or 0, for the right to read a securable.
func mayRead(securable, class string) string {
	return "COALESCE(HAS_PERMS_BY_NAME(" + securable + ", " + class + ", N'SELECT'), 0)"
}

// Rights are what the login may read in a database, as far as that is known
// without the right to read the catalogue of change data capture.
type Rights struct {
	// User is the login's user in the database, the principal of GRANT there;
	// Login is that of the server.
	User, Login string
	// WholeSchema is the right to read schema cdc.
	WholeSchema bool
	// Refused are the tables of schema cdc that are always read, and that the
	// login may not read.
	Refused []string
	// Unreadable are columns of captured tables that the login may not read, by
	// the table's object id; tables that it cannot see are missing.
	Unreadable map[int32]*UnreadableColumns
	// order are the keys of Unreadable, in the order of the tables' names.
	order []int32
}

// UnreadableColumns are those of one table.
type UnreadableColumns struct {
	Schema, Table string
	// Denied tells that the table as a whole may be read: the columns are
	// denied, not just not granted.
	Denied  bool
	Columns []string
}

// Rights asks what the login may read.
func (c *Conn) Rights(ctx context.Context) (Rights, error) {
	var r Rights
	err := Retry(ctx, func() (err error) {
		r, err = c.rights(ctx)
		return err
	})
	if err != nil {
		return Rights{}, fmt.Errorf("asking for the rights of the login: %w", err)
	}
	return r, nil
}

func (c *Conn) rights(ctx context.Context) (Rights, error) {
	rows, err := c.Query(ctx, rightsStatement)
	if err != nil {
		return Rights{}, err
	}
	defer rows.Close()
	r := Rights{Unreadable: map[int32]*UnreadableColumns{}}
	row := make([]driver.Value, rows.Width())
	for rows.Next(row) {
		s := scanner{row: row}
		r.User, r.Login, r.WholeSchema = s.text(), s.text(), s.bool()
		for _, table := range alwaysRead {
			if !s.bool() {
				r.Refused = append(r.Refused, table)
			}
		}
		if s.err != nil {
			return Rights{}, s.err
		}
	}
	if rows.NextResult() {
		row := make([]driver.Value, rows.Width())
		for rows.Next(row) {
			s := scanner{row: row}
			r.add(int32(s.int()), UnreadableColumns{Schema: s.text(), Table: s.text(), Denied: s.bool()}, s.text())
			if s.err != nil {
				return Rights{}, s.err
			}
		}
	}
	return r, rows.Close()
}

func (r *Rights) add(id int32, table UnreadableColumns, column string) {
	if r.Unreadable[id] == nil {
		r.Unreadable[id] = &table
		r.order = append(r.order, id)
	}
	r.Unreadable[id].Columns = append(r.Unreadable[id].Columns, column)
}

// Tables returns the tables of Unreadable in the order of their names.
func (r *Rights) Tables() []*UnreadableColumns {
	tables := make([]*UnreadableColumns, len(r.order))
	for i, id := range r.order {
		tables[i] = r.Unreadable[id]
	}
	return tables
}

// The change table of an instance that the login cannot see has a name all the
// same. A right on single columns of it is enough to see it: then what it reads
// of them is not asked here, and an error later. min_lsn is all zeros for who
// may not read the instance by its function.
// Sources: MS docs, cdc.change_tables, IS_ROLEMEMBER, sys.fn_cdc_get_min_lsn.
var instanceRightsStatement = `SELECT ct.object_id,
 CASE WHEN ` + mayRead("N'[cdc].' + QUOTENAME(ct.capture_instance + N'_CT')", "N'OBJECT'") + ` = 1
  OR HAS_PERMS_BY_NAME(N'[cdc].' + QUOTENAME(ct.capture_instance + N'_CT'), N'OBJECT', N'SELECT', N'__$start_lsn', N'COLUMN') = 1 THEN 1 ELSE 0 END,
 ` + mayRead("N'[cdc].' + QUOTENAME(N'fn_cdc_get_all_changes_' + ct.capture_instance)", "N'OBJECT'") + `,
 ct.role_name, CASE WHEN IS_ROLEMEMBER(ct.role_name) = 1 OR IS_ROLEMEMBER(N'db_owner') = 1 THEN 1 ELSE 0 END
FROM cdc.change_tables AS ct`

// InstanceRights are what the login may do with a capture instance.
type InstanceRights struct {
	// ChangeTable and Function are the rights to read them.
	ChangeTable, Function bool
	// Role is the gating role; empty if there is none, or the login is in it.
	Role string
}

// InstanceRights asks what the login may do with each capture instance of the
// database, by the change table's object id.
func (c *Conn) InstanceRights(ctx context.Context) (map[int32]InstanceRights, error) {
	var rights map[int32]InstanceRights
	err := Retry(ctx, func() error {
		rights = map[int32]InstanceRights{}
		return c.each(ctx, func(row []driver.Value) error {
			s := scanner{row: row}
			id := int32(s.int())
			r := InstanceRights{ChangeTable: s.bool(), Function: s.bool(), Role: s.text()}
			if s.bool() {
				r.Role = ""
			}
			rights[id] = r
			return s.err
		}, instanceRightsStatement)
	})
	if err != nil {
		return nil, fmt.Errorf("asking for the rights on capture instances: %w", withGrant(err, "cdc.change_tables"))
	}
	return rights, nil
}

// Grants are statements that give a user the rights it lacks, each once, in the
// order in which they were asked for.
type Grants struct {
	user       string
	statements []string
	seen       map[string]bool
}

// NewGrants returns no statements yet.
func NewGrants(user string) *Grants { return &Grants{user: Quote(user), seen: map[string]bool{}} }

// add adds a statement that is not there yet.
func (g *Grants) add(statement string) {
	if !g.seen[statement] {
		g.seen[statement] = true
		g.statements = append(g.statements, statement)
	}
}

// SelectCDC asks for the right to read everything in schema cdc.
func (g *Grants) SelectCDC() { g.add("GRANT SELECT ON SCHEMA::cdc TO " + g.user) }

// Select asks for the right to read a table or function, or only columns of it.
func (g *Grants) Select(schema, object string, columns ...string) {
	list := ""
	if len(columns) > 0 {
		quoted := make([]string, len(columns))
		for i, column := range columns {
			quoted[i] = Quote(column)
		}
		list = " (" + strings.Join(quoted, ", ") + ")"
	}
	g.add("GRANT SELECT ON " + Quote(schema) + "." + Quote(object) + list + " TO " + g.user)
}

// Join asks for membership in a role.
func (g *Grants) Join(role string) { g.add("ALTER ROLE " + Quote(role) + " ADD MEMBER " + g.user) }

// Len returns the number of statements.
func (g *Grants) Len() int { return len(g.statements) }

// String returns the statements, separated by semicolons.
func (g *Grants) String() string { return strings.Join(g.statements, "; ") }
