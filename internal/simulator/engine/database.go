package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Database is one database: its catalogue and its storage.
type Database struct {
	in     *Instance
	id     int
	nameMu sync.RWMutex
	name   string
	store  *storage.Database
	// publish guards the replacement of the catalogue.
	publish sync.Mutex
	catalog atomic.Pointer[Catalog]
	// claimed is the session whose ALTER DATABASE .. WITH ROLLBACK keeps others out.
	claimed atomic.Pointer[Session]
	// turning is a snapshotState while ALLOW_SNAPSHOT_ISOLATION waits for the open
	// transactions, else 0.
	turning atomic.Int32
	usage   indexUsage
}

// Name is the database's name.
func (db *Database) Name() string {
	db.nameMu.RLock()
	defer db.nameMu.RUnlock()
	return db.name
}

// ID is the database_id.
func (db *Database) ID() int { return db.id }

// Storage is the database's storage, for readers of its log.
func (db *Database) Storage() *storage.Database { return db.store }

// Instance is the server that the database belongs to.
func (db *Database) Instance() *Instance { return db.in }

// Catalog is the committed catalogue.
func (db *Database) Catalog() *Catalog { return db.catalog.Load() }

// Options are the database's committed settings.
func (db *Database) Options() DatabaseOptions { return *db.Catalog().options }

// Table finds a committed table by its object id, nil when there is none.
func (db *Database) Table(id int64) *Table { return db.Catalog().tables[id] }

// TableNamed finds a committed table by schema and name, nil when there is none.
func (db *Database) TableNamed(schema, name string) *Table { return db.Catalog().table(schema, name) }

// IsSystem reports master, tempdb, model and msdb.
func (db *Database) IsSystem() bool { return db.id <= msdbID }

// collation is the database's default collation.
func (db *Database) collation() *sqltypes.Collation {
	c, ok := sqltypes.LookupCollation(db.Catalog().options.Collation)
	if !ok {
		return sqltypes.DefaultCollation
	}
	return c
}

func (db *Database) accessible(l *login) bool {
	o := db.Catalog().options
	if o.State == "OFFLINE" || o.UserAccess == "RESTRICTED_USER" && !db.privileged(l) {
		return false
	}
	if l.Sysadmin || db.IsSystem() {
		return true
	}
	return db.Catalog().userOf(l) != nil
}

// leaveName makes sessions look the database's name up again, whose plans know the
// database itself: another one, or none, has the name from now on.
func (db *Database) leaveName() {
	c := db.Catalog().clone()
	c.version = db.in.versions.Add(1)
	db.catalog.Store(c)
}

// userOf is the database user of a login; dbo for sysadmins and the owner.
func (c *Catalog) userOf(l *login) *Principal {
	if l.Sysadmin || strings.EqualFold(c.options.Owner, l.Name) {
		return c.principal("dbo")
	}
	for _, p := range c.principals {
		if p.Type == "S" && p.Login != "" && strings.EqualFold(p.Login, l.Name) {
			return p
		}
	}
	if g := c.principal("guest"); g != nil && c.permissions[(Permission{Class: 0, Grantee: g.ID, Name: "CONNECT"}).key()] != nil {
		return g
	}
	return nil
}

// Keys of the catalogue's documents. Each object is one document.
const (
	metaOptions    = "options"
	metaSchema     = "schema/"
	metaTable      = "table/"
	metaModule     = "module/"
	metaSynonym    = "synonym/"
	metaSequence   = "sequence/"
	metaType       = "type/"
	metaPrincipal  = "principal/"
	metaPermission = "permission/"
	metaLogin      = "login/"
)

// load reads the catalogue from the storage.
func (db *Database) load() error {
	c := newCatalog()
	var err error
	read := func(key string, doc []byte) bool {
		err = c.read(key, doc)
		return err == nil
	}
	// The collation, by which the rest finds its place, comes first.
	db.store.ScanMeta(metaOptions, read)
	if err == nil {
		db.store.ScanMeta("", read)
	}
	if err != nil {
		return fmt.Errorf("reading the catalogue: %w", err)
	}
	c.version = db.in.versions.Add(1)
	db.catalog.Store(c)
	db.applyOptions(c.options)
	return db.resolveFilters()
}

