package cdc

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// createChangeTable makes cdc.<instance>_CT with its indexes and returns its
// object id.
func (r *tableRequest) createChangeTable(x *engine.Exec) (int64, error) {
	name := changeTableName(r.instance)
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE cdc.%s ([__$start_lsn] binary(10) NOT NULL, [__$end_lsn] binary(10) NULL, [__$seqval] binary(10) NOT NULL, "+
		"[__$operation] int NOT NULL, [__$update_mask] varbinary(128) NULL", quote(name))
	for _, c := range r.columns {
		fmt.Fprintf(&b, ", %s %s NULL", quote(c.Name), typeText(c.Type))
	}
	b.WriteString(", [__$command_id] int NULL)")
	order := "[__$start_lsn], [__$command_id], [__$seqval], [__$operation]"
	statements := []string{
		b.String(),
		fmt.Sprintf("CREATE UNIQUE CLUSTERED INDEX %s ON cdc.%s (%s)", quote(name+"_clustered_idx"), quote(name), order),
	}
	if r.netChanges {
		var keys []string
		for _, key := range r.index.Keys {
			keys = append(keys, quote(r.source.ColumnByID(key.ColumnID).Name))
		}
		statements = append(statements, fmt.Sprintf("CREATE INDEX %s ON cdc.%s (%s, %s)", quote(name+"_idx"), quote(name), strings.Join(keys, ", "), order))
	}
	for _, sql := range statements {
		if err := run(x, sql); err != nil {
			return 0, err
		}
	}
	id := tableNamed(x, "cdc", name).ID
	return id, markShipped(x, id)
}
