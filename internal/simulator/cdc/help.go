package cdc

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func (a *Agent) registerHelpProcedures() {
	null := sqltypes.Null()
	a.in.RegisterProcedure("sys", "sp_cdc_help_change_data_capture", engine.Procedure{
		Params: []engine.Param{{Name: "@source_schema", Type: sysname, Default: &null}, {Name: "@source_name", Type: sysname, Default: &null}},
		Run:    answer(helpChangeDataCapture),
	})
	instance := []engine.Param{{Name: "@capture_instance", Type: sysname}}
	a.in.RegisterProcedure("sys", "sp_cdc_get_captured_columns", engine.Procedure{Params: instance, Run: answer(getCapturedColumns)})
	a.in.RegisterProcedure("sys", "sp_cdc_get_ddl_history", engine.Procedure{Params: instance, Run: answer(getDDLHistory)})
}

// answer is a procedure that needs a database that captures and sends rows.
func answer(run func(x *engine.Exec, args []sqltypes.Value) error) func(*engine.Exec, []sqltypes.Value) (int32, error) {
	return func(x *engine.Exec, args []sqltypes.Value) (int32, error) {
		if err := requireEnabled(x); err != nil {
			return 1, err
		}
		if err := run(x, args); err != nil {
			return 1, err
		}
		return 0, nil
	}
}

// instanceHead is what all three procedures show first.
var instanceHead = []engine.Column{column("source_schema", sysname), column("source_table", sysname), column("capture_instance", sysname)}

const instanceHeadSQL = `OBJECT_SCHEMA_NAME(t.source_object_id), OBJECT_NAME(t.source_object_id), t.capture_instance`

// helpChangeDataCapture is sys.sp_cdc_help_change_data_capture (MS docs): the
// instances of one table or of all, as far as the caller may read them.
func helpChangeDataCapture(x *engine.Exec, args []sqltypes.Value) error {
	schema, name := textOrEmpty(args[0]), textOrEmpty(args[1])
	if (schema == "") != (name == "") {
		return errBothOrNone()
	}
	where := ""
	var parameters []engine.Arg
	if name != "" {
		source := tableNamed(x, schema, name)
		if source == nil {
			return errNoSourceTable(schema, name)
		}
		if !source.TrackedByCDC {
			return errTableNotEnabled(schema, name)
		}
		where, parameters = "WHERE t.source_object_id = @source ", []engine.Arg{arg("source", source.ID)}
	}
	list, err := rows(x, `SELECT `+instanceHeadSQL+`, t.object_id, t.source_object_id, t.start_lsn, t.end_lsn, t.supports_net_changes,
	t.has_drop_pending, t.role_name, t.index_name, t.filegroup_name, t.create_date
FROM cdc.change_tables AS t `+where+`ORDER BY t.object_id`, parameters...)
	if err != nil {
		return err
	}
	var shown [][]sqltypes.Value
	for _, r := range list {
		access, err := accessTo(x, r[4].Int64(), r[3].Int64(), r[9])
		if err != nil {
			return err
		}
		if access != readable {
			continue
		}
		keys, err := nameList(x, "cdc.index_columns", "index_ordinal", r[3])
		if err != nil {
			return err
		}
		columns, err := nameList(x, "cdc.captured_columns", "column_ordinal", r[3])
		if err != nil {
			return err
		}
		shown = append(shown, append(r, keys, columns))
	}
	return x.SendRows(append(instanceHead[:3:3],
		column("object_id", intType), column("source_object_id", intType), column("start_lsn", lsnType), column("end_lsn", lsnType),
		column("supports_net_changes", bitType), column("has_drop_pending", bitType), column("role_name", sysname), column("index_name", sysname),
		column("filegroup_name", sysname), column("create_date", datetimeType), column("index_column_list", textType), column("captured_column_list", textType),
	), shown)
}

// nameList is the quoted names of an instance's columns: [id], [v].
func nameList(x *engine.Exec, table, order string, object sqltypes.Value) (sqltypes.Value, error) {
	list, err := rows(x, "SELECT column_name FROM "+table+" WHERE object_id = @object ORDER BY "+order, arg("object", object.Int64()))
	if err != nil || len(list) == 0 {
		return sqltypes.Null(), err
	}
	var names []string
	for _, r := range list {
		names = append(names, quote(r[0].Str()))
	}
	return sqltypes.StringOf(strings.Join(names, ", ")), nil
}

