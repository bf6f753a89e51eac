package engine

// Table finds a table by schema and name, nil when there is none.
func (c *Catalog) Table(schema, name string) *Table { return c.table(schema, name) }

// TableByID finds a table by its object id, nil when there is none.
func (c *Catalog) TableByID(id int64) *Table { return c.tables[id] }

// Tables lists the tables by object id.
func (c *Catalog) Tables() []*Table { return c.sortedTables() }

// Options are the database's settings.
func (c *Catalog) Options() DatabaseOptions { return *c.options }

// SchemaName is a schema's name by its id, "" when there is none.
func (c *Catalog) SchemaName(id int32) string { return c.schemaName(id) }

// HasSchema reports whether a schema of that name exists.
func (c *Catalog) HasSchema(name string) bool { return c.schema(name) != nil }

// HasPrincipal reports whether a user or role of that name exists.
func (c *Catalog) HasPrincipal(name string) bool { return c.principal(name) != nil }

// ObjectByName finds any object of a schema by name.
func (c *Catalog) ObjectByName(schema, name string) (Object, bool) {
	return c.object(c.lookup(schema, name))
}

// HasColumnPermission reports whether the session's user holds a permission on
// one column of an object.
func (x *Exec) HasColumnPermission(db *Database, o Object, permission string, column int) bool {
	return x.allowed(db, o, permission, column)
}
