package cdc

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

const (
	allChangesPrefix = "fn_cdc_get_all_changes_"
	netChangesPrefix = "fn_cdc_get_net_changes_"
)

// rangeParams are the parameters of both range functions.
var rangeParams = []engine.Param{
	{Name: "@from_lsn", Type: lsnType}, {Name: "@to_lsn", Type: lsnType}, {Name: "@row_filter_option", Type: sqltypes.NVarCharOf(30)},
}

// registerChangeFunctions adds cdc.fn_cdc_get_all_changes_<instance> and, where
// the instance supports it, fn_cdc_get_net_changes_<instance>.
func (a *Agent) registerChangeFunctions() {
	a.in.RegisterTableFunction(func(db *engine.Database, schema, name string) (*engine.TableFunction, bool) {
		if !strings.EqualFold(schema, "cdc") {
			return nil, false
		}
		if instance, ok := cutPrefixFold(name, allChangesPrefix); ok {
			return allChangesFunction(db, instance)
		}
		if instance, ok := cutPrefixFold(name, netChangesPrefix); ok {
			return netChangesFunction(db, instance)
		}
		return nil, false
	})
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// allChangesFunction answers the change rows of a range without __$end_lsn and
// __$command_id.
func allChangesFunction(db *engine.Database, instance string) (*engine.TableFunction, bool) {
	table := db.TableNamed("cdc", changeTableName(instance))
	if table == nil {
		return nil, false
	}
	shown := []*engine.TableColumn{table.Columns[ctStartLSN], table.Columns[ctSeqVal], table.Columns[ctOperation], table.Columns[ctUpdateMask]}
	shown = append(shown, capturedColumns(table)...)
	return &engine.TableFunction{
		Params: rangeParams, Columns: describe(shown),
		Rows: func(x *engine.Exec, args []sqltypes.Value, emit func([]sqltypes.Value) error) error {
			if err := checkRange(x, instance, "all", args, "all", "all update old"); err != nil {
				return err
			}
			withBefore := filterOption(args[2]) == "all update old"
			out := make([]sqltypes.Value, len(shown))
			return scanRange(x, table, args, func(row storage.Row) error {
				if row[ctOperation].Int64() == opUpdateBefore && !withBefore {
					return nil
				}
				for i, c := range shown {
					out[i] = row[c.ID-1]
				}
				return emit(out)
			})
		},
	}, true
}

// capturedColumns are the columns between the update mask and the command id.
func capturedColumns(changeTable *engine.Table) []*engine.TableColumn {
	return changeTable.Columns[ctFirstCaptured : len(changeTable.Columns)-1]
}

func describe(columns []*engine.TableColumn) []engine.Column {
	list := make([]engine.Column, len(columns))
	for i, c := range columns {
		list[i] = engine.Column{Name: c.Name, Type: c.Type, Nullable: true}
	}
	return list
}

func filterOption(v sqltypes.Value) string { return strings.ToLower(strings.TrimSpace(v.Str())) }

// checkRange refuses what the real functions refuse: a reader outside the gating
// role with error 313, one who may not read the source with 229 (MS docs:
// cdc.fn_cdc_get_all_changes_<capture_instance>), and with 313 an unknown option,
// NULL, an empty range, or one that leaves the instance's interval.
func checkRange(x *engine.Exec, instance, kind string, args []sqltypes.Value, options ...string) error {
	switch access, err := instanceAccess(x, instance); {
	case err != nil:
		return err
	case access == outsideRole:
		return errRange(kind)
	case access == sourceDenied:
		return errSourceDenied(kind, x.Database().Name())
	}
	if !containsFold(options, filterOption(args[2])) || args[0].IsNull() || args[1].IsNull() || args[0].Raw() > args[1].Raw() {
		return errRange(kind)
	}
	low, err := minLSN(x, []sqltypes.Value{sqltypes.StringOf(instance)})
	if err != nil {
		return err
	}
	high, err := maxLSN(x, nil)
	if err != nil {
		return err
	}
	if low.IsNull() || low == noLSN || high.IsNull() || args[0].Raw() < low.Raw() || args[1].Raw() > high.Raw() {
		return errRange(kind)
	}
	return nil
}

// scanRange calls f with the change rows of an inclusive range in the order of
// the clustered index, reading as the real functions do: without locks.
func scanRange(x *engine.Exec, table *engine.Table, args []sqltypes.Value, f func(storage.Row) error) error {
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	it := txn.Scan(table.ID, storage.ClusteredIndex,
		storage.Range{Low: args[:1], High: args[1:2], LowInclusive: true, HighInclusive: true},
		storage.ScanOptions{NoLock: txn.Isolation() != storage.Snapshot})
	defer it.Close()
	for {
		_, row, ok := it.Next()
		if !ok {
			return it.Err()
		}
		if err := f(row); err != nil {
			return err
		}
	}
}
