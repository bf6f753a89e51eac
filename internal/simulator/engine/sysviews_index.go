package engine

var indexFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.indexes":                 indexRows,
	"sys.index_columns":           indexColumnRows,
	"sys.key_constraints":         keyConstraintRows,
	"sys.foreign_keys":            foreignKeyRows,
	"sys.foreign_key_columns":     foreignKeyColumnRows,
	"sys.partitions":              partitionRows,
	"sys.allocation_units":        allocationRows,
	"sys.dm_db_partition_stats":   partitionStatRows,
	"sys.dm_db_index_usage_stats": indexUsageRows,
	"sys.stats":                   statRows,
	"sys.stats_columns":           statColumnRows,
}

// eachTable calls f with every table that the session sees.
func (x *Exec) eachTable(db *Database, f func(t *Table) error) error {
	for _, t := range x.catalog(db).sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

// eachIndex calls f with every index of every table that the session sees.
func (x *Exec) eachIndex(db *Database, f func(t *Table, ix *Index) error) error {
	return x.eachTable(db, func(t *Table) error {
		for _, ix := range t.Indexes {
			if err := f(t, ix); err != nil {
				return err
			}
		}
		return nil
	})
}

func indexRows(x *Exec, db *Database, out *rowFiller) error {
	no := boolean(false)
	return x.eachTable(db, func(t *Table) error {
		if t.Clustered() == nil {
			if err := out.add(fields{
				"object_id": integer(t.ID), "index_id": integer(0), "type": integer(0), "type_desc": text("HEAP"), "is_unique": no,
				"ignore_dup_key": no, "is_primary_key": no, "is_unique_constraint": no, "is_disabled": no,
			}); err != nil {
				return err
			}
		}
		for _, ix := range t.Indexes {
			kind, desc := int64(2), "NONCLUSTERED"
			if ix.Clustered {
				kind, desc = 1, "CLUSTERED"
			}
			if err := out.add(fields{
				"object_id": integer(t.ID), "name": text(ix.Name), "index_id": integer(int64(ix.ID)), "type": integer(kind), "type_desc": text(desc),
				"is_unique": boolean(ix.Unique), "ignore_dup_key": boolean(ix.IgnoreDupKey), "is_primary_key": boolean(ix.Constraint == KindPrimaryKey),
				"is_unique_constraint": boolean(ix.Constraint == KindUnique), "is_disabled": no, "has_filter": boolean(ix.Filter != ""),
				"filter_definition": textOrNull(ix.Filter),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func indexColumnRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachIndex(db, func(t *Table, ix *Index) error {
		n := int64(0)
		add := func(column int, ordinal int64, descending, included bool) error {
			n++
			return out.add(fields{
				"object_id": integer(t.ID), "index_id": integer(int64(ix.ID)), "index_column_id": integer(n), "column_id": integer(int64(column)),
				"key_ordinal": integer(ordinal), "is_descending_key": boolean(descending), "is_included_column": boolean(included),
			})
		}
		for i, k := range ix.Keys {
			if err := add(k.ColumnID, int64(i+1), k.Desc, false); err != nil {
				return err
			}
		}
		for _, id := range ix.Included {
			if err := add(id, 0, false, true); err != nil {
				return err
			}
		}
		return nil
	})
}

func keyConstraintRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	return x.eachIndex(db, func(t *Table, ix *Index) error {
		if ix.ConstraintID == 0 {
			return nil
		}
		o, _ := c.object(ix.ConstraintID)
		return out.add(x.objectFields(o, t.ID), fields{"unique_index_id": integer(int64(ix.ID)), "is_system_named": boolean(ix.SystemNamed)})
	})
}

func foreignKeyRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	return x.eachTable(db, func(t *Table) error {
		for _, fk := range t.ForeignKeys {
			o, _ := c.object(fk.ID)
			d, dd := referential(fk.OnDelete)
			u, ud := referential(fk.OnUpdate)
			key := value{}
			if ix := c.referencedIndex(fk); ix != nil {
				key = integer(int64(ix.ID))
			}
			if err := out.add(x.objectFields(o, t.ID), fields{
				"referenced_object_id": integer(fk.RefTable), "key_index_id": key, "is_disabled": boolean(fk.Disabled), "is_not_trusted": boolean(fk.Disabled),
				"delete_referential_action": d, "delete_referential_action_desc": dd, "update_referential_action": u, "update_referential_action_desc": ud,
				"is_system_named": boolean(fk.SystemNamed),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// referencedIndex is the unique index that a foreign key points to, nil when
// the table is gone.
func (c *Catalog) referencedIndex(fk *ForeignKey) *Index {
	t := c.tables[fk.RefTable]
	if t == nil {
		return nil
	}
	for _, ix := range t.Indexes {
		if !ix.Unique || len(ix.Keys) != len(fk.RefColumns) {
			continue
		}
		matches := 0
		for _, k := range ix.Keys {
			for _, id := range fk.RefColumns {
				if id == k.ColumnID {
					matches++
				}
			}
		}
		if matches == len(ix.Keys) {
			return ix
		}
	}
	return nil
}

func foreignKeyColumnRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachTable(db, func(t *Table) error {
		for _, fk := range t.ForeignKeys {
			for i := range fk.Columns {
				if err := out.add(fields{
					"constraint_object_id": integer(fk.ID), "constraint_column_id": integer(int64(i + 1)), "parent_object_id": integer(t.ID),
					"parent_column_id": integer(int64(fk.Columns[i])), "referenced_object_id": integer(fk.RefTable),
					"referenced_column_id": integer(int64(fk.RefColumns[i])),
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// partitionBase is where the ids of partitions and allocation units begin.
const partitionBase = int64(1) << 56

func partitionID(t *Table, index int64) int64 { return partitionBase + t.ID<<8 | index }

// rowsPerPage stands for the size of rows: pages are counted, not filled.
const rowsPerPage = 100

func pagesOf(rows int64) int64 {
	if rows == 0 {
		return 0
	}
	return rows/rowsPerPage + 1
}

// eachPartition calls f with the heap or the indexes of every visible table:
// each is one partition.
func (x *Exec) eachPartition(db *Database, f func(t *Table, index, rows int64) error) error {
	return x.eachTable(db, func(t *Table) error {
		rows := db.store.RowCount(t.ID)
		if t.Clustered() == nil {
			if err := f(t, 0, rows); err != nil {
				return err
			}
		}
		for _, ix := range t.Indexes {
			if err := f(t, int64(ix.ID), rows); err != nil {
				return err
			}
		}
		return nil
	})
}

func partitionRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachPartition(db, func(t *Table, index, rows int64) error {
		id := integer(partitionID(t, index))
		return out.add(fields{"partition_id": id, "object_id": integer(t.ID), "index_id": integer(index), "hobt_id": id, "rows": integer(rows)})
	})
}

func allocationRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachPartition(db, func(t *Table, index, rows int64) error {
		id := partitionID(t, index)
		pages := pagesOf(rows)
		if err := out.add(fields{
			"allocation_unit_id": integer(id), "type": integer(1), "type_desc": text("IN_ROW_DATA"), "container_id": integer(id),
			"total_pages": integer(pages), "used_pages": integer(pages), "data_pages": integer(pages),
		}); err != nil {
			return err
		}
		if index > 1 || !t.hasLargeColumns() {
			return nil
		}
		return out.add(fields{
			"allocation_unit_id": integer(id + 1<<55), "type": integer(2), "type_desc": text("LOB_DATA"), "container_id": integer(id),
			"total_pages": integer(0), "used_pages": integer(0), "data_pages": integer(0),
		})
	})
}

func partitionStatRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachPartition(db, func(t *Table, index, rows int64) error {
		pages := integer(pagesOf(rows))
		return out.add(fields{
			"partition_id": integer(partitionID(t, index)), "object_id": integer(t.ID), "index_id": integer(index), "in_row_data_page_count": pages,
			"in_row_used_page_count": pages, "in_row_reserved_page_count": pages, "used_page_count": pages, "reserved_page_count": pages, "row_count": integer(rows),
		})
	})
}

// statRows are the statistics of the indexes: none are made of themselves.
func statRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachIndex(db, func(t *Table, ix *Index) error {
		return out.add(fields{
			"object_id": integer(t.ID), "name": text(ix.Name), "stats_id": integer(int64(ix.ID)), "has_filter": boolean(ix.Filter != ""),
			"filter_definition": textOrNull(ix.Filter),
		})
	})
}

func statColumnRows(x *Exec, db *Database, out *rowFiller) error {
	return x.eachIndex(db, func(t *Table, ix *Index) error {
		for i, k := range ix.Keys {
			if err := out.add(fields{
				"object_id": integer(t.ID), "stats_id": integer(int64(ix.ID)), "stats_column_id": integer(int64(i + 1)), "column_id": integer(int64(k.ColumnID)),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func referential(action string) (value, value) {
	switch action {
	case "CASCADE":
		return integer(1), text("CASCADE")
	case "SET NULL":
		return integer(2), text("SET_NULL")
	case "SET DEFAULT":
		return integer(3), text("SET_DEFAULT")
	}
	return integer(0), text("NO_ACTION")
}
