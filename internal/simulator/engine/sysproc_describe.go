package engine

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// The description of a batch's first result without running it (MS docs:
// sp_describe_first_result_set, sys.dm_exec_describe_first_result_set). The batch
// is walked as under SET FMTONLY, so that results of INSERT, UPDATE, DELETE and
// MERGE with OUTPUT are not found; information for browsing is refused.

const describedColumns = `is_hidden bit=0, column_ordinal int, name sysname?, is_nullable bit, system_type_id int, system_type_name nvarchar(256)?,
max_length smallint, precision tinyint, scale tinyint, collation_name sysname?, user_type_id int?, user_type_database sysname?, user_type_schema sysname?,
user_type_name sysname?, assembly_qualified_type_name nvarchar(4000)?, xml_collection_id int?, xml_collection_database sysname?, xml_collection_schema sysname?,
xml_collection_name sysname?, is_xml_document bit=0, is_case_sensitive bit, is_fixed_length_clr_type bit=0, source_server sysname?, source_database sysname?,
source_schema sysname?, source_table sysname?, source_column sysname?, is_identity_column bit?, is_part_of_unique_key bit?, is_updateable bit?,
is_computed_column bit?, is_sparse_column_set bit?=0, ordinal_in_order_by_list smallint?, order_by_list_length smallint?, order_by_is_descending smallint?`

const (
	describedWire   = describedColumns + `, tds_type_id int, tds_length int, tds_collation_id int?, tds_collation_sort_id tinyint?`
	describedErrors = describedColumns + `, error_number int?, error_severity int?, error_state int?, error_message nvarchar(4000)?, error_type int?,
error_type_desc nvarchar(60)?`
)

func (in *Instance) registerDescribeProcedures() {
	batch, params := Param{Name: "@tsql", Type: typeNVarMax}, nullParam(Param{Name: "@params", Type: typeNVarMax})
	mode := optional(Param{Name: "@browse_information_mode", Type: typeTinyInt}, integer(0))
	in.RegisterProcedure("sys", "sp_describe_first_result_set", Procedure{Params: []Param{batch, params, mode}, Run: describeFirstResult})
	in.RegisterProcedure("sys", "sp_help", Procedure{
		Params: []Param{nullParam(Param{Name: "@objname", Type: sqltypes.NVarCharOf(776)})},
		Run:    func(*Exec, []value) (int32, error) { return 1, unsupported("sp_help") },
	})
	functions := describeFunctions()
	in.RegisterTableFunction(func(_ *Database, schema, name string) (*TableFunction, bool) {
		f, ok := functions[fold(name)]
		return f, ok && fold(schema) == "sys"
	})
	in.RegisterProcedure("sys", "sp_describe_undeclared_parameters", Procedure{
		Params: []Param{batch, params},
		Run:    func(*Exec, []value) (int32, error) { return 1, unsupported("sp_describe_undeclared_parameters") },
	})
}

func describeFirstResult(x *Exec, a []value) (int32, error) {
	cols, err := x.firstResult(a[0], a[1], a[2])
	if err != nil {
		return 1, err
	}
	out, err := newRowBuilder("sp_describe_first_result_set", describedWire)
	if err != nil {
		return 1, err
	}
	for i := range cols {
		if err := out.add(describedColumn(i, &cols[i]), wireFields(&cols[i])); err != nil {
			return 1, err
		}
	}
	return 0, x.SendRows(out.columns, out.rows)
}

