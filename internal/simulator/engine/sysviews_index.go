package engine

func (in *Instance) registerIndexViews() {
	in.view("indexes", []Column{
		col("object_id", typeInt), col("name", vName), col("index_id", typeInt), col("type", typeTinyInt), col("type_desc", vDesc), col("is_unique", typeBit),
		col("data_space_id", typeInt), col("ignore_dup_key", typeBit), col("is_primary_key", typeBit), col("is_unique_constraint", typeBit), col("fill_factor", typeTinyInt),
		col("is_padded", typeBit), col("is_disabled", typeBit), col("is_hypothetical", typeBit), col("allow_row_locks", typeBit), col("allow_page_locks", typeBit),
		col("has_filter", typeBit), col("filter_definition", vText),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, t := range x.catalog(db).sortedTables() {
				if !x.visible(db, t.Object) {
					continue
				}
				no, yes := boolean(false), boolean(true)
				if t.Clustered() == nil {
					if err := emit([]value{integer(t.ID), {}, integer(0), integer(0), text("HEAP"), no, integer(1), no, no, no, integer(0), no, no, no, yes, yes, no, {}}); err != nil {
						return err
					}
				}
				for _, ix := range t.Indexes {
					kind, desc := int64(2), "NONCLUSTERED"
					if ix.Clustered {
						kind, desc = 1, "CLUSTERED"
					}
					if err := emit([]value{
						integer(t.ID), text(ix.Name), integer(int64(ix.ID)), integer(kind), text(desc), boolean(ix.Unique), integer(1), boolean(ix.IgnoreDupKey),
						boolean(ix.Constraint == KindPrimaryKey), boolean(ix.Constraint == KindUnique), integer(0), no, no, no, yes, yes, boolean(ix.Filter != ""), textOrNull(ix.Filter),
					}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	in.view("index_columns", []Column{
		col("object_id", typeInt), col("index_id", typeInt), col("index_column_id", typeInt), col("column_id", typeInt), col("key_ordinal", typeTinyInt),
		col("partition_ordinal", typeTinyInt), col("is_descending_key", typeBit), col("is_included_column", typeBit),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, t := range x.catalog(db).sortedTables() {
				if !x.visible(db, t.Object) {
					continue
				}
				for _, ix := range t.Indexes {
					n := int64(0)
					for _, k := range ix.Keys {
						n++
						if err := emit([]value{integer(t.ID), integer(int64(ix.ID)), integer(n), integer(int64(k.ColumnID)), integer(n), integer(0), boolean(k.Desc), boolean(false)}); err != nil {
							return err
						}
					}
					for _, id := range ix.Included {
						n++
						if err := emit([]value{integer(t.ID), integer(int64(ix.ID)), integer(n), integer(int64(id)), integer(0), integer(0), boolean(false), boolean(true)}); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	in.view("key_constraints", append(objectColumns(), col("unique_index_id", typeInt), col("is_system_named", typeBit), col("is_enforced", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			for _, t := range c.sortedTables() {
				for _, ix := range t.Indexes {
					if ix.ConstraintID == 0 || !x.visible(db, t.Object) {
						continue
					}
					o, _ := c.object(ix.ConstraintID)
					if err := emit(append(x.objectRow(o, t.ID), integer(int64(ix.ID)), boolean(ix.SystemNamed), boolean(true))); err != nil {
						return err
					}
				}
			}
			return nil
		})
	in.view("foreign_keys", append(objectColumns(), col("referenced_object_id", typeInt), col("key_index_id", typeInt), col("is_disabled", typeBit), col("is_not_trusted", typeBit),
		col("delete_referential_action", typeTinyInt), col("delete_referential_action_desc", vDesc), col("update_referential_action", typeTinyInt), col("update_referential_action_desc", vDesc), col("is_system_named", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			for _, t := range c.sortedTables() {
				for _, fk := range t.ForeignKeys {
					o, _ := c.object(fk.ID)
					d, dd := referential(fk.OnDelete)
					u, ud := referential(fk.OnUpdate)
					if err := emit(append(x.objectRow(o, t.ID), integer(fk.RefTable), integer(1), boolean(fk.Disabled), boolean(false), d, dd, u, ud, boolean(fk.SystemNamed))); err != nil {
						return err
					}
				}
			}
			return nil
		})
	in.view("foreign_key_columns", []Column{
		col("constraint_object_id", typeInt), col("constraint_column_id", typeInt), col("parent_object_id", typeInt), col("parent_column_id", typeInt),
		col("referenced_object_id", typeInt), col("referenced_column_id", typeInt),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, t := range x.catalog(db).sortedTables() {
				for _, fk := range t.ForeignKeys {
					for i := range fk.Columns {
						if err := emit([]value{integer(fk.ID), integer(int64(i + 1)), integer(t.ID), integer(int64(fk.Columns[i])), integer(fk.RefTable), integer(int64(fk.RefColumns[i]))}); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	in.view("partitions", []Column{col("partition_id", typeBigInt), col("object_id", typeInt), col("index_id", typeInt), col("partition_number", typeInt), col("hobt_id", typeBigInt), col("rows", typeBigInt), col("data_compression", typeTinyInt), col("data_compression_desc", vDesc)},
		func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachPartition(db, func(t *Table, index int64, rows int64) error {
				id := integer(t.ID<<16 | index)
				return emit([]value{id, integer(t.ID), integer(index), integer(1), id, integer(rows), integer(0), text("NONE")})
			})
		})
	in.view("dm_db_partition_stats", []Column{
		col("partition_id", typeBigInt), col("object_id", typeInt), col("index_id", typeInt), col("partition_number", typeInt), col("in_row_data_page_count", typeBigInt),
		col("used_page_count", typeBigInt), col("reserved_page_count", typeBigInt), col("row_count", typeBigInt),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachPartition(db, func(t *Table, index int64, rows int64) error {
				pages := integer(rows/100 + 1)
				return emit([]value{integer(t.ID<<16 | index), integer(t.ID), integer(index), integer(1), pages, pages, pages, integer(rows)})
			})
		})
	in.view("stats", []Column{col("object_id", typeInt), col("name", vName), col("stats_id", typeInt)}, func(*Exec, *Database, rowEmitter) error { return nil })
}

func (x *Exec) eachPartition(db *Database, f func(t *Table, index, rows int64) error) error {
	for _, t := range x.catalog(db).sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
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
	}
	return nil
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
