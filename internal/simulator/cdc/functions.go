package cdc

import (
	"math/big"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// registerFunctions adds the scalar functions of MS docs "Change Data Capture
// Functions".
func (a *Agent) registerFunctions() {
	lsn := engine.Param{Name: "@lsn", Type: lsnType}
	instance := engine.Param{Name: "@capture_instance", Type: sysname}
	columnName := engine.Param{Name: "@column_name", Type: sysname}
	mask := engine.Param{Name: "@update_mask", Type: sqltypes.VarBinaryOf(128)}
	position := engine.Param{Name: "@position", Type: intType}
	register := func(name string, returns sqltypes.Type, call func(x *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error), params ...engine.Param) {
		a.in.RegisterFunction("sys", name, engine.Function{Params: params, Returns: returns, Call: call})
	}
	register("fn_cdc_get_max_lsn", lsnType, maxLSN)
	register("fn_cdc_get_min_lsn", lsnType, minLSN, instance)
	register("fn_cdc_increment_lsn", lsnType, moveLSN(1), lsn)
	register("fn_cdc_decrement_lsn", lsnType, moveLSN(-1), lsn)
	register("fn_cdc_map_lsn_to_time", datetimeType, mapLSNToTime, lsn)
	register("fn_cdc_map_time_to_lsn", lsnType, mapTimeToLSN,
		engine.Param{Name: "@relational_operator", Type: sqltypes.NVarCharOf(30)}, engine.Param{Name: "@tracking_time", Type: datetimeType})
	register("fn_cdc_get_column_ordinal", intType, columnOrdinal, instance, columnName)
	register("fn_cdc_is_bit_set", bitType, isBitSetFunction, position, mask)
	register("fn_cdc_has_column_changed", bitType, hasColumnChanged, instance, columnName, mask)
}

// maxLSN is the newest entry of the mapping table, NULL while it is empty. A
// database that does not capture has no such table: error 208.
func maxLSN(x *engine.Exec, _ []sqltypes.Value) (sqltypes.Value, error) {
	mapping := tableNamed(x, "cdc", "lsn_time_mapping")
	if mapping == nil {
		return sqltypes.Null(), raise(208, "Invalid object name 'cdc.lsn_time_mapping'.")
	}
	txn, err := x.Txn()
	if err != nil {
		return sqltypes.Null(), err
	}
	it := txn.Scan(mapping.ID, storage.ClusteredIndex, storage.Range{}, storage.ScanOptions{Desc: true})
	defer it.Close()
	_, row, ok := it.Next()
	if !ok {
		return sqltypes.Null(), it.Err()
	}
	return row[mapping.Column("start_lsn").ID-1], nil
}

// noLSN is what fn_cdc_get_min_lsn answers for an unknown instance.
var noLSN = lsnValue(storage.LSN{})

// minLSN is an instance's low end. An instance enabled beside a running capture
// has none until the maximum reaches it; the first one of a fresh database
// answers at once (recorded on 2022 and 2025).
func minLSN(x *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
	if args[0].IsNull() || !captures(x) {
		return noLSN, nil
	}
	access, err := instanceAccess(x, args[0].Str())
	if err != nil || access != readable {
		return noLSN, err
	}
	row, err := one(x, `SELECT start_lsn FROM cdc.change_tables WHERE capture_instance = @instance`, arg("instance", args[0].Str()))
	if err != nil {
		return noLSN, err
	}
	newest, err := maxLSN(x, nil)
	if err != nil {
		return noLSN, err
	}
	if !newest.IsNull() && newest.Raw() < row[0].Raw() {
		return sqltypes.Null(), nil
	}
	return row[0], nil
}

// moveLSN adds to the LSN as one 80-bit number.
func moveLSN(by int64) func(*engine.Exec, []sqltypes.Value) (sqltypes.Value, error) {
	return func(_ *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
		if args[0].IsNull() {
			return sqltypes.Null(), nil
		}
		n := new(big.Int).SetBytes(args[0].Bytes())
		n.Add(n, big.NewInt(by))
		if n.Sign() < 0 || n.BitLen() > 8*storageLSNSize {
			return sqltypes.Null(), nil
		}
		return sqltypes.BytesOf(n.FillBytes(make([]byte, storageLSNSize))), nil
	}
}

// mapLSNToTime is the commit time of an entry, NULL for an LSN that is none.
func mapLSNToTime(x *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
	lsn, ok := lsnOf(args[0])
	if !ok {
		return sqltypes.Null(), nil
	}
	row, err := one(x, `SELECT tran_end_time FROM cdc.lsn_time_mapping WHERE start_lsn = @lsn`, arg("lsn", lsn))
	if err != nil || row == nil {
		return sqltypes.Null(), err
	}
	return row[0], nil
}

// timeRelation says which entry fn_cdc_map_time_to_lsn looks for.
type timeRelation struct{ aggregate, operator string }

var timeRelations = map[string]timeRelation{
	"largest less than":              {"MAX", "<"},
	"largest less than or equal":     {"MAX", "<="},
	"smallest greater than":          {"MIN", ">"},
	"smallest greater than or equal": {"MIN", ">="},
}

func mapTimeToLSN(x *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
	relation, ok := timeRelations[strings.ToLower(strings.TrimSpace(args[0].Str()))]
	if !ok || args[1].IsNull() {
		return sqltypes.Null(), nil
	}
	return mapTime(x, relation, args[1])
}

func mapTime(x *engine.Exec, relation timeRelation, at sqltypes.Value) (sqltypes.Value, error) {
	row, err := one(x, "SELECT "+relation.aggregate+"(start_lsn) FROM cdc.lsn_time_mapping WHERE tran_end_time "+relation.operator+" @time",
		arg("time", typed{datetimeType, at}))
	if err != nil || row == nil {
		return sqltypes.Null(), err
	}
	return row[0], nil
}

// columnOrdinal is sys.fn_cdc_get_column_ordinal, NULL for who may not read the
// instance.
func columnOrdinal(x *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
	if args[0].IsNull() || args[1].IsNull() {
		return sqltypes.Null(), nil
	}
	access, err := instanceAccess(x, args[0].Str())
	if err != nil || access != readable {
		return sqltypes.Null(), err
	}
	row, err := one(x, `SELECT c.column_ordinal FROM cdc.captured_columns AS c JOIN cdc.change_tables AS t ON t.object_id = c.object_id
WHERE t.capture_instance = @instance AND c.column_name = @column`, arg("instance", args[0].Str()), arg("column", args[1].Str()))
	if err != nil || row == nil {
		return sqltypes.Null(), err
	}
	return row[0], nil
}

func isBitSetFunction(_ *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
	if args[0].IsNull() || args[1].IsNull() {
		return sqltypes.Null(), nil
	}
	return sqltypes.BoolOf(isBitSet(args[1].Raw(), args[0].Int64())), nil
}

func hasColumnChanged(x *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
	ordinal, err := columnOrdinal(x, args)
	if err != nil {
		return ordinal, err
	}
	return isBitSetFunction(x, []sqltypes.Value{ordinal, args[2]})
}