// firstResult gives the columns of the first result that a batch would send,
// none when it sends none.
func (x *Exec) firstResult(batch, params, browse value) ([]Column, error) {
	if browse.Int64() != 0 {
		return nil, unsupported("Information for browsing in the description of a result set")
	}
	if batch.IsNull() {
		return nil, nil
	}
	declared, err := x.declaredParams(params.Str())
	if err != nil {
		return nil, err
	}
	from := make([]int, len(declared))
	for i := range from {
		from[i] = -1
	}
	d := &describer{}
	y := *x
	y.sink, y.proc = d, ""
	y.throwAll()
	fmtOnly := x.s.fmtOnly
	x.s.fmtOnly = true
	defer func() { x.s.fmtOnly = fmtOnly }()
	err = y.nested(func() error { return y.runText(batch.Str(), nil, declared, make([]value, len(declared)), from, nil) })
	if d.columns != nil {
		return d.columns, nil
	}
	if se := asServerError(err); se != nil {
		return nil, se
	}
	return nil, err
}

// errDescribed ends the walk when the first result is known.
var errDescribed = errors.New("the first result is known")

// describer is a sink that wants the first result's columns only.
type describer struct{ columns []Column }

func (d *describer) Columns(cols []Column) error {
	d.columns = append([]Column{}, cols...)
	return errDescribed
}
func (*describer) Row([]value) error                                   { return nil }
func (*describer) Done(DoneInfo) error                                 { return nil }
func (*describer) Message(*Message) error                              { return nil }
func (*describer) EnvChange(EnvKind, []byte, []byte) error             { return nil }
func (*describer) ReturnStatus(int32) error                            { return nil }
func (*describer) ReturnValue(string, int, sqltypes.Type, value) error { return nil }

func describedColumn(i int, c *Column) fields {
	f := typeFields(c.Type, 0)
	delete(f, "user_type_id")
	f["column_ordinal"], f["is_nullable"], f["system_type_name"] = integer(int64(i+1)), boolean(c.Nullable), text(c.Type.String())
	f["name"] = textOrNull(c.Name)
	f["is_case_sensitive"] = boolean(c.CaseSensitive && c.Type.ID.IsText())
	f["is_identity_column"], f["is_updateable"], f["is_computed_column"] = boolean(c.Identity), boolean(c.Updatable), boolean(c.Computed)
	if c.Type.ID.IsText() && c.Type.Collation != nil && c.Type.ID != sqltypes.XML {
		f["collation_name"] = text(c.Type.Collation.Name)
	}
	return f
}

// nullableTokens are the wire types of columns that may be NULL, by the type that
// is never NULL (MS-TDS 2.2.5.4).
var nullableTokens = map[int64]int64{48: 38, 52: 38, 56: 38, 127: 38, 50: 104, 62: 109, 59: 109, 60: 110, 122: 110, 61: 111, 58: 111}

// wireFields say how a column travels (MS-TDS 2.2.5.4, 2.2.5.5).
func wireFields(c *Column) fields {
	token := systemTypeByID[c.Type.ID].SystemTypeID
	switch c.Type.ID {
	case sqltypes.Bit:
		token = 50
	case sqltypes.RowVersion:
		token = 173
	}
	if nullable, ok := nullableTokens[token]; ok && c.Nullable {
		token = nullable
	}
	length := int64(c.Type.MaxLength())
	switch {
	case c.Type.ID == sqltypes.XML:
		length = 8100
	case length < 0:
		length = 65535
	case c.Type.ID == sqltypes.Text || c.Type.ID == sqltypes.Image || c.Type.ID == sqltypes.NText:
		length = 2147483647
	}
	f := fields{"tds_type_id": integer(token), "tds_length": integer(length)}
	if c.Type.ID.IsText() && c.Type.Collation != nil && c.Type.ID != sqltypes.XML {
		wire := c.Type.Collation.Wire()
		f["tds_collation_id"] = integer(int64(int32(binary.LittleEndian.Uint32(wire[:4]))))
		f["tds_collation_sort_id"] = integer(int64(wire[4]))
	}
	return f
}

// rowBuilder collects rows whose columns are described as in sysviews_spec.txt.
type rowBuilder struct {
	*rowFiller
	columns []Column
	rows    [][]value
}

