package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// nameRules compare the names of a database's objects and columns as its
// collation does: in a case-sensitive database A and a are two columns, in a
// Turkish one I and i are. The zero value folds case.
// Source: MS docs, "Database identifiers", on the collation of an identifier.
type nameRules struct{ collation *sqltypes.Collation }

// key is equal for names that are equal.
func (r nameRules) key(name string) string {
	if r.collation == nil {
		return fold(name)
	}
	return r.collation.NameKey(name)
}

func (r nameRules) same(a, b string) bool {
	return a == b || len(a) > 0 && len(b) > 0 && r.key(a) == r.key(b)
}

// nameRules are those of the database.
func (db *Database) nameRules() nameRules { return db.Catalog().nameRules() }

func (c *Catalog) nameRules() nameRules {
	collation, ok := sqltypes.LookupCollation(c.options.Collation)
	if !ok || strings.EqualFold(collation.Name, sqltypes.DefaultCollation.Name) {
		return nameRules{}
	}
	return nameRules{collation}
}

// SameName reports whether two names mean the same object in the database.
func (db *Database) SameName(a, b string) bool { return db.nameRules().same(a, b) }

func (c *Catalog) objectKey(schema int32, name string) string {
	return itoa(int64(schema)) + "/" + c.nameRules().key(name)
}

// schemaKey is equal for equal names of schemas. Those of the system are found
// in any case.
func (c *Catalog) schemaKey(name string) string {
	if key := fold(name); key == "sys" || key == "information_schema" {
		return key
	}
	return c.nameRules().key(name)
}

// rename finds the place of every name anew, after a change of the collation by
// which they are compared.
func (c *Catalog) rename() {
	schemas, types := c.schemas, c.types
	c.schemas, c.types = map[string]*Schema{}, map[string]*UserType{}
	for _, s := range schemas {
		c.schemas[c.schemaKey(s.Name)] = s
	}
	for _, t := range types {
		c.types[c.objectKey(t.SchemaID, t.Name)] = t
	}
	c.names = map[string]int64{}
	for id, t := range c.tables {
		d := t.clone()
		d.names = c.nameRules()
		c.tables[id] = d
		c.names[c.objectKey(d.SchemaID, d.Name)] = id
		d.constraints(func(id int64, name string) { c.names[c.objectKey(d.SchemaID, name)] = id })
	}
	for id, m := range c.modules {
		c.names[c.objectKey(m.SchemaID, m.Name)] = id
	}
	for id, s := range c.synonyms {
		c.names[c.objectKey(s.SchemaID, s.Name)] = id
	}
	for id, s := range c.sequences {
		c.names[c.objectKey(s.SchemaID, s.Name)] = id
	}
	for id, p := range c.policies {
		c.names[c.objectKey(p.SchemaID, p.Name)] = id
	}
}

// duplicates reports whether two names that share a space would be one.
func (c *Catalog) duplicates(rules nameRules) bool {
	seen := map[string]bool{}
	twice := false
	note := func(space, name string) {
		key := space + rules.key(name)
		twice = twice || seen[key]
		seen[key] = true
	}
	object := func(schema int32, name string) { note("object/"+itoa(int64(schema))+"/", name) }
	for _, s := range c.schemas {
		note("schema/", s.Name)
	}
	for _, t := range c.types {
		note("type/"+itoa(int64(t.SchemaID))+"/", t.Name)
	}
	for _, t := range c.tables {
		object(t.SchemaID, t.Name)
		t.constraints(func(_ int64, name string) { object(t.SchemaID, name) })
		for _, column := range t.Columns {
			note("column/"+itoa(t.ID)+"/", column.Name)
		}
		for _, index := range t.Indexes {
			note("index/"+itoa(t.ID)+"/", index.Name)
		}
	}
	for _, m := range c.modules {
		object(m.SchemaID, m.Name)
	}
	for _, s := range c.synonyms {
		object(s.SchemaID, s.Name)
	}
	for _, s := range c.sequences {
		object(s.SchemaID, s.Name)
	}
	for _, p := range c.policies {
		object(p.SchemaID, p.Name)
	}
	return twice
}
