package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// Synonym is another name for an object, resolved when it is used (MS docs:
// CREATE SYNONYM).
type Synonym struct {
	Object
	// For are the parts of the object's name as written.
	For []string
}

func (s *Synonym) target() tsql.Name { return tsql.Name{Parts: s.For} }

func (s *Synonym) object() Object { return s.Object }

// sortedObjects lists catalogue entries by object id.
func sortedObjects[T interface{ object() Object }](entries map[int64]T) []T {
	return slices.SortedFunc(maps.Values(entries), func(a, b T) int { return cmp.Compare(a.object().ID, b.object().ID) })
}

func (c *Catalog) synonym(schema, name string) *Synonym { return c.synonyms[c.lookup(schema, name)] }

func (c *Catalog) setSynonym(s *Synonym) {
	c.synonyms[s.ID] = s
	c.names[c.objectKey(s.SchemaID, s.Name)] = s.ID
}

func (c *Catalog) removeSynonym(id int64) {
	if s := c.synonyms[id]; s != nil {
		delete(c.synonyms, id)
		delete(c.names, c.objectKey(s.SchemaID, s.Name))
	}
}

// createSynonym is CREATE SYNONYM. Whether the object exists shows when the
// synonym is used.
func (x *Exec) createSynonym(st *tsql.CreateSynonymStmt) error {
	db, o, err := x.newObject(st.Name, KindSynonym, "CREATE SYNONYM")
	if err != nil {
		return err
	}
	s := &Synonym{Object: o, For: st.For.Parts}
	return x.putDocument(db, metaSynonym+itoa(s.ID), s, func(c *Catalog) { c.setSynonym(s) })
}

// newObject gives a new object its place and id, or error 2714 when the name is
// taken.
func (x *Exec) newObject(n tsql.Name, kind ObjectKind, permission string) (*Database, Object, error) {
	db, schema, err := x.place(n)
	if err != nil {
		return nil, Object{}, err
	}
	if err := x.needDDL(db, permission); err != nil {
		return nil, Object{}, err
	}
	if x.catalog(db).lookup(schema.Name, n.Base()) != 0 {
		return nil, Object{}, sqltypes.Errorf(2714, 5, 16, "There is already an object named '%s' in the database.", n.Base())
	}
	now := x.Now()
	return db, Object{ID: db.newObjectID(), SchemaID: schema.ID, Name: n.Base(), Kind: kind, Created: now, Modified: now}, nil
}

// dropNamed is DROP SYNONYM and DROP SEQUENCE.
func (x *Exec) dropNamed(kind string, n tsql.Name, missing func() error) error {
	db, schema, err := x.place(n)
	if err != nil {
		return missing()
	}
	id := x.catalog(db).lookup(schema.Name, n.Base())
	switch c := x.catalog(db); {
	case kind == "SYNONYM" && c.synonyms[id] != nil:
		if err := x.needAlter(db, c.synonyms[id].Object); err != nil {
			return err
		}
		return x.deleteDocument(db, metaSynonym+itoa(id), func(c *Catalog) { c.removeSynonym(id) })
	case kind == "SEQUENCE" && c.sequences[id] != nil:
		if err := x.needAlter(db, c.sequences[id].Object); err != nil {
			return err
		}
		return x.deleteDocument(db, metaSequence+itoa(id), func(c *Catalog) { c.removeSequence(id) })
	}
	return missing()
}

// resolveSynonym finds the table or view that a synonym stands for.
func (c *compiler) resolveSynonym(s *Synonym) (*resolved, error) {
	n := s.target()
	if n.Server() != "" {
		return nil, errNoServer(n.Server())
	}
	if db, err := c.database(n); err == nil {
		schema := n.Schema()
		if schema == "" {
			schema = c.defaultSchema(db)
		}
		if next := c.catalog(db).synonym(schema, n.Base()); next != nil {
			return nil, raise(470, "The synonym \"%s\" referenced synonym \"%s\". Synonym chaining is not allowed.", s.Name, next.Name)
		}
	}
	r, err := c.resolveTable(n)
	if e := asServerError(err); e != nil && e.Number == 208 {
		return nil, raise(5313, "Synonym '%s' refers to an invalid object.", s.Name)
	}
	return r, err
}

func errNoServer(name string) error {
	return sqltypes.Errorf(7202, 2, 11, "Could not find server '%s' in sys.servers. Verify that the correct server name was specified. If necessary, execute the stored procedure sp_addlinkedserver to add the server to sys.servers.", name)
}

// procedureSynonym finds a synonym by a procedure's name, nil when there is none.
func (x *Exec) procedureSynonym(db *Database, n tsql.Name) *Synonym {
	if n.Schema() != "" {
		return x.catalog(db).synonym(n.Schema(), n.Base())
	}
	return x.catalog(db).synonym(x.defaultSchema(db), n.Base())
}

func (in *Instance) registerSynonymView() {
	in.view("synonyms", append(objectColumns(), col("base_object_name", sqltypes.NVarCharOf(1035))), func(x *Exec, db *Database, emit rowEmitter) error {
		for _, s := range sortedObjects(x.catalog(db).synonyms) {
			name := ""
			for i, part := range s.For {
				if i > 0 {
					name += "."
				}
				name += "[" + part + "]"
			}
			if err := emit(append(x.objectRow(s.Object, 0), text(name))); err != nil {
				return err
			}
		}
		return nil
	})
}
