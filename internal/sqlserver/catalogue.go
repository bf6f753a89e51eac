package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// idsPerQuery is the number of object ids that one catalogue query takes: a
// fixed number of parameters keeps its text constant.
const idsPerQuery = 50

// idParameters is "@p1, @p2, ... @p50".
var idParameters = func() string {
	names := make([]string, idsPerQuery)
	for i := range names {
		names[i] = "@p" + strconv.Itoa(i+1)
	}
	return strings.Join(names, ", ")
}()

// The catalogue. Sources: MS docs, sys.tables, sys.columns, sys.types,
// sys.indexes, sys.index_columns, sys.default_constraints.
var (
	tablesStatement = `SELECT t.object_id, s.name, t.name FROM sys.tables AS t
JOIN sys.schemas AS s ON s.schema_id = t.schema_id WHERE t.is_ms_shipped = 0 ORDER BY t.object_id`

	columnsStatement = `SELECT c.object_id, c.column_id, c.name, st.name, ut.name, ut.is_user_defined, c.max_length, c.[precision], c.scale,
 c.collation_name, c.is_nullable, c.is_identity, c.is_computed, d.definition
FROM sys.columns AS c
LEFT JOIN sys.types AS st ON st.user_type_id = c.system_type_id
LEFT JOIN sys.types AS ut ON ut.user_type_id = c.user_type_id
LEFT JOIN sys.default_constraints AS d ON d.object_id = c.default_object_id
WHERE c.object_id IN (` + idParameters + `) ORDER BY c.object_id, c.column_id`

	indexesStatement = `SELECT i.object_id, i.index_id, i.name, i.is_primary_key, i.type, i.has_filter, i.is_disabled, ic.column_id, ic.is_descending_key
FROM sys.indexes AS i
JOIN sys.index_columns AS ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id
WHERE i.is_unique = 1 AND i.is_hypothetical = 0 AND ic.key_ordinal > 0 AND i.object_id IN (` + idParameters + `)
ORDER BY i.object_id, i.index_id, ic.key_ordinal`
)

// Selection decides which tables are of interest, and which columns of their
// capture instances. See [schema.Selection].
type Selection interface {
	Match(schema, table string) bool
	// MatchInstance decides which of their capture instances are.
	MatchInstance(name string) bool
	Shape(t *schema.Table) (shaped *schema.Table, notes []string)
}

// Catalogue reads the tables of the connection's database that are selected,
// with their capture instances, ordered by object id; all of them if selection
// is nil. In a database without change data capture no table has an instance.
func (c *Conn) Catalogue(ctx context.Context, selection Selection) ([]*Table, error) {
	var (
		tables []*Table
		hidden confirmed
	)
	err := Retry(ctx, func() (err error) {
		if tables, err = c.catalogue(ctx, selection); err != nil {
			return err
		}
		return hidden.confirm(hiddenInstances(tables))
	})
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	return tables, nil
}

// confirmed are the capture instances that have shown twice that an object of
// theirs cannot be seen. Once is not enough: instances are made and dropped in
// transactions, and a statement that joins the row of one with the row of an
// object may read one of them before such a transaction ends and the other
// after it. The row of a view of the catalogue is never a version of before, even
// where rows of tables are (MS docs, "Snapshot isolation in SQL Server": it does
// not support versioning of metadata).
type confirmed map[string]bool

// confirm fails if any of the instances was not among those of the look before
// this one.
func (c *confirmed) confirm(instances []string) error {
	before := *c
	*c = make(confirmed, len(instances))
	var fresh []string
	for _, name := range instances {
		(*c)[name] = true
		if !before[name] {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) > 0 {
		return fmt.Errorf("looking for what capture instances %q need: %w", fresh, errCatalogue)
	}
	return nil
}

func (c *Conn) catalogue(ctx context.Context, selection Selection) ([]*Table, error) {
	facts, err := c.one(ctx, factsStatement)
	if err != nil {
		return nil, err
	}
	database, err := readFacts(facts)
	if err != nil {
		return nil, err
	}
	tables, err := c.tables(ctx, database.Database, selection)
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	ids := make([]int32, 0, len(tables))
	for _, t := range tables {
		ids = append(ids, t.ObjectID)
	}
	columns, err := c.columns(ctx, ids)
	if err != nil {
		return nil, err
	}
	indexes, err := c.indexes(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		t.describe(columns[t.ObjectID], indexes[t.ObjectID])
	}
	if !database.CDCEnabled {
		return tables, nil
	}
	if err := c.instances(ctx, tables, selection, columns, indexes); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := c.shape(ctx, t, selection); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// shape completes the shapes of a table's instances.
func (c *Conn) shape(ctx context.Context, t *Table, selection Selection) error {
	for _, ci := range t.Instances {
		if err := c.readDefaults(ctx, ci.Shape.Columns); err != nil {
			return err
		}
		if selection == nil {
			ci.Shape = ci.Shape.WithoutComputed()
			continue
		}
		var notes []string
		ci.Shape, notes = selection.Shape(ci.Shape)
		for _, note := range notes {
			addNote(&t.Notes, note)
		}
	}
	return nil
}

// tables lists the user tables that are selected.
func (c *Conn) tables(ctx context.Context, database string, selection Selection) ([]*Table, error) {
	var tables []*Table
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		t := &Table{ObjectID: int32(s.int()), Source: &schema.Table{Database: database, Schema: s.text(), Name: s.text()}}
		if s.err == nil && (selection == nil || selection.Match(t.Source.Schema, t.Source.Name)) {
			tables = append(tables, t)
		}
		return s.err
	}, tablesStatement)
	return tables, err
}

