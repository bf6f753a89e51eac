package engine

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var planFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.dm_exec_cached_plans": cachedPlanRows,
	"sys.dm_exec_query_stats":  queryStatRows,
}

func cachedPlanRows(x *Exec, _ *Database, out *rowFiller) error {
	if err := x.NeedServerState(); err != nil {
		return err
	}
	for _, p := range x.in.planCache.list() {
		if err := out.add(fields{"usecounts": integer(p.uses), "objtype": text(p.kind), "plan_handle": sqltypes.BytesOf(p.planHandle())}); err != nil {
			return err
		}
	}
	return nil
}

func queryStatRows(x *Exec, _ *Database, out *rowFiller) error {
	if err := x.NeedServerState(); err != nil {
		return err
	}
	for _, p := range x.in.planCache.list() {
		handles := fields{"sql_handle": sqltypes.BytesOf(p.sqlHandle()), "plan_handle": sqltypes.BytesOf(p.planHandle())}
		for _, at := range slices.Sorted(maps.Keys(p.stats)) {
			st := p.stats[at]
			hash := sqltypes.BytesOf(binary.BigEndian.AppendUint64(nil, st.hash))
			row := fields{
				"statement_start_offset": integer(int64(st.start)), "statement_end_offset": integer(int64(st.end)), "creation_time": x.dateTime(st.created),
				"last_execution_time": x.dateTime(st.last), "execution_count": integer(st.executions), "query_hash": hash, "query_plan_hash": hash,
			}
			for name, t := range map[string]tally{"rows": st.rows, "elapsed_time": st.elapsed, "worker_time": st.elapsed} {
				row["total_"+name], row["last_"+name] = integer(t.total), integer(t.last)
				row["min_"+name], row["max_"+name] = integer(t.least), integer(t.most)
			}
			if err := out.add(handles, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// sqlText is sys.dm_exec_sql_text(handle), of a sql_handle or plan_handle (MS
// docs).
var sqlText = TableFunction{
	Params: []Param{{Name: "@handle", Type: sqltypes.VarBinaryOf(64)}},
	Columns: []Column{
		col("dbid", typeSmallInt), col("objectid", typeInt), col("number", typeSmallInt), {Name: "encrypted", Type: typeBit}, col("text", catalogText(typeNVarMax)),
	},
	Rows: func(x *Exec, a []value, emit func([]value) error) error {
		if err := x.NeedServerState(); err != nil {
			return err
		}
		if a[0].IsNull() {
			return nil
		}
		p := x.in.planCache.find(a[0].Bytes())
		if p == nil {
			return nil
		}
		row := []value{{}, {}, {}, integer(0), text(p.text)}
		if p.object != 0 {
			row[0], row[1], row[2] = integer(int64(p.db)), integer(p.object), integer(1)
		}
		return emit(row)
	},
}
