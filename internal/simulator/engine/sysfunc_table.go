package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// systemTableFunction finds the engine's own table-valued functions: the dynamic
// management functions are those of sys, the others have no schema. What a
// function's columns are can depend on its arguments.
func (c *compiler) systemTableFunction(f *tsql.FuncCall) (*TableFunction, error) {
	name := fold(f.Name.Base())
	if !c.x.in.knowsFunction(strings.ToUpper(name)) {
		return nil, nil
	}
	switch schema := fold(f.Name.Schema()); {
	case name == "fn_listextendedproperty" && (schema == "" || schema == "sys"):
		return &listExtendedProperty, nil
	case schema == "sys" && name == "dm_exec_sql_text":
		return &sqlText, nil
	case len(f.Name.Parts) > 1:
		return nil, nil
	case name == "string_split":
		return c.stringSplit(f)
	case name == "generate_series" && len(f.Args) == 3:
		return &generateSteps, nil
	case name == "generate_series":
		return &generateSeries, nil
	}
	return nil, nil
}

// stringSplit is STRING_SPLIT; its third argument, a constant, came with SQL
// Server 2022 (MS docs: STRING_SPLIT).
func (c *compiler) stringSplit(f *tsql.FuncCall) (*TableFunction, error) {
	out := &TableFunction{
		Params:  []Param{{Name: "@string", Type: typeNVarMax}, {Name: "@separator", Type: typeNVarMax}},
		Columns: []Column{{Name: "value", Type: typeNVarMax, Nullable: true}},
	}
	var ordinal bool
	if len(f.Args) == 3 && c.x.in.AtLeast(Release2022) {
		lit, ok := f.Args[2].(*tsql.Literal)
		if !ok || lit.Kind != tsql.NullLiteral && lit.Text != "0" && lit.Text != "1" {
			return nil, unsupported("STRING_SPLIT with an enable_ordinal that is neither 0 nor 1 as a constant")
		}
		out.Params = append(out.Params, Param{Name: "@enable_ordinal", Type: typeBit})
		if ordinal = lit.Text == "1"; ordinal {
			out.Columns = append(out.Columns, Column{Name: "ordinal", Type: typeBigInt})
		}
	}
	out.Rows = func(_ *Exec, a []value, emit func([]value) error) error {
		if len([]rune(a[1].Str())) != 1 {
			return raise(214, "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.")
		}
		if a[0].IsNull() {
			return nil
		}
		for i, part := range strings.Split(a[0].Str(), a[1].Str()) {
			row := []value{text(part), integer(int64(i + 1))}
			if err := emit(row[:len(out.Columns)]); err != nil {
				return err
			}
		}
		return nil
	}
	return out, nil
}

// generateSeries is GENERATE_SERIES of two arguments, which counts up or down
// (MS docs: GENERATE_SERIES); generateSteps has a step.
var generateSeries = TableFunction{
	Params:  []Param{{Name: "@start", Type: typeBigInt}, {Name: "@stop", Type: typeBigInt}},
	Columns: []Column{{Name: "value", Type: typeBigInt}},
	Rows: func(x *Exec, a []value, emit func([]value) error) error {
		step := int64(1)
		if a[0].Int64() > a[1].Int64() {
			step = -1
		}
		return series(x, a[0], a[1], integer(step), emit)
	},
}

var generateSteps = TableFunction{
	Params:  append(generateSeries.Params[:2:2], Param{Name: "@step", Type: typeBigInt}),
	Columns: generateSeries.Columns,
	Rows: func(x *Exec, a []value, emit func([]value) error) error {
		if !a[2].IsNull() && a[2].Int64() == 0 {
			return sqltypes.Errorf(4199, 1, 16, "Argument value 0 is invalid for argument 3 of generate_series function.")
		}
		return series(x, a[0], a[1], a[2], emit)
	},
}

func series(x *Exec, start, stop, step value, emit func([]value) error) error {
	if start.IsNull() || stop.IsNull() || step.IsNull() {
		return nil
	}
	n, last, by := start.Int64(), stop.Int64(), step.Int64()
	for by > 0 && n <= last || by < 0 && n >= last {
		if err := emit([]value{integer(n)}); err != nil {
			return err
		}
		if err := x.ctx.Err(); err != nil {
			return err
		}
		next := n + by
		if (next > n) != (by > 0) { // past the ends of bigint
			return nil
		}
		n = next
	}
	return nil
}
