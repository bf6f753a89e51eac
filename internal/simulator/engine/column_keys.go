package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// The keys of Always Encrypted are facts of the catalogue: clients encrypt and
// decrypt, the server hands out what it was given (MS docs: CREATE COLUMN MASTER
// KEY, CREATE COLUMN ENCRYPTION KEY).

func (x *Exec) createColumnMasterKey(st *tsql.ColumnMasterKeyStmt) error {
	if err := x.needDDL(x.db, "ALTER ANY COLUMN MASTER KEY"); err != nil {
		return err
	}
	if x.catalog(x.db).masterKeys[fold(st.Name)] != nil {
		return errKeyExists(st.Name)
	}
	if st.Signature != nil && !x.in.AtLeast(Release2019) {
		return sqltypes.Errorf(102, 1, 15, "Incorrect syntax near 'ENCLAVE_COMPUTATIONS'.")
	}
	k := &columnMasterKey{
		ID: int32(x.db.store.AddCounter("column keys", 1)), Name: st.Name, Provider: st.Provider, Path: st.Path, Signature: st.Signature, Created: x.Now(),
	}
	return x.putDocument(x.db, metaMasterKey+fold(k.Name), k, func(c *Catalog) { c.masterKeys[fold(k.Name)] = k })
}

func errKeyExists(name string) error {
	return sqltypes.Errorf(2714, 6, 16, "There is already an object named '%s' in the database.", name)
}

func (x *Exec) columnEncryptionKeyStmt(st *tsql.ColumnEncryptionKeyStmt) error {
	if err := x.needDDL(x.db, "ALTER ANY COLUMN ENCRYPTION KEY"); err != nil {
		return err
	}
	old := x.catalog(x.db).encryptionKeys[fold(st.Name)]
	k := &columnEncryptionKey{Name: st.Name, Created: x.Now()}
	switch {
	case st.Mode == tsql.Create && old != nil:
		return errKeyExists(st.Name)
	case st.Mode == tsql.Create:
		k.ID = int32(x.db.store.AddCounter("column keys", 1))
	case old == nil:
		return raise(15151, "Cannot alter the column encryption key '%s', because it does not exist or you do not have permission.", st.Name)
	default:
		*k = *old
		k.Values = slices.Clone(old.Values)
	}
	for _, v := range st.Values {
		if x.catalog(x.db).masterKeys[fold(v.MasterKey)] == nil {
			return raise(15151, "Cannot find the column master key '%s', because it does not exist or you do not have permission.", v.MasterKey)
		}
		if st.Drop {
			k.Values = slices.DeleteFunc(k.Values, func(has encryptedKeyValue) bool { return fold(has.MasterKey) == fold(v.MasterKey) })
		} else {
			k.Values = append(k.Values, encryptedKeyValue{MasterKey: v.MasterKey, Algorithm: v.Algorithm, Value: v.Encrypted})
		}
	}
	return x.putDocument(x.db, metaEncryptionKey+fold(k.Name), k, func(c *Catalog) { c.encryptionKeys[fold(k.Name)] = k })
}

// dropColumnKey is DROP COLUMN MASTER KEY and DROP COLUMN ENCRYPTION KEY: a key
// that another entry of the catalogue names stays.
func (x *Exec) dropColumnKey(kind, name string, missing func() error) error {
	if err := x.needDDL(x.db, "ALTER ANY "+kind); err != nil {
		return err
	}
	c, key := x.catalog(x.db), fold(name)
	if kind == "COLUMN MASTER KEY" {
		if c.masterKeys[key] == nil {
			return missing()
		}
		for _, k := range sortedByName(c.encryptionKeys) {
			if slices.ContainsFunc(k.Values, func(v encryptedKeyValue) bool { return fold(v.MasterKey) == key }) {
				return errKeyInUse(kind, name, k.Name)
			}
		}
		return x.deleteDocument(x.db, metaMasterKey+key, func(c *Catalog) { delete(c.masterKeys, key) })
	}
	if c.encryptionKeys[key] == nil {
		return missing()
	}
	for _, t := range c.sortedTables() {
		if slices.ContainsFunc(t.Columns, func(col *TableColumn) bool { return col.Encrypted != nil && fold(col.Encrypted.Key) == key }) {
			return errKeyInUse(kind, name, t.Name)
		}
	}
	return x.deleteDocument(x.db, metaEncryptionKey+key, func(c *Catalog) { delete(c.encryptionKeys, key) })
}

func errKeyInUse(kind, name, by string) error {
	return raise(3729, "Cannot DROP %s '%s' because it is being referenced by object '%s'.", kind, name, by)
}
