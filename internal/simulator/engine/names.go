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