// read takes one document into the catalogue.
func (c *Catalog) read(key string, doc []byte) error {
	kind, _, _ := strings.Cut(key, "/")
	switch kind + "/" {
	case metaOptions + "/":
		return json.Unmarshal(doc, c.options)
	case metaSchema:
		s := &Schema{}
		if err := json.Unmarshal(doc, s); err != nil {
			return err
		}
		c.schemas[c.schemaKey(s.Name)] = s
	case metaTable:
		t, err := decodeTable(doc)
		if err != nil {
			return err
		}
		c.setTable(t)
	case metaModule:
		m := &Module{}
		if err := json.Unmarshal(doc, m); err != nil {
			return err
		}
		c.setModule(m)
	case metaSynonym:
		s := &Synonym{}
		if err := json.Unmarshal(doc, s); err != nil {
			return err
		}
		c.setSynonym(s)
	case metaSequence:
		s, err := decodeSequence(doc)
		if err != nil {
			return err
		}
		c.setSequence(s)
	case metaType:
		t, err := decodeType(doc)
		if err != nil {
			return err
		}
		c.types[c.objectKey(t.SchemaID, t.Name)] = t
	case metaPrincipal:
		p := &Principal{}
		if err := json.Unmarshal(doc, p); err != nil {
			return err
		}
		c.principals[fold(p.Name)] = p
	case metaPermission:
		p := &Permission{}
		if err := json.Unmarshal(doc, p); err != nil {
			return err
		}
		c.permissions[p.key()] = p
	default:
		return c.readFact(kind+"/", doc)
	}
	return nil
}

// setTable puts a table and the names of its constraints into the catalogue.
func (c *Catalog) setTable(t *Table) {
	c.removeTable(t.ID)
	if rules := c.nameRules(); t.names != rules {
		t.names = rules
	}
	c.tables[t.ID] = t
	c.names[c.objectKey(t.SchemaID, t.Name)] = t.ID
	t.constraints(func(id int64, name string) {
		c.names[c.objectKey(t.SchemaID, name)] = id
		c.parents[id] = t.ID
	})
}

func (c *Catalog) removeTable(id int64) {
	t := c.tables[id]
	if t == nil {
		return
	}
	delete(c.tables, id)
	delete(c.names, c.objectKey(t.SchemaID, t.Name))
	t.constraints(func(id int64, name string) {
		delete(c.names, c.objectKey(t.SchemaID, name))
		delete(c.parents, id)
	})
}

// constraints calls f with every constraint object of the table.
func (t *Table) constraints(f func(id int64, name string)) {
	for _, ix := range t.Indexes {
		if ix.ConstraintID != 0 {
			f(ix.ConstraintID, ix.Name)
		}
	}
	for _, col := range t.Columns {
		if col.Default != nil {
			f(col.Default.ID, col.Default.Name)
		}
	}
	for _, ck := range t.Checks {
		f(ck.ID, ck.Name)
	}
	for _, fk := range t.ForeignKeys {
		f(fk.ID, fk.Name)
	}
}

func (c *Catalog) setModule(m *Module) {
	c.removeModule(m.ID)
	c.modules[m.ID] = m
	c.names[c.objectKey(m.SchemaID, m.Name)] = m.ID
}

func (c *Catalog) removeModule(id int64) {
	if m := c.modules[id]; m != nil {
		delete(c.modules, id)
		delete(c.names, c.objectKey(m.SchemaID, m.Name))
	}
}

// tableDocument is a table's stored form: types are written by name.
type tableDocument struct {
	*Table
	Types []storedType
}

func encodeTable(t *Table) ([]byte, error) {
	d := tableDocument{Table: t}
	for _, c := range t.Columns {
		d.Types = append(d.Types, storeType(c.Type))
	}
	return json.Marshal(d)
}

func decodeTable(doc []byte) (*Table, error) {
	d := tableDocument{Table: &Table{}}
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	for i, c := range d.Table.Columns {
		var err error
		if c.Type, err = d.Types[i].load(); err != nil {
			return nil, fmt.Errorf("table %q, column %q: %w", d.Table.Name, c.Name, err)
		}
	}
	return d.Table, nil
}

type typeDocument struct {
	*UserType
	Stored storedType
}

func encodeType(t *UserType) ([]byte, error) {
	return json.Marshal(typeDocument{UserType: t, Stored: storeType(t.Type)})
}

