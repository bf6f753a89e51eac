package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// registerHelpText adds sp_helptext, which gives a module's text line by line.
func (in *Instance) registerHelpText() {
	in.RegisterProcedure("sys", "sp_helptext", Procedure{
		Params: []Param{{Name: "@objname", Type: sqltypes.NVarCharOf(776)}, optional(sysname("@columnname"), value{})},
		Run: func(x *Exec, a []value) (int32, error) {
			id, err := objectID(x, a[:1])
			if err != nil {
				return 1, err
			}
			c := x.catalog(x.db)
			m := c.modules[id.Int64()]
			switch {
			case id.IsNull():
				return 1, sqltypes.Errorf(15009, 1, 16, "The object '%s' does not exist in database '%s' or is invalid for this operation.", a[0].Str(), x.db.Name())
			case m == nil:
				return 1, sqltypes.Errorf(15197, 1, 16, "There is no text for object '%s'.", a[0].Str())
			}
			var rows [][]value
			for _, line := range strings.SplitAfter(m.Text, "\n") {
				if line != "" {
					rows = append(rows, []value{text(line)})
				}
			}
			return 0, x.SendRows([]Column{{Name: "Text", Type: sqltypes.NVarCharOf(255), Nullable: true}}, rows)
		},
	})
}
