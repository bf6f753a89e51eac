package engine

import (
	"encoding/json"
	"fmt"
)

// putTable stores a table's definition in the transaction.
func (x *Exec) putTable(db *Database, t *Table) error {
	doc, err := encodeTable(t)
	if err != nil {
		return fmt.Errorf("encoding table %q: %w", t.Name, err)
	}
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.PutMeta(metaTable+itoa(t.ID), doc); err != nil {
		return err
	}
	x.change(db, func(c *Catalog) { c.setTable(t) })
	return nil
}

func (x *Exec) deleteTable(db *Database, t *Table) error {
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.DeleteMeta(metaTable + itoa(t.ID)); err != nil {
		return err
	}
	x.change(db, func(c *Catalog) { c.removeTable(t.ID) })
	return x.deletePermissions(db, 1, t.ID)
}

// putDocument stores any other entry of the catalogue.
func (x *Exec) putDocument(db *Database, key string, doc any, apply func(*Catalog)) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encoding %q: %w", key, err)
	}
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.PutMeta(key, text); err != nil {
		return err
	}
	x.change(db, apply)
	return nil
}

func (x *Exec) deleteDocument(db *Database, key string, apply func(*Catalog)) error {
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.DeleteMeta(key); err != nil {
		return err
	}
	x.change(db, apply)
	return nil
}

func (x *Exec) putModule(db *Database, m *Module) error {
	return x.putDocument(db, metaModule+itoa(m.ID), m, func(c *Catalog) { c.setModule(m) })
}

func (x *Exec) deleteModule(db *Database, m *Module) error {
	if err := x.deleteDocument(db, metaModule+itoa(m.ID), func(c *Catalog) { c.removeModule(m.ID) }); err != nil {
		return err
	}
	return x.deletePermissions(db, 1, m.ID)
}

func (x *Exec) putSchema(db *Database, s *Schema) error {
	return x.putDocument(db, metaSchema+itoa(int64(s.ID)), s, func(c *Catalog) { c.schemas[c.schemaKey(s.Name)] = s })
}

func (x *Exec) putPrincipal(db *Database, p *Principal) error {
	return x.putDocument(db, metaPrincipal+itoa(int64(p.ID)), p, func(c *Catalog) {
		for name, old := range c.principals {
			if old.ID == p.ID {
				delete(c.principals, name)
			}
		}
		c.principals[fold(p.Name)] = p
	})
}

func (x *Exec) deletePrincipal(db *Database, p *Principal) error {
	return x.deleteDocument(db, metaPrincipal+itoa(int64(p.ID)), func(c *Catalog) { delete(c.principals, fold(p.Name)) })
}

func (x *Exec) putPermission(db *Database, p *Permission) error {
	return x.putDocument(db, metaPermission+p.key(), p, func(c *Catalog) { c.permissions[p.key()] = p })
}

func (x *Exec) deletePermission(db *Database, p *Permission) error {
	return x.deleteDocument(db, metaPermission+p.key(), func(c *Catalog) { delete(c.permissions, p.key()) })
}

// deletePermissions removes all permissions on an object.
func (x *Exec) deletePermissions(db *Database, class int, major int64) error {
	for _, p := range x.catalog(db).permissions {
		if p.Class == class && p.Major == major {
			if err := x.deletePermission(db, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// UpdateOptions changes a database's settings inside the transaction.
func (x *Exec) UpdateOptions(db *Database, change func(*DatabaseOptions)) error {
	o := *x.catalog(db).options
	change(&o)
	return x.putDocument(db, metaOptions, &o, func(c *Catalog) {
		merged := *c.options
		change(&merged)
		moved := merged.Collation != c.options.Collation
		c.options = &merged
		if moved {
			c.rename()
		}
	})
}

// UpdateTable stores a changed copy of a table's definition that leaves its
// stored rows as they are: tracking flags, names, is_ms_shipped.
func (x *Exec) UpdateTable(db *Database, t *Table, change func(*Table)) (*Table, error) {
	d := t.clone()
	change(d)
	return d, x.putTable(db, d)
}

// UpdateModule stores a changed copy of a module.
func (x *Exec) UpdateModule(db *Database, m *Module, change func(*Module)) error {
	d := *m
	change(&d)
	return x.putModule(db, &d)
}
