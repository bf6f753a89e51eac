package engine

import (
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func (in *Instance) registerHelpProcedures() {
	name := Param{Name: "@objname", Type: sqltypes.NVarCharOf(776)}
	in.RegisterProcedure("sys", "sp_helptext", Procedure{Params: []Param{name, nullParam(sysname("@columnname"))}, Run: spHelpText})
	in.RegisterProcedure("sys", "sp_helpindex", Procedure{Params: []Param{name}, Run: spHelpIndex})
	in.RegisterProcedure("sys", "sp_helpdb", Procedure{Params: []Param{nullParam(sysname("@dbname"))}, Run: spHelpDB})
	in.RegisterProcedure("sys", "sp_spaceused", Procedure{
		Params: []Param{nullParam(name), optional(Param{Name: "@updateusage", Type: sqltypes.VarCharOf(5)}, text("false"))}, Run: spSpaceUsed,
	})
}

func errNoHelp(x *Exec, name string) error {
	return raise(15009, "The object '%s' does not exist in database '%s' or is invalid for this operation.", name, x.db.Name())
}

// spHelpText answers a module's text line by line (MS docs: sp_helptext).
func spHelpText(x *Exec, a []value) (int32, error) {
	id, err := objectID(x, a[:1])
	if err != nil {
		return 1, err
	}
	if id.IsNull() {
		return 1, errNoHelp(x, a[0].Str())
	}
	m := x.catalog(x.db).modules[id.Int64()]
	if m == nil {
		return 1, raise(15197, "There is no text for object '%s'.", a[0].Str())
	}
	const width = 255
	var rows [][]value
	for _, line := range strings.SplitAfter(m.Text, "\n") {
		for runes := []rune(line); len(runes) > 0; {
			piece := runes[:min(width, len(runes))]
			runes = runes[len(piece):]
			rows = append(rows, []value{text(string(piece))})
		}
	}
	return 0, x.SendRows([]Column{col("Text", catalogText(sqltypes.NVarCharOf(width)))}, rows)
}

func spHelpIndex(x *Exec, a []value) (int32, error) {
	db, t := x.tableNamed(a[0].Str())
	if t == nil || db != x.db || !x.visible(db, t.Object) {
		return 1, errNoHelp(x, a[0].Str())
	}
	if len(t.Indexes) == 0 {
		return 0, x.Message(&Message{Number: 15472, State: 1, Text: "The object '" + a[0].Str() + "' does not have any indexes, or you do not have permissions."})
	}
	rows := make([][]value, len(t.Indexes))
	for i, ix := range t.Indexes {
		kind := "nonclustered"
		if ix.Clustered {
			kind = "clustered"
		}
		if ix.Unique {
			kind += ", unique"
		}
		switch ix.Constraint {
		case KindPrimaryKey:
			kind += ", primary key"
		case KindUnique:
			kind += ", unique key"
		}
		var keys []string
		for _, k := range ix.Keys {
			key := t.ColumnByID(k.ColumnID).Name
			if k.Desc {
				key += "(-)"
			}
			keys = append(keys, key)
		}
		rows[i] = []value{text(ix.Name), text(kind + " located on PRIMARY"), text(strings.Join(keys, ", "))}
	}
	return 0, x.SendRows([]Column{col("index_name", vName), col("index_description", sqltypes.VarCharOf(210)), col("index_keys", catalogText(sqltypes.NVarCharOf(2078)))}, rows)
}

func spHelpDB(x *Exec, a []value) (int32, error) {
	var rows [][]value
	for _, db := range x.visibleDatabases() {
		if !a[0].IsNull() && !strings.EqualFold(a[0].Str(), db.Name()) {
			continue
		}
		o := x.catalog(db).options
		updateability := "READ_WRITE"
		if o.ReadOnly {
			updateability = "READ_ONLY"
		}
		status := "Status=" + o.State + ", Updateability=" + updateability + ", UserAccess=" + o.UserAccess + ", Recovery=" + o.Recovery +
			", Version=" + itoa(x.in.product.internal) + ", Collation=" + o.Collation
		rows = append(rows, []value{
			text(db.Name()), text("     16.00 MB"), text(o.Owner), integer(int64(db.id)), text(o.Created.In(x.in.location).Format("Jan _2 2006")), text(status),
			integer(int64(o.CompatibilityLevel)),
		})
	}
	if len(rows) == 0 {
		return 1, raise(15010, "The database '%s' does not exist. Supply a valid database name. To see available databases, use sys.databases.", a[0].Str())
	}
	return 0, x.SendRows([]Column{
		col("name", vName), col("db_size", catalogText(sqltypes.NVarCharOf(13))), col("owner", vName), col("dbid", typeSmallInt), col("created", catalogText(sqltypes.NVarCharOf(11))),
		col("status", catalogText(sqltypes.NVarCharOf(600))), col("compatibility_level", typeTinyInt),
	}, rows)
}

func spSpaceUsed(x *Exec, a []value) (int32, error) {
	kb := func(pages int64) value { return text(strconv.FormatInt(8*pages, 10) + " KB") }
	size := func(name string) Column { return col(name, sqltypes.VarCharOf(18)) }
	if a[0].IsNull() {
		if err := x.SendRows([]Column{col("database_name", vName), size("database_size"), size("unallocated space")}, [][]value{{text(x.db.Name()), text("16.00 MB"), text("0.00 MB")}}); err != nil {
			return 1, err
		}
		pages := int64(0)
		if err := x.eachPartition(x.db, func(_ *Table, _, rows int64) error { pages += pagesOf(rows); return nil }); err != nil {
			return 1, err
		}
		return 0, x.SendRows([]Column{size("reserved"), size("data"), size("index_size"), size("unused")}, [][]value{{kb(pages), kb(pages), kb(0), kb(0)}})
	}
	db, t := x.tableNamed(a[0].Str())
	if t == nil || !x.visible(db, t.Object) {
		return 1, errNoHelp(x, a[0].Str())
	}
	rows := db.store.RowCount(t.ID)
	data, indexes := pagesOf(rows), int64(0)
	for _, ix := range t.Indexes {
		if !ix.Clustered {
			indexes += pagesOf(rows)
		}
	}
	count := strconv.FormatInt(rows, 10)
	count += strings.Repeat(" ", max(0, 20-len(count)))
	return 0, x.SendRows([]Column{col("name", vName), col("rows", sqltypes.Type{ID: sqltypes.Char, Length: 20, Collation: sqltypes.DefaultCollation}), size("reserved"), size("data"), size("index_size"), size("unused")},
		[][]value{{text(t.Name), text(count), kb(data + indexes), kb(data), kb(indexes), kb(0)}})
}
