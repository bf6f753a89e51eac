package engine

import (
	"strings"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// catalog is a database's catalogue, noted as a dependency of the plan.
func (c *compiler) catalog(db *Database) *Catalog {
	cat := c.x.catalog(db)
	for _, d := range c.deps {
		if d.db == db {
			return cat
		}
	}
	c.deps = append(c.deps, dependency{db, cat.version})
	return cat
}

// database resolves the database part of a name.
func (c *compiler) database(n tsql.Name) (*Database, error) {
	if n.Database() == "" {
		if c.module != nil {
			return c.module.db, nil
		}
		return c.x.db, nil
	}
	db := c.x.in.Database(n.Database())
	if db == nil {
		return nil, errInvalidObject(n.String())
	}
	if c.x.in.IsAzure() && !c.x.system && db != c.x.db && db != c.x.in.tempdb {
		return nil, sqltypes.Errorf(40515, 1, 15, "Reference to database and/or server name in '%s' is not supported in this version of SQL Server.", n.String())
	}
	return db, c.x.admit(db)
}

// defaultSchema is where names without a schema are looked up first.
func (c *compiler) defaultSchema(db *Database) string {
	if c.module != nil && c.module.db == db {
		return c.module.schema
	}
	return c.x.defaultSchema(db)
}

func (x *Exec) defaultSchema(db *Database) string {
	if x.system {
		return "dbo"
	}
	if u := x.catalog(db).userOf(x.s.effectiveLogin()); u != nil && u.DefaultSchema != "" && u.Name != "guest" {
		return u.DefaultSchema
	}
	return "dbo"
}

// resolved is what a table name stands for: a table, a virtual table or a view.
type resolved struct {
	db     *Database
	schema string
	table  *Table
	view   *View
	module *Module
}

// resolveTable finds a table or view by name. Unqualified names are looked up in
// the default schema, then in dbo; system views need their schema, except the
// compatibility views such as sysobjects.
func (c *compiler) resolveTable(n tsql.Name) (*resolved, error) {
	db, err := c.database(n)
	if err != nil {
		return nil, err
	}
	cat := c.catalog(db)
	name := n.Base()
	schemas := []string{n.Schema()}
	if n.Schema() == "" {
		schemas = []string{c.defaultSchema(db), "dbo"}
	}
	for _, schema := range schemas {
		id := cat.lookup(schema, name)
		if t := cat.tables[id]; t != nil {
			c.readsTables = true
			return &resolved{db: db, schema: cat.schemaName(t.SchemaID), table: t}, nil
		}
		if m := cat.modules[id]; m != nil && m.Kind == KindView {
			c.readsTables = true
			return &resolved{db: db, schema: cat.schemaName(m.SchemaID), module: m}, nil
		}
		if s := cat.synonyms[id]; s != nil {
			return c.resolveSynonym(s)
		}
		if v, ok := c.x.in.hooks.views[hookName(schema, name)]; ok && (v.Visible == nil || v.Visible(db)) {
			return &resolved{db: db, schema: v.Schema, view: v}, nil
		}
		if n.Schema() == "" {
			if v, ok := c.x.in.hooks.views[hookName("sys", name)]; ok && strings.HasPrefix(fold(name), "sys") {
				return &resolved{db: db, schema: v.Schema, view: v}, nil
			}
		}
	}
	return nil, errInvalidObject(n.String())
}

// splitName reads a name such as [dbo].[a b] or a.b as object functions do.
func splitName(text string) tsql.Name {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; ch {
		case '.':
			parts = append(parts, part.String())
			part.Reset()
		case '[', '"':
			end := byte(']')
			if ch == '"' {
				end = '"'
			}
			for i++; i < len(text); i++ {
				if text[i] == end {
					if i+1 < len(text) && text[i+1] == end {
						i++
					} else {
						break
					}
				}
				part.WriteByte(text[i])
			}
		case ' ':
			if part.Len() > 0 {
				part.WriteByte(ch)
			}
		default:
			part.WriteByte(ch)
		}
	}
	parts = append(parts, strings.TrimRight(part.String(), " "))
	return tsql.Name{Parts: parts}
}