func newRowBuilder(name, description string) (*rowBuilder, error) {
	spec := &viewSpec{name: name}
	for _, part := range splitOutside(description) {
		if err := spec.add(part, nil); err != nil {
			return nil, err
		}
	}
	b := &rowBuilder{rowFiller: &rowFiller{name: name, slots: map[string]int{}, row: make([]value, len(spec.columns))}}
	for i, c := range spec.columns {
		b.slots[c.Name] = i
		b.initial = append(b.initial, c.initial)
		b.columns = append(b.columns, c.Column)
	}
	b.emit = func(row []value) error {
		b.rows = append(b.rows, append([]value(nil), row...))
		return nil
	}
	return b, nil
}

// describeFunctions are the functions that give the same as rows, errors too.
func describeFunctions() map[string]*TableFunction {
	shape, err := newRowBuilder("sys.dm_exec_describe_first_result_set", describedErrors)
	if err != nil {
		panic(err) // a mistake in the description above, which every test would meet
	}
	mode := Param{Name: "@browse_information_mode", Type: typeTinyInt}
	return map[string]*TableFunction{
		"dm_exec_describe_first_result_set": {
			Params: []Param{{Name: "@tsql", Type: typeNVarMax}, {Name: "@params", Type: typeNVarMax}, mode}, Columns: shape.columns,
			Rows: func(x *Exec, a []value, emit func([]value) error) error {
				return x.describedRows(a[0], a[1], a[2], emit)
			},
		},
		"dm_exec_describe_first_result_set_for_object": {
			Params: []Param{{Name: "@object_id", Type: typeInt}, mode}, Columns: shape.columns,
			Rows: func(x *Exec, a []value, emit func([]value) error) error {
				return x.describedObjectRows(a[0].Int64(), a[1], emit)
			},
		},
	}
}

// describedObjectRows describes a procedure's first result, as it is when all of
// its parameters are NULL.
func (x *Exec) describedObjectRows(id int64, browse value, emit rowEmitter) error {
	c := x.catalog(x.db)
	m := c.modules[id]
	if m == nil || m.Kind != KindProcedure {
		out, err := newRowBuilder("sys.dm_exec_describe_first_result_set_for_object", describedErrors)
		if err != nil {
			return err
		}
		out.emit = emit
		kind, name := int64(13), "OBJECT_DOES_NOT_EXIST"
		if _, ok := c.object(id); ok {
			kind, name = 12, "OBJECT_TYPE_NOT_SUPPORTED"
		}
		return out.add(fields{"column_ordinal": integer(0), "is_nullable": integer(1), "error_type": integer(kind), "error_type_desc": text(name)})
	}
	call := "EXEC " + bracketed(c.schemaName(m.SchemaID)) + "." + bracketed(m.Name)
	for i, p := range x.moduleParams(x.db, m) {
		if i > 0 {
			call += ","
		}
		call += " " + p.name + " = NULL"
	}
	return x.describedRows(text(call), value{}, browse, emit)
}

func bracketed(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// describedRows emits the description, or one row with the error.
func (x *Exec) describedRows(batch, params, browse value, emit rowEmitter) error {
	out, err := newRowBuilder("sys.dm_exec_describe_first_result_set", describedErrors)
	if err != nil {
		return err
	}
	out.emit = emit
	cols, err := x.firstResult(batch, params, browse)
	if se := asServerError(err); se != nil {
		kind, name := int64(1), "MISC"
		if se.Number == 102 || se.Number == 156 || se.Number == 105 {
			kind, name = 2, "SYNTAX"
		}
		return out.add(fields{
			"column_ordinal": integer(0), "is_nullable": integer(1), "error_number": integer(int64(se.Number)), "error_severity": integer(int64(se.Class)),
			"error_state": integer(int64(se.State)), "error_message": text(se.Message), "error_type": integer(kind), "error_type_desc": text(name),
		})
	}
	if err != nil {
		return err
	}
	for i := range cols {
		if err := out.add(describedColumn(i, &cols[i])); err != nil {
			return err
		}
	}
	return nil
}