func decodeType(doc []byte) (*UserType, error) {
	d := typeDocument{UserType: &UserType{}}
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	var err error
	d.UserType.Type, err = d.Stored.load()
	return d.UserType, err
}

// createDatabase makes a database with what every database has.
func (in *Instance) createDatabase(name string, id int, owner, collation string) error {
	sdb, err := in.store.CreateDatabase(name, id)
	if err != nil {
		return err
	}
	if collation == "" {
		collation = in.opts.Collation
	}
	db := &Database{in: in, id: id, name: name, store: sdb}
	now := in.Now()
	level := in.product.compatibility
	c := newCatalog()
	*c.options = DatabaseOptions{
		Collation: collation, CompatibilityLevel: level, UserAccess: "MULTI_USER", State: "ONLINE",
		Recovery: "FULL", Created: now, Owner: owner,
		SnapshotIsolation: id == masterID || id == msdbID || in.IsAzure(),
		// On by default in Azure SQL Database (MS docs: Transaction locking and row
		// versioning guide).
		ReadCommittedSnapshot: in.IsAzure() && id > msdbID,
		DatabaseGUID:          newGUID(), FamilyGUID: newGUID(), RecoveryFork: newGUID(),
	}
	c.options.FirstFork = c.options.RecoveryFork
	if id == masterID || id == msdbID || id == tempdbID {
		c.options.Recovery = "SIMPLE"
	}
	for _, s := range []Schema{{1, "dbo", 1}, {2, "guest", 2}, {3, "INFORMATION_SCHEMA", 3}, {4, "sys", 4}} {
		c.schemas[c.schemaKey(s.Name)] = &s
	}
	fixed := map[string]int32{
		"db_owner": 16384, "db_accessadmin": 16385, "db_securityadmin": 16386, "db_ddladmin": 16387,
		"db_backupoperator": 16389, "db_datareader": 16390, "db_datawriter": 16391, "db_denydatareader": 16392, "db_denydatawriter": 16393,
	}
	for role, rid := range fixed {
		c.principals[role] = &Principal{ID: rid, Name: role, Type: "R", Fixed: true, Owner: 1, Created: now}
		c.schemas[c.schemaKey(role)] = &Schema{ID: rid, Name: role, Owner: rid}
	}
	c.principals["public"] = &Principal{ID: 0, Name: "public", Type: "R", Owner: 1, Created: now}
	c.principals["dbo"] = &Principal{ID: 1, Name: "dbo", Type: "S", Login: owner, DefaultSchema: "dbo", MemberOf: []int32{16384}, Created: now}
	c.principals["guest"] = &Principal{ID: 2, Name: "guest", Type: "S", DefaultSchema: "guest", Created: now}
	c.principals["information_schema"] = &Principal{ID: 3, Name: "INFORMATION_SCHEMA", Type: "S", Created: now}
	c.principals["sys"] = &Principal{ID: 4, Name: "sys", Type: "S", Created: now}
	if db.IsSystem() && id != modelID {
		p := &Permission{Grantee: 2, Name: "CONNECT", State: "G"}
		c.permissions[p.key()] = p
	}
	if err := db.save(c); err != nil {
		return err
	}
	c.version = in.versions.Add(1)
	db.catalog.Store(c)
	db.applyOptions(c.options)
	in.mu.Lock()
	in.databases[fold(name)] = db
	in.mu.Unlock()
	return nil
}

// save writes a new database's whole catalogue.
func (db *Database) save(c *Catalog) error {
	txn := db.store.Begin(storage.TxnOptions{})
	defer txn.Rollback()
	put := func(key string, doc any) error {
		text, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		return txn.PutMeta(key, text)
	}
	if err := put(metaOptions, c.options); err != nil {
		return err
	}
	for _, s := range c.schemas {
		if err := put(metaSchema+itoa(int64(s.ID)), s); err != nil {
			return err
		}
	}
	for _, p := range c.principals {
		if err := put(metaPrincipal+itoa(int64(p.ID)), p); err != nil {
			return err
		}
	}
	for _, p := range c.permissions {
		if err := put(metaPermission+p.key(), p); err != nil {
			return err
		}
	}
	_, err := txn.Commit()
	return err
}
