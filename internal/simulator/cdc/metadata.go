package cdc

import (
	"encoding/json"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Documents of a database that captures.
const (
	// capturedKey holds the LSN up to which the log has been captured.
	capturedKey = "cdc/captured"
	// droppedKey, with a change table's object id, holds the column_ids of
	// captured columns that the source has dropped. captured_columns keeps
	// listing them.
	droppedKey = "cdc/dropped/"
	// maskKey, with a change table's object id, is there when the net changes
	// function has no update masks.
	maskKey = "cdc/nomask/"
)

// capturedUpTo is how far the log has been captured; zero before the first scan.
func capturedUpTo(db *storage.Database) storage.LSN {
	var l storage.LSN
	doc, _ := db.Meta(capturedKey)
	copy(l[:], doc)
	return l
}

func droppedColumns(txn *storage.Txn, changeTable int64) ([]int, error) {
	doc, found := txn.Meta(droppedKey + fmt.Sprint(changeTable))
	if !found {
		return nil, nil
	}
	var ids []int
	if err := json.Unmarshal(doc, &ids); err != nil {
		return nil, fmt.Errorf("reading the dropped columns of change table %d: %w", changeTable, err)
	}
	return ids, nil
}

func saveDroppedColumns(txn *storage.Txn, changeTable int64, ids []int) error {
	doc, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return txn.PutMeta(droppedKey+fmt.Sprint(changeTable), doc)
}

// loadInstances reads the capture instances of the current database, by source
// table, oldest first.
func loadInstances(x *engine.Exec) (map[int64][]*instance, error) {
	tables, err := rows(x, `SELECT object_id, source_object_id, capture_instance, start_lsn FROM cdc.change_tables ORDER BY object_id`)
	if err != nil {
		return nil, err
	}
	bySource := map[int64][]*instance{}
	for _, r := range tables {
		in := &instance{name: r[2].Str(), table: r[0].Int64(), source: r[1].Int64()}
		in.startLSN, _ = lsnOf(r[3])
		if err := in.loadColumns(x); err != nil {
			return nil, err
		}
		bySource[in.source] = append(bySource[in.source], in)
	}
	return bySource, nil
}

func (in *instance) loadColumns(x *engine.Exec) error {
	changeTable := tableByID(x, in.table)
	if changeTable == nil {
		return fmt.Errorf("change table of %q is missing", in.name)
	}
	list, err := rows(x, `SELECT column_name, column_id, is_computed FROM cdc.captured_columns WHERE object_id = @id ORDER BY column_ordinal`, arg("id", in.table))
	if err != nil {
		return err
	}
	for i, r := range list {
		column := changeTable.Columns[ctFirstCaptured+i]
		in.columns = append(in.columns, captured{
			name: r[0].Str(), id: int(r[1].Int64()), slot: column.ID - 1, image: imageOf(column.Type, r[2].Bool()),
		})
	}
	in.width = changeTable.Width
	in.command = changeTable.Columns[ctFirstCaptured+len(list)].ID - 1
	in.full = fullMask(len(list))
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	dropped, err := droppedColumns(txn, in.table)
	for _, id := range dropped {
		in.drop(id)
	}
	return err
}

// changeTableName is the name of an instance's change table in schema cdc.
func changeTableName(instance string) string { return instance + "_CT" }

// typeText is a type as the change table declares it. rowversion would count
// by itself, so its values are kept as binary(8).
func typeText(t sqltypes.Type) string {
	if t.ID == sqltypes.RowVersion {
		return "binary(8)"
	}
	text := t.String()
	if t.ID.IsText() && t.Collation != nil {
		text += " COLLATE " + t.Collation.Name
	}
	return text
}
