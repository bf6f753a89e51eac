package engine

import (
	"maps"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// ObjectKind is a value of sys.objects.type.
type ObjectKind string

// The object kinds of the catalogue.
const (
	KindTable          ObjectKind = "U"
	KindView           ObjectKind = "V"
	KindProcedure      ObjectKind = "P"
	KindScalarFunction ObjectKind = "FN"
	KindInlineFunction ObjectKind = "IF"
	KindTableFunction  ObjectKind = "TF"
	KindPrimaryKey     ObjectKind = "PK"
	KindUnique         ObjectKind = "UQ"
	KindDefault        ObjectKind = "D"
	KindCheck          ObjectKind = "C"
	KindForeignKey     ObjectKind = "F"
	KindTrigger        ObjectKind = "TR"
	KindPolicy         ObjectKind = "SP"
	KindSynonym        ObjectKind = "SN"
	KindSequence       ObjectKind = "SO"
)

// Object is what every entry of sys.objects has. Object ids are never reused.
type Object struct {
	ID       int64
	SchemaID int32
	Name     string
	Kind     ObjectKind
	Created  time.Time
	Modified time.Time
	// MSShipped marks objects that a system procedure made (is_ms_shipped).
	MSShipped bool `json:",omitempty"`
}

// Table is one version of a table's definition. It is immutable: a change makes
// a new version.
type Table struct {
	Object
	// Columns are the present columns in column_id order.
	Columns []*TableColumn
	// Width is the greatest column_id ever given, which is also the number of
	// values in a stored row: the column with column_id n is value n-1, for ever.
	Width       int
	Indexes     []*Index
	Checks      []*Check      `json:",omitempty"`
	ForeignKeys []*ForeignKey `json:",omitempty"`
	// TrackedByCDC is sys.tables.is_tracked_by_cdc.
	TrackedByCDC bool `json:",omitempty"`
	// Captured are the column_ids that change data capture copies.
	Captured       []int  `json:",omitempty"`
	LockEscalation string `json:",omitempty"`

	// heldBySession marks # tables and table variables, which are not in the
	// catalogue of tempdb but belong to one session.
	heldBySession bool
	tableVariable bool
	// readOnly marks the table of a table-valued parameter.
	readOnly bool
	// names are the rules of the database that the table belongs to.
	names nameRules
}

// TableColumn is a column of a table.
type TableColumn struct {
	// ID is the column_id, from 1, never reused within the table.
	ID   int
	Name string
	// Type is the system type; TypeName names the alias type when there is one.
	Type       sqltypes.Type `json:"-"`
	UserTypeID int32         `json:",omitempty"`
	Nullable   bool
	// Default is the default's text as SQL Server stores it, as in ((1)).
	Default *DefaultConstraint `json:",omitempty"`
	// Identity is nil unless the column has the IDENTITY property.
	Identity *Identity `json:",omitempty"`
	// Computed is the expression's text in parentheses, or empty.
	Computed   string `json:",omitempty"`
	Persisted  bool   `json:",omitempty"`
	RowGUID    bool   `json:",omitempty"`
	Sparse     bool   `json:",omitempty"`
	MaskedWith string `json:",omitempty"`
	// Encrypted is nil unless the column is encrypted by Always Encrypted.
	Encrypted  *columnEncryption `json:",omitempty"`
	AnsiPadded bool              `json:",omitempty"`
}

// slot is the column's place in a stored row.
func (c *TableColumn) slot() int { return c.ID - 1 }

// DefaultConstraint is a column's default.
type DefaultConstraint struct {
	ID          int64
	Name        string
	Text        string
	SystemNamed bool `json:",omitempty"`
	Created     time.Time
}

// Identity is a column's IDENTITY property.
type Identity struct {
	Seed, Increment   int64
	NotForReplication bool `json:",omitempty"`
}

// Index is an index of a table, or the one behind a key constraint.
type Index struct {
	// ID is sys.indexes.index_id: 1 for the clustered index, else from 2.
	ID        int
	Name      string
	Clustered bool
	Unique    bool
	Keys      []IndexKey
	// Included are the column_ids of INCLUDE columns.
	Included []int  `json:",omitempty"`
	Filter   string `json:",omitempty"`
	// Constraint is KindPrimaryKey or KindUnique when the index enforces a key
	// constraint, whose object id is ConstraintID.
	Constraint   ObjectKind `json:",omitempty"`
	ConstraintID int64      `json:",omitempty"`
	SystemNamed  bool       `json:",omitempty"`
	Created      time.Time
	IgnoreDupKey bool `json:",omitempty"`
	MSShipped    bool `json:",omitempty"`
}

// IndexKey is one key column of an index.
type IndexKey struct {
	ColumnID int
	Desc     bool `json:",omitempty"`
}

// Check is a CHECK constraint.
type Check struct {
	ID          int64
	Name        string
	Text        string
	ColumnID    int  `json:",omitempty"`
	SystemNamed bool `json:",omitempty"`
	Disabled    bool `json:",omitempty"`
	Created     time.Time
}

// ForeignKey is a FOREIGN KEY constraint.
type ForeignKey struct {
	ID          int64
	Name        string
	Columns     []int
	RefTable    int64
	RefColumns  []int
	OnDelete    string `json:",omitempty"`
	OnUpdate    string `json:",omitempty"`
	SystemNamed bool   `json:",omitempty"`
	Disabled    bool   `json:",omitempty"`
	Created     time.Time
}

// Module is a view, procedure, function or trigger: an object with a text.
type Module struct {
	Object
	// Text is the CREATE statement as written.
	Text             string
	QuotedIdentifier bool
	// Parent is the table of a trigger.
	Parent int64 `json:",omitempty"`
	// Disabled marks a trigger that DISABLE TRIGGER has turned off.
	Disabled bool `json:",omitempty"`
}

// Schema is a schema of a database.
type Schema struct {
	ID    int32
	Name  string
	Owner int32
}

// UserType is an alias type.
type UserType struct {
	ID       int32
	SchemaID int32
	Name     string
	Type     sqltypes.Type `json:"-"`
	Nullable bool
}

// Principal is a database user or role.
type Principal struct {
	ID   int32
	Name string
	// Type is S for a user with a login, R for a role.
	Type string
	// Login is the name of the user's login.
	Login         string `json:",omitempty"`
	DefaultSchema string `json:",omitempty"`
	Fixed         bool   `json:",omitempty"`
	Owner         int32
	// MemberOf lists the ids of the roles it belongs to.
	MemberOf []int32 `json:",omitempty"`
	Created  time.Time
}

// Permission is one row of sys.database_permissions.
type Permission struct {
	Grantee int32
	// Class is 0 for the database, 1 for an object, 3 for a schema, 4 for a user.
	Class int
	Major int64
	// Column is a column_id, 0 for the whole object.
	Column int
	Name   string
	// State is G (grant), W (with grant option) or D (deny).
	State string
}

// classPrincipal is the class of permissions on a user (MS docs:
// sys.database_permissions).
const classPrincipal = 4

func (p Permission) key() string {
	return strings.Join([]string{itoa(int64(p.Class)), itoa(p.Major), itoa(int64(p.Column)), itoa(int64(p.Grantee)), p.Name}, "/")
}

// DatabaseOptions are the settings of a database.
type DatabaseOptions struct {
	Collation             string
	CompatibilityLevel    int
	SnapshotIsolation     bool
	ReadCommittedSnapshot bool
	// UserAccess is MULTI_USER, SINGLE_USER or RESTRICTED_USER.
	UserAccess string
	// State is ONLINE or OFFLINE.
	State      string
	ReadOnly   bool
	Recovery   string
	CDCEnabled bool
	// Contained is CONTAINMENT = PARTIAL, which allows no change data capture.
	Contained   bool `json:",omitempty"`
	Created     time.Time
	Owner       string
	Trustworthy bool
	// DatabaseGUID, FamilyGUID and the rest are as in sys.database_recovery_status;
	// ForkPoint and LastLogBackup are LSNs in text, empty for none.
	DatabaseGUID, FamilyGUID, RecoveryFork, FirstFork string
	ForkPoint, LastLogBackup                          string `json:",omitempty"`
}

// Catalog is one version of a database's catalogue. Versions are immutable once
// published; a transaction that changes definitions works on a copy.
type Catalog struct {
	// version grows with every published change and tells cached plans apart.
	version     int64
	options     *DatabaseOptions
	schemas     map[string]*Schema
	tables      map[int64]*Table
	modules     map[int64]*Module
	synonyms    map[int64]*Synonym
	sequences   map[int64]*Sequence
	types       map[string]*UserType
	principals  map[string]*Principal
	permissions map[string]*Permission
	catalogFacts
	// names maps "schema id/name" in lower case to an object id, constraints
	// included; parents maps a constraint's id to its table's.
	names   map[string]int64
	parents map[int64]int64
}

func newCatalog() *Catalog {
	return &Catalog{
		options:      &DatabaseOptions{},
		schemas:      map[string]*Schema{},
		tables:       map[int64]*Table{},
		modules:      map[int64]*Module{},
		synonyms:     map[int64]*Synonym{},
		sequences:    map[int64]*Sequence{},
		types:        map[string]*UserType{},
		principals:   map[string]*Principal{},
		permissions:  map[string]*Permission{},
		catalogFacts: newFacts(),
		names:        map[string]int64{},
		parents:      map[int64]int64{},
	}
}

func (c *Catalog) clone() *Catalog {
	d := *c
	d.schemas = maps.Clone(c.schemas)
	d.tables = maps.Clone(c.tables)
	d.modules = maps.Clone(c.modules)
	d.synonyms = maps.Clone(c.synonyms)
	d.sequences = maps.Clone(c.sequences)
	d.types = maps.Clone(c.types)
	d.principals = maps.Clone(c.principals)
	d.permissions = maps.Clone(c.permissions)
	d.catalogFacts = c.catalogFacts.clone()
	d.names = maps.Clone(c.names)
	d.parents = maps.Clone(c.parents)
	return &d
}

func fold(s string) string { return strings.ToLower(s) }

func (c *Catalog) schema(name string) *Schema { return c.schemas[c.schemaKey(name)] }

func (c *Catalog) schemaByID(id int32) *Schema {
	for _, s := range c.schemas {
		if s.ID == id {
			return s
		}
	}
	return nil
}

func (c *Catalog) schemaName(id int32) string {
	if s := c.schemaByID(id); s != nil {
		return s.Name
	}
	return ""
}

// lookup finds an object's id by schema and name; 0 when there is none.
func (c *Catalog) lookup(schema, name string) int64 {
	s := c.schema(schema)
	if s == nil {
		return 0
	}
	return c.names[c.objectKey(s.ID, name)]
}

func (c *Catalog) table(schema, name string) *Table   { return c.tables[c.lookup(schema, name)] }
func (c *Catalog) module(schema, name string) *Module { return c.modules[c.lookup(schema, name)] }

func (c *Catalog) principal(name string) *Principal { return c.principals[fold(name)] }

func (c *Catalog) principalByID(id int32) *Principal {
	for _, p := range c.principals {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// Column finds a column by name, nil when there is none.
func (t *Table) Column(name string) *TableColumn {
	for _, c := range t.Columns {
		if t.names.same(c.Name, name) {
			return c
		}
	}
	return nil
}

// ColumnByID finds a column by its column_id, nil when there is none.
func (t *Table) ColumnByID(id int) *TableColumn {
	for _, c := range t.Columns {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Index finds an index by name, nil when there is none.
func (t *Table) Index(name string) *Index {
	for _, ix := range t.Indexes {
		if t.names.same(ix.Name, name) {
			return ix
		}
	}
	return nil
}

// PrimaryKey is the table's primary key, nil when there is none.
func (t *Table) PrimaryKey() *Index {
	for _, ix := range t.Indexes {
		if ix.Constraint == KindPrimaryKey {
			return ix
		}
	}
	return nil
}

// Clustered is the table's clustered index, nil for a heap.
func (t *Table) Clustered() *Index {
	for _, ix := range t.Indexes {
		if ix.Clustered {
			return ix
		}
	}
	return nil
}

func (t *Table) identity() *TableColumn {
	for _, c := range t.Columns {
		if c.Identity != nil {
			return c
		}
	}
	return nil
}

// clone copies the definition deeply enough that every field may be changed.
func (t *Table) clone() *Table {
	d := *t
	d.Columns = make([]*TableColumn, len(t.Columns))
	for i, c := range t.Columns {
		cc := *c
		d.Columns[i] = &cc
	}
	d.Indexes = make([]*Index, len(t.Indexes))
	for i, ix := range t.Indexes {
		c := *ix
		c.Keys = append([]IndexKey(nil), ix.Keys...)
		d.Indexes[i] = &c
	}
	d.Checks = make([]*Check, len(t.Checks))
	for i, ck := range t.Checks {
		c := *ck
		d.Checks[i] = &c
	}
	d.ForeignKeys = make([]*ForeignKey, len(t.ForeignKeys))
	for i, fk := range t.ForeignKeys {
		c := *fk
		d.ForeignKeys[i] = &c
	}
	return &d
}
