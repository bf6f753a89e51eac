package engine

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// The views that stand for the system tables of SQL Server 2000 (MS docs:
// Mapping System Tables to System Views).
var compatFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.sysobjects":  oldObjectRows,
	"sys.syscolumns":  oldColumnRows,
	"sys.sysindexes":  oldIndexRows,
	"sys.systypes":    oldTypeRows,
	"sys.sysusers":    oldUserRows,
	"sys.syscomments": oldCommentRows,
}

// oldKind is sysobjects.type where it differs from xtype.
func oldKind(k ObjectKind) value {
	switch k {
	case KindPrimaryKey, KindUnique:
		return text("K ")
	}
	return kindValue(k)
}

func oldObjectRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachObject(db, func(o Object, parent int64) error {
		return out.add(fields{
			"name": text(o.Name), "id": integer(o.ID), "xtype": kindValue(o.Kind), "uid": integer(int64(o.SchemaID)), "parent_obj": integer(parent),
			"crdate": x.dateTime(o.Created), "refdate": x.dateTime(o.Created), "type": oldKind(o.Kind),
			"category": integer(2 * sqltypes.BoolOf(o.MSShipped).Int64()),
		})
	})
}

func oldColumnRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachColumn(db, func(o Object, c *TableColumn) error {
		t := typeFields(c.Type, c.UserTypeID)
		row := fields{
			"name": text(c.Name), "id": integer(o.ID), "xtype": t["system_type_id"], "xusertype": t["user_type_id"], "length": t["max_length"],
			"xprec": t["precision"], "xscale": t["scale"], "colid": integer(int64(c.ID)), "colorder": integer(int64(c.ID)), "cdefault": integer(0),
			"type": t["system_type_id"], "usertype": t["user_type_id"], "iscomputed": boolean(c.Computed != ""), "isnullable": boolean(c.Nullable),
			"colstat": boolean(c.Identity != nil), "status": integer(8*sqltypes.BoolOf(c.Nullable).Int64() + 128*sqltypes.BoolOf(c.Identity != nil).Int64()),
			"prec": integer(columnPrecision(c.Type)),
		}
		if c.Default != nil {
			row["cdefault"] = integer(c.Default.ID)
		}
		if c.Type.ID.IsNumber() && !c.Type.ID.IsFloat() || c.Type.ID.IsTemporal() {
			row["scale"] = integer(typeScale(c.Type))
		}
		if c.Type.ID.IsText() && c.Type.Collation != nil {
			row["collation"] = text(c.Type.Collation.Name)
		}
		return out.add(row)
	})
}

// columnPrecision is COLUMNPROPERTY 'Precision': characters or bytes of text
// and binary types, -1 for (max).
func columnPrecision(t sqltypes.Type) int64 {
	if t.ID.IsText() || t.ID.IsBinary() {
		return int64(t.Length)
	}
	return typePrecision(t)
}

func oldIndexRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachTable(db, func(t *Table) error {
		rows := db.store.RowCount(t.ID)
		add := func(id int64, name value, status, keys int64) error {
			pages := integer(pagesOf(rows))
			return out.add(fields{
				"id": integer(t.ID), "status": integer(status), "indid": integer(id), "keycnt": integer(keys), "dpages": pages, "reserved": pages, "used": pages,
				"rowcnt": integer(rows), "name": name, "rows": integer(min(rows, 2147483647)),
			})
		}
		if t.Clustered() == nil {
			if err := add(0, value{}, 0, 0); err != nil {
				return err
			}
		}
		for _, ix := range t.Indexes {
			status := 2*sqltypes.BoolOf(ix.Unique).Int64() + 16*sqltypes.BoolOf(ix.Clustered).Int64() + 2048*sqltypes.BoolOf(ix.Constraint == KindPrimaryKey).Int64() +
				4096*sqltypes.BoolOf(ix.Constraint == KindUnique).Int64()
			if err := add(int64(ix.ID), text(ix.Name), status, int64(len(ix.Keys))); err != nil {
				return err
			}
		}
		return nil
	})
}

func oldTypeRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	add := func(name string, t sqltypes.Type, id, schema int64, nullable bool) error {
		f := typeFields(t, int32(id))
		row := fields{
			"name": text(name), "xtype": f["system_type_id"], "xusertype": f["user_type_id"], "length": f["max_length"], "xprec": f["precision"],
			"xscale": f["scale"], "uid": integer(schema), "usertype": f["user_type_id"], "allownulls": boolean(nullable), "type": f["system_type_id"],
			"prec": integer(columnPrecision(t)), "variable": boolean(t.ID.IsText() && t.ID != sqltypes.Char && t.ID != sqltypes.NChar),
		}
		if t.ID.IsText() && t.ID != sqltypes.XML {
			row["collation"] = text(c.options.Collation)
		}
		return out.add(row)
	}
	for _, s := range systemTypes {
		t := sqltypes.Simple(s.ID)
		if s.ID == sqltypes.Decimal || s.ID == sqltypes.Numeric {
			t.Precision, t.Scale = uint8(s.Precision), uint8(s.Scale)
		}
		if err := add(s.Name, t, s.UserTypeID, sysSchemaID, s.Name != "sysname" && s.Name != "timestamp"); err != nil {
			return err
		}
	}
	for _, u := range c.sortedTypes() {
		if err := add(u.Name, u.Type, int64(u.ID), int64(u.SchemaID), u.Nullable); err != nil {
			return err
		}
	}
	return nil
}

func oldUserRows(x *Exec, db *Database, out *rowFiller) error {
	for _, p := range x.catalog(db).sortedPrincipals() {
		role := p.Type == "R"
		row := fields{
			"uid": integer(int64(p.ID)), "name": text(p.Name), "createdate": x.dateTime(p.Created), "updatedate": x.dateTime(p.Created), "altuid": integer(0),
			"gid": integer(0), "hasdbaccess": boolean(!role), "islogin": boolean(!role), "issqluser": boolean(!role), "issqlrole": boolean(role), "isapprole": boolean(false),
		}
		if l := x.in.login(p.Login); l != nil {
			row["sid"] = sidOf(l.ID)
		}
		if err := out.add(row); err != nil {
			return err
		}
	}
	return nil
}

// commentPiece is how much of a text one row of syscomments holds.
const commentPiece = 4000

func oldCommentRows(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if !x.visible(db, m.Object) {
			continue
		}
		runes := []rune(m.Text)
		for n := int64(1); len(runes) > 0; n++ {
			piece := runes[:min(commentPiece, len(runes))]
			runes = runes[len(piece):]
			if err := out.add(fields{"id": integer(m.ID), "colid": integer(n), "text": text(string(piece))}); err != nil {
				return err
			}
		}
	}
	return nil
}