// readableInstance finds an instance that the caller may read; it returns the
// id of its change table.
func readableInstance(x *engine.Exec, name sqltypes.Value) (int64, error) {
	row, err := one(x, `SELECT object_id, source_object_id, role_name FROM cdc.change_tables WHERE capture_instance = @instance`, arg("instance", name.Str()))
	if err != nil {
		return 0, err
	}
	if row == nil {
		return 0, errNoAccess()
	}
	access, err := accessTo(x, row[1].Int64(), row[0].Int64(), row[2])
	if err != nil {
		return 0, err
	}
	if access != readable {
		return 0, errNoAccess()
	}
	return row[0].Int64(), nil
}

// getCapturedColumns is sys.sp_cdc_get_captured_columns.
func getCapturedColumns(x *engine.Exec, args []sqltypes.Value) error {
	object, err := readableInstance(x, args[0])
	if err != nil {
		return err
	}
	list, err := rows(x, `SELECT `+instanceHeadSQL+`, c.column_name, c.column_id, c.column_ordinal, c.column_type
FROM cdc.change_tables AS t JOIN cdc.captured_columns AS c ON c.object_id = t.object_id WHERE t.object_id = @object ORDER BY c.column_ordinal`, arg("object", object))
	if err != nil {
		return err
	}
	columns := capturedColumns(tableByID(x, object))
	for i, r := range list {
		list[i] = append(r, typeFacts(columns[i].Type)...)
	}
	return x.SendRows(append(instanceHead[:3:3],
		column("column_name", sysname), column("column_id", intType), column("column_ordinal", intType), column("data_type", sysname),
		column("character_maximum_length", intType), column("numeric_precision", tinyintType), column("numeric_precision_radix", smallintType),
		column("numeric_scale", intType), column("datetime_precision", smallintType)), list)
}

// typeFacts are a type's length, precision, radix, scale and fractional
// seconds, as in INFORMATION_SCHEMA.COLUMNS.
func typeFacts(t sqltypes.Type) []sqltypes.Value {
	facts := make([]sqltypes.Value, 5)
	number := func(precision, radix int64) {
		facts[1], facts[2] = sqltypes.IntOf(precision), sqltypes.IntOf(radix)
	}
	switch {
	case t.ID == sqltypes.Text || t.ID == sqltypes.Image:
		facts[0] = sqltypes.IntOf(2147483647)
	case t.ID == sqltypes.NText:
		facts[0] = sqltypes.IntOf(1073741823)
	case t.ID == sqltypes.XML:
		facts[0] = sqltypes.IntOf(sqltypes.Max)
	case t.ID.IsText() || t.ID.IsBinary():
		facts[0] = sqltypes.IntOf(int64(t.Length))
	case t.ID.IsDecimal() || t.ID.IsMoney():
		number(int64(t.Precision), 10)
		facts[3] = sqltypes.IntOf(int64(t.Scale))
	case t.ID.IsFloat():
		number(int64(t.Precision), 2)
	case t.ID.IsInteger() && t.ID != sqltypes.Bit:
		number(map[sqltypes.ID]int64{sqltypes.TinyInt: 3, sqltypes.SmallInt: 5, sqltypes.Int: 10, sqltypes.BigInt: 19}[t.ID], 10)
		facts[3] = sqltypes.IntOf(0)
	case t.ID.IsTemporal():
		facts[4] = sqltypes.IntOf(int64(t.Scale))
	}
	return facts
}

// getDDLHistory is sys.sp_cdc_get_ddl_history.
func getDDLHistory(x *engine.Exec, args []sqltypes.Value) error {
	object, err := readableInstance(x, args[0])
	if err != nil {
		return err
	}
	list, err := rows(x, `SELECT `+instanceHeadSQL+`, h.required_column_update, h.ddl_command, h.ddl_lsn, h.ddl_time
FROM cdc.change_tables AS t JOIN cdc.ddl_history AS h ON h.object_id = t.object_id WHERE t.object_id = @object ORDER BY h.ddl_lsn`, arg("object", object))
	if err != nil {
		return err
	}
	return x.SendRows(append(instanceHead[:3:3],
		column("required_column_update", bitType), column("ddl_command", textType), column("ddl_lsn", lsnType), column("ddl_time", datetimeType)), list)
}
