package cdc

import (
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// opMerge is the operation of 'all with merge': insert or update, whichever
// the target needs.
const opMerge = 5

// netChangesFunction answers one row for each key that a range changed.
func netChangesFunction(db *engine.Database, instance string) (*engine.TableFunction, bool) {
	table := db.TableNamed("cdc", changeTableName(instance))
	if table == nil {
		return nil, false
	}
	index := table.Index(changeTableName(instance) + "_idx")
	if index == nil { // the instance does not support net changes
		return nil, false
	}
	_, off := db.Storage().Meta(maskKey + fmt.Sprint(table.ID))
	n := netChanges{table: table, masked: !off}
	for _, k := range index.Keys[:len(index.Keys)-4] {
		n.keys = append(n.keys, table.ColumnByID(k.ColumnID))
	}
	n.shown = []*engine.TableColumn{table.Columns[ctStartLSN], table.Columns[ctOperation], table.Columns[ctUpdateMask]}
	n.shown = append(n.shown, capturedColumns(table)...)
	return &engine.TableFunction{
		Params: rangeParams, Columns: describe(n.shown),
		Rows: func(x *engine.Exec, args []sqltypes.Value, emit func([]sqltypes.Value) error) error {
			if err := checkRange(x, instance, "net", args, "all", "all with mask", "all with merge"); err != nil {
				return err
			}
			return n.rows(x, args, emit)
		},
	}, true
}

// netChanges folds the changes of each key into one.
type netChanges struct {
	table *engine.Table
	// masked is false when the server had the CLR off as the function was made:
	// update masks are NULL then.
	masked      bool
	keys, shown []*engine.TableColumn
}

func (n *netChanges) rows(x *engine.Exec, args []sqltypes.Value, emit func([]sqltypes.Value) error) error {
	var changes []storage.Row
	err := scanRange(x, n.table, args, func(row storage.Row) error {
		changes = append(changes, row)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(changes, n.compareKeys)
	for first := 0; first < len(changes); {
		last := first + 1
		for last < len(changes) && n.compareKeys(changes[first], changes[last]) == 0 {
			last++
		}
		if row := n.fold(changes[first:last], filterOption(args[2])); row != nil {
			if err := emit(row); err != nil {
				return err
			}
		}
		first = last
	}
	return nil
}

func (n *netChanges) compareKeys(a, b storage.Row) int {
	for _, k := range n.keys {
		if c := sqltypes.Compare(a[k.ID-1], b[k.ID-1], k.Type); c != 0 {
			return c
		}
	}
	return 0
}

// fold makes one row of a key's changes, nil when they cancel out: a row that
// was not there before and is not there after. Deleting a row and inserting it
// again is an update.
func (n *netChanges) fold(changes []storage.Row, option string) []sqltypes.Value {
	last := changes[len(changes)-1]
	existed := changes[0][ctOperation].Int64() != opInsert
	exists := last[ctOperation].Int64() != opDelete
	op := int64(opInsert)
	switch {
	case !existed && !exists:
		return nil
	case !exists:
		op = opDelete
	case option == "all with merge":
		op = opMerge
	case existed:
		op = opUpdateAfter
	}
	out := make([]sqltypes.Value, len(n.shown))
	for i, c := range n.shown {
		out[i] = last[c.ID-1]
	}
	out[1], out[2] = sqltypes.IntOf(op), sqltypes.Null()
	if n.masked && option == "all with mask" && op == opUpdateAfter {
		out[2] = joinMasks(changes)
	}
	return out
}

// joinMasks is every bit that any of the changes set.
func joinMasks(changes []storage.Row) sqltypes.Value {
	all := changes[0][ctUpdateMask].Bytes()
	for _, c := range changes[1:] {
		for i, b := range c[ctUpdateMask].Bytes() {
			if i < len(all) {
				all[i] |= b
			}
		}
	}
	return sqltypes.BytesOf(all)
}
