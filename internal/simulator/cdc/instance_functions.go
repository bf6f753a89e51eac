package cdc

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// createFunctions enters the instance's range functions in the catalogue, where
// clients look for them. What they answer is in change_functions.go.
func (r *tableRequest) createFunctions(x *engine.Exec, changeTable int64) error {
	grantee := r.role
	if grantee == "" {
		grantee = "public"
	}
	kinds := []string{allChangesPrefix}
	if r.netChanges {
		kinds = append(kinds, netChangesPrefix)
		if err := r.noteMask(x, changeTable); err != nil {
			return err
		}
	}
	var columns strings.Builder
	for _, c := range r.columns {
		fmt.Fprintf(&columns, ", %s", quote(c.Name))
	}
	for _, prefix := range kinds {
		name := "cdc." + quote(prefix+r.instance)
		head := "[__$start_lsn], [__$seqval], [__$operation], [__$update_mask]"
		if prefix == netChangesPrefix {
			head = "[__$start_lsn], [__$operation], [__$update_mask]"
		}
		definition := fmt.Sprintf("CREATE FUNCTION %s (@from_lsn binary(10), @to_lsn binary(10), @row_filter_option nvarchar(30)) RETURNS TABLE AS\n"+
			"RETURN SELECT %s%s FROM cdc.%s WHERE [__$start_lsn] BETWEEN @from_lsn AND @to_lsn",
			name, head, columns.String(), quote(changeTableName(r.instance)))
		for _, sql := range []string{definition, "GRANT SELECT ON " + name + " TO " + quote(grantee)} {
			if err := run(x, sql); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteMask remembers and says that net changes will have no update mask: the
// function needs the CLR for it.
func (r *tableRequest) noteMask(x *engine.Exec, changeTable int64) error {
	if x.Instance().ServerSetting("clr enabled") != 0 {
		return nil
	}
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	if err := txn.PutMeta(maskKey+fmt.Sprint(changeTable), []byte("off")); err != nil {
		return err
	}
	return message(x, errNoMask(), "sp_cdc_enable_table_internal")
}

// dropFunctions removes the instance's functions from the catalogue.
func dropFunctions(x *engine.Exec, instance string) error {
	for _, prefix := range []string{allChangesPrefix, netChangesPrefix} {
		if err := run(x, "DROP FUNCTION IF EXISTS cdc."+quote(prefix+instance)); err != nil {
			return err
		}
	}
	return nil
}