// resolveType resolves a type name: a system type, sysname, or an alias type.
// The second result is the user_type_id of an alias, else 0.
func (x *Exec) resolveType(n tsql.TypeName) (sqltypes.Type, int32, error) {
	base := n.Base()
	if strings.EqualFold(base, "sysname") {
		t := sqltypes.NVarCharOf(128)
		t.Collation = x.collation()
		return t, sysnameTypeID, nil
	}
	if s := n.Schema(); s == "" || strings.EqualFold(s, "sys") {
		if err := x.in.checkType(base); err != nil {
			return sqltypes.Type{}, 0, err
		}
		t, err := sqltypes.ParseType(base, n.Args)
		if err == nil {
			if t.ID.IsText() {
				t.Collation = x.collation()
			}
			return t, 0, nil
		}
		if e := asServerError(err); e != nil && e.Number != 2715 && e.Number != 243 {
			return t, 0, err
		}
	}
	cat := x.catalog(x.db)
	schema := n.Schema()
	if schema == "" {
		schema = x.defaultSchema(x.db)
	}
	for _, name := range []string{schema, "dbo"} {
		if s := cat.schema(name); s != nil {
			if u := cat.types[cat.objectKey(s.ID, base)]; u != nil {
				t := u.Type
				if t.ID.IsText() && t.Collation == nil {
					t.Collation = x.collation()
				}
				return t, u.ID, nil
			}
		}
	}
	return sqltypes.Type{}, 0, sqltypes.Errorf(243, 1, 16, "Type %s is not a defined system type.", n.String())
}

// programCache keeps parsed batches by their text, for all sessions.
type programCache struct {
	mu    sync.Mutex
	byKey map[programKey]*tsql.Program
	bytes int
}

type programKey struct {
	text   string
	quoted bool
}

// maxProgramBytes bounds the text of the cached batches.
const maxProgramBytes = 8 << 20

func newProgramCache() *programCache { return &programCache{byKey: map[programKey]*tsql.Program{}} }

// parse parses a batch, or finds it in the cache.
func (in *Instance) parse(sql string, quoted bool) (*tsql.Program, error) {
	p := in.programs
	key := programKey{sql, quoted}
	p.mu.Lock()
	prog := p.byKey[key]
	p.mu.Unlock()
	if prog != nil {
		return prog, nil
	}
	prog, err := tsql.Parse(sql, tsql.Options{QuotedIdentifierOff: !quoted, JoinOperator: in.AtLeast(Release2025)})
	if err != nil {
		return nil, err
	}
	if len(sql) > maxProgramBytes/16 {
		return prog, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes+len(sql) > maxProgramBytes {
		clear(p.byKey)
		p.bytes = 0
	}
	p.byKey[key] = prog
	p.bytes += len(sql)
	return prog, nil
}

// parsedModule is the statement that created a module.
type parsedModule struct {
	prog *tsql.Program
	stmt tsql.Stmt
	body *tsql.Program
}

// module parses a module's text, once for each version of the module.
func (in *Instance) module(m *Module) (*parsedModule, error) {
	if p, ok := in.modules.Load(m); ok {
		return p.(*parsedModule), nil
	}
	prog, err := in.parse(m.Text, m.QuotedIdentifier)
	if err != nil {
		return nil, err
	}
	p := &parsedModule{prog: prog, stmt: prog.Stmts[0]}
	p.body = &tsql.Program{Text: prog.Text}
	switch st := p.stmt.(type) {
	case *tsql.CreateProcedureStmt:
		p.body.Stmts = st.Body
	case *tsql.CreateFunctionStmt:
		p.body.Stmts = st.Body
	case *tsql.CreateTriggerStmt:
		p.body.Stmts = st.Body
	}
	in.modules.Store(m, p)
	return p, nil
}