// columns reads the columns of tables, by object id, in column_id order.
func (c *Conn) columns(ctx context.Context, ids []int32) (map[int32][]schema.Column, error) {
	columns := make(map[int32][]schema.Column, len(ids))
	err := c.eachOf(ctx, ids, func(row []driver.Value) error {
		s := scanner{row: row}
		id := int32(s.int())
		col := schema.Column{ID: int(s.int()), Name: s.text()}
		system, declared, userDefined := s.text(), s.text(), s.bool()
		if system == "" && !userDefined {
			// The CLR types of the system (hierarchyid, geometry, geography)
			// share one system_type_id, which is no row of sys.types.
			system = declared
		}
		col.Type = schema.TypeOf(schema.CatalogueType{
			System: system, Declared: declared,
			MaxLength: int(s.int()), Precision: int(s.int()), Scale: int(s.int()),
		})
		col.Collation = s.text()
		col.Nullable, col.Identity, col.Computed = s.bool(), s.bool(), s.bool()
		col.Default = s.text()
		columns[id] = append(columns[id], col)
		return s.err
	}, columnsStatement)
	return columns, err
}

// index is a unique index with the directions of its columns.
type index struct {
	schema.Index
	descending []bool // beside Columns
}

// indexes reads the unique indexes of tables, by object id.
func (c *Conn) indexes(ctx context.Context, ids []int32) (map[int32][]index, error) {
	indexes := make(map[int32][]index, len(ids))
	var last struct{ table, index int64 }
	err := c.eachOf(ctx, ids, func(row []driver.Value) error {
		s := scanner{row: row}
		table, id := s.int(), s.int()
		ix := index{Index: schema.Index{Unique: true, Name: s.text(), Primary: s.bool()}}
		ix.Clustered = s.int() == 1
		ix.Filtered, ix.Disabled = s.bool(), s.bool()
		column, descending := int(s.int()), s.bool()
		if s.err != nil {
			return s.err
		}
		list := indexes[int32(table)]
		if last.table != table || last.index != id {
			last.table, last.index = table, id
			list = append(list, ix)
		}
		at := &list[len(list)-1]
		at.Columns = append(at.Columns, column)
		at.descending = append(at.descending, descending)
		indexes[int32(table)] = list
		return nil
	}, indexesStatement)
	return indexes, err
}

// eachOf runs a query over object ids, a fixed number at a time.
func (c *Conn) eachOf(ctx context.Context, ids []int32, f func(row []driver.Value) error, text string) error {
	for chunk := range slices.Chunk(ids, idsPerQuery) {
		args := make([]driver.Value, idsPerQuery)
		for i := range args {
			// No object has id 0.
			args[i] = int32(0)
			if i < len(chunk) {
				args[i] = chunk[i]
			}
		}
		if err := c.each(ctx, f, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// describe fills in what columns and indexes say.
func (t *Table) describe(columns []schema.Column, indexes []index) {
	t.Source.Columns, t.Source.Key = columns, chooseKey(columns, indexes, &t.Notes)
	t.PageKey = pageKey(columns, indexes)
}

// chooseKey chooses the key of events and notes why an index is none.
func chooseKey(columns []schema.Column, indexes []index, notes *[]string) []int {
	plain := make([]schema.Index, len(indexes))
	for i, ix := range indexes {
		plain[i] = ix.Index
	}
	choice := schema.ChooseKey(columns, plain)
	for _, r := range choice.Rejected {
		addNote(notes, fmt.Sprintf("index %q is no key: %s", r.Name, r.Reason))
	}
	return choice.Columns
}

// addNote adds a remark that is not there yet: two instances of a table have
// most of them in common.
func addNote(notes *[]string, note string) {
	if !slices.Contains(*notes, note) {
		*notes = append(*notes, note)
	}
}

// errCatalogue is a catalogue that contradicts itself, for example because it
// changed between two queries. Reading it again cures that.
var errCatalogue = errors.New("catalogue changed while it was read")
