package engine

import (
	"encoding/binary"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func rowVersionBytes(n int64) value {
	return sqltypes.BytesOf(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

// object finds any object of a catalogue by id.
func (c *Catalog) object(id int64) (Object, bool) {
	if t := c.tables[id]; t != nil {
		return t.Object, true
	}
	if m := c.modules[id]; m != nil {
		return m.Object, true
	}
	if s := c.synonyms[id]; s != nil {
		return s.Object, true
	}
	if s := c.sequences[id]; s != nil {
		return s.Object, true
	}
	if p := c.policies[id]; p != nil {
		return p.Object, true
	}
	if parent := c.tables[c.parents[id]]; parent != nil {
		o := Object{ID: id, SchemaID: parent.SchemaID, Created: parent.Created, Modified: parent.Modified}
		parent.constraints(func(cid int64, name string) {
			if cid == id {
				o.Name = name
			}
		})
		o.Kind = constraintKind(parent, id)
		return o, true
	}
	return Object{}, false
}

func constraintKind(t *Table, id int64) ObjectKind {
	for _, ix := range t.Indexes {
		if ix.ConstraintID == id {
			return ix.Constraint
		}
	}
	for _, col := range t.Columns {
		if col.Default != nil && col.Default.ID == id {
			return KindDefault
		}
	}
	for _, ck := range t.Checks {
		if ck.ID == id {
			return KindCheck
		}
	}
	return KindForeignKey
}

func objectID(x *Exec, a []value) (value, error) {
	if a[0].IsNull() {
		return value{}, nil
	}
	n := splitName(a[0].Str())
	kind := ""
	if len(a) > 1 {
		kind = strings.ToUpper(strings.TrimSpace(a[1].Str()))
	}
	if strings.HasPrefix(n.Base(), "#") {
		if t := x.s.tempTable(n.Base()); t != nil && (kind == "" || kind == "U") {
			return integer(t.ID), nil
		}
		return value{}, nil
	}
	db := x.db
	if n.Database() != "" {
		if db = x.in.Database(n.Database()); db == nil {
			return value{}, nil
		}
	}
	c := x.catalog(db)
	schemas := []string{n.Schema()}
	if n.Schema() == "" {
		schemas = []string{x.defaultSchema(db), "dbo"}
	}
	for _, s := range schemas {
		if id := c.lookup(s, n.Base()); id != 0 {
			if o, ok := c.object(id); ok && (kind == "" || string(o.Kind) == kind) {
				return integer(id), nil
			}
		}
		for _, name := range []string{s, "sys"} {
			if v := x.in.hooks.views[hookName(name, n.Base())]; v != nil && (kind == "" || kind == "V") && (n.Schema() == "" || fold(name) == fold(n.Schema())) {
				return integer(systemObjectID(v.Schema + "." + v.Name)), nil
			}
			if x.in.hooks.procedures[hookName(name, n.Base())] != nil && (kind == "" || kind == "P" || kind == "X") {
				return integer(systemObjectID(name + "." + n.Base())), nil
			}
			if x.in.hooks.functions[hookName(name, n.Base())] != nil && (kind == "" || kind == "FN") {
				return integer(systemObjectID(name + "." + n.Base())), nil
			}
		}
	}
	return value{}, nil
}

// systemObjectID makes the negative id of a system object from its name.
func systemObjectID(name string) int64 {
	h := int64(7)
	for _, b := range []byte(fold(name)) {
		h = (h*31 + int64(b)) % 1000000007
	}
	return -h - 1
}

// databaseArg is the database of an optional database_id argument.
func databaseArg(x *Exec, a []value, i int) *Database {
	if i >= len(a) {
		return x.db
	}
	if a[i].IsNull() {
		return nil
	}
	return x.in.DatabaseByID(int(a[i].Int64()))
}

func objectName(x *Exec, a []value) (value, error) {
	db := databaseArg(x, a, 1)
	if a[0].IsNull() || db == nil {
		return value{}, nil
	}
	if o, ok := x.catalog(db).object(a[0].Int64()); ok {
		return text(o.Name), nil
	}
	for _, t := range x.s.temp {
		if t.ID == a[0].Int64() {
			return text(t.Name), nil
		}
	}
	return value{}, nil
}

func objectSchemaName(x *Exec, a []value) (value, error) {
	db := databaseArg(x, a, 1)
	if a[0].IsNull() || db == nil {
		return value{}, nil
	}
	c := x.catalog(db)
	if o, ok := c.object(a[0].Int64()); ok {
		return text(c.schemaName(o.SchemaID)), nil
	}
	return value{}, nil
}

func objectDefinition(x *Exec, a []value) (value, error) {
	c := x.catalog(x.db)
	if m := c.modules[a[0].Int64()]; m != nil {
		return text(m.Text), nil
	}
	for _, t := range c.tables {
		for _, col := range t.Columns {
			if col.Default != nil && col.Default.ID == a[0].Int64() {
				return text(col.Default.Text), nil
			}
		}
		for _, ck := range t.Checks {
			if ck.ID == a[0].Int64() {
				return text(ck.Text), nil
			}
		}
	}
	return value{}, nil
}

func schemaName(x *Exec, a []value) (value, error) {
	if len(a) == 0 {
		return text(x.defaultSchema(x.db)), nil
	}
	return textOrNull(x.catalog(x.db).schemaName(int32(a[0].Int64()))), nil
}

func schemaID(x *Exec, a []value) (value, error) {
	name := x.defaultSchema(x.db)
	if len(a) > 0 {
		name = a[0].Str()
	}
	if s := x.catalog(x.db).schema(name); s != nil {
		return integer(int64(s.ID)), nil
	}
	return value{}, nil
}

func dbID(x *Exec, a []value) (value, error) {
	if len(a) == 0 {
		return integer(int64(x.db.id)), nil
	}
	if db := x.in.Database(a[0].Str()); db != nil {
		return integer(int64(db.id)), nil
	}
	return value{}, nil
}

func dbName(x *Exec, a []value) (value, error) {
	if db := databaseArg(x, a, 0); db != nil {
		return text(db.Name()), nil
	}
	return value{}, nil
}

func colName(x *Exec, a []value) (value, error) {
	if t := x.catalog(x.db).tables[a[0].Int64()]; t != nil {
		if c := t.ColumnByID(int(a[1].Int64())); c != nil {
			return text(c.Name), nil
		}
	}
	return value{}, nil
}

func colLength(x *Exec, a []value) (value, error) {
	if _, t := x.tableNamed(a[0].Str()); t != nil {
		if c := t.Column(a[1].Str()); c != nil {
			return integer(int64(c.Type.MaxLength())), nil
		}
	}
	return value{}, nil
}

func columnProperty(x *Exec, a []value) (value, error) {
	t := x.catalog(x.db).tables[a[0].Int64()]
	if t == nil {
		return value{}, nil
	}
	c := t.Column(a[1].Str())
	if c == nil {
		return value{}, nil
	}
	switch strings.ToUpper(a[2].Str()) {
	case "ISIDENTITY":
		return boolean(c.Identity != nil), nil
	case "ISCOMPUTED":
		return boolean(c.Computed != ""), nil
	case "ALLOWSNULL":
		return boolean(c.Nullable), nil
	case "COLUMNID", "ORDINAL":
		return integer(int64(c.ID)), nil
	case "ISROWGUIDCOL":
		return boolean(c.RowGUID), nil
	case "ISSPARSE":
		return boolean(c.Sparse), nil
	case "ISHIDDEN", "ISCOLUMNSET", "ISIDNOTFORREPL", "ISFULLTEXTINDEXED", "ISXMLINDEXABLE", "GENERATEDALWAYSTYPE":
		return integer(0), nil
	case "PRECISION":
		if c.Type.ID.IsText() || c.Type.ID.IsBinary() {
			return integer(int64(c.Type.Length)), nil
		}
		return integer(typePrecision(c.Type)), nil
	case "SCALE":
		return integer(typeScale(c.Type)), nil
	case "CHARMAXLEN":
		if c.Type.ID.IsText() {
			return integer(int64(c.Type.Length)), nil
		}
	}
	return value{}, nil
}

func objectProperty(x *Exec, a []value) (value, error) {
	c := x.catalog(x.db)
	o, ok := c.object(a[0].Int64())
	if !ok {
		return value{}, nil
	}
	t := c.tables[o.ID]
	switch strings.ToUpper(a[1].Str()) {
	case "ISTABLE", "ISUSERTABLE":
		return boolean(o.Kind == KindTable && (!o.MSShipped || strings.EqualFold(a[1].Str(), "ISTABLE"))), nil
	case "ISVIEW":
		return boolean(o.Kind == KindView), nil
	case "ISPROCEDURE":
		return boolean(o.Kind == KindProcedure), nil
	case "ISSCALARFUNCTION":
		return boolean(o.Kind == KindScalarFunction), nil
	case "ISINLINEFUNCTION":
		return boolean(o.Kind == KindInlineFunction), nil
	case "ISTABLEFUNCTION":
		return boolean(o.Kind == KindInlineFunction || o.Kind == KindTableFunction), nil
	case "ISMSSHIPPED":
		return boolean(o.MSShipped), nil
	case "ISPRIMARYKEY":
		return boolean(o.Kind == KindPrimaryKey), nil
	case "OWNERID":
		return integer(1), nil
	case "SCHEMAID":
		return integer(int64(o.SchemaID)), nil
	case "TABLEHASPRIMARYKEY":
		return boolean(t != nil && t.PrimaryKey() != nil), nil
	case "TABLEHASIDENTITY":
		return boolean(t != nil && t.identity() != nil), nil
	case "TABLEHASCLUSTINDEX":
		return boolean(t != nil && t.Clustered() != nil), nil
	case "TABLEHASINDEX":
		return boolean(t != nil && len(t.Indexes) > 0), nil
	case "TABLEHASFOREIGNKEY":
		return boolean(t != nil && len(t.ForeignKeys) > 0), nil
	case "ISSYSTEMTABLE", "ISENCRYPTED", "ISREPLPROC", "TABLETEMPORALTYPE":
		return integer(0), nil
	}
	return value{}, nil
}

func indexProperty(x *Exec, a []value) (value, error) {
	t := x.catalog(x.db).tables[a[0].Int64()]
	if t == nil {
		return value{}, nil
	}
	ix := t.Index(a[1].Str())
	if ix == nil {
		return value{}, nil
	}
	switch strings.ToUpper(a[2].Str()) {
	case "ISUNIQUE":
		return boolean(ix.Unique), nil
	case "ISCLUSTERED":
		return boolean(ix.Clustered), nil
	case "INDEXID":
		return integer(int64(ix.ID)), nil
	case "ISDISABLED", "ISHYPOTHETICAL", "ISPADINDEX", "ISSTATISTICS", "ISFULLTEXTKEY", "INDEXFILLFACTOR":
		return integer(0), nil
	}
	return value{}, nil
}

func indexCol(x *Exec, a []value) (value, error) {
	_, t := x.tableNamed(a[0].Str())
	if t == nil {
		return value{}, nil
	}
	for _, ix := range t.Indexes {
		if int64(ix.ID) == a[1].Int64() {
			if k := int(a[2].Int64()); k >= 1 && k <= len(ix.Keys) {
				return text(t.ColumnByID(ix.Keys[k-1].ColumnID).Name), nil
			}
		}
	}
	return value{}, nil
}

func typeName(x *Exec, a []value) (value, error) {
	for i := range systemTypes {
		if systemTypes[i].UserTypeID == a[0].Int64() {
			return text(systemTypes[i].Name), nil
		}
	}
	for _, u := range x.catalog(x.db).types {
		if int64(u.ID) == a[0].Int64() {
			return text(u.Name), nil
		}
	}
	return value{}, nil
}

func typeIDFunc(x *Exec, a []value) (value, error) {
	name := splitName(a[0].Str()).Base()
	for i := range systemTypes {
		if strings.EqualFold(systemTypes[i].Name, name) {
			return integer(systemTypes[i].UserTypeID), nil
		}
	}
	for _, u := range x.catalog(x.db).types {
		if strings.EqualFold(u.Name, name) {
			return integer(int64(u.ID)), nil
		}
	}
	return value{}, nil
}
