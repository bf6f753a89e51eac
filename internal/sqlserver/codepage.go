package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// codePageStatement asks for the code pages of two collations.
// Source: MS docs, COLLATIONPROPERTY.
const codePageStatement = `SELECT CONVERT(int, COLLATIONPROPERTY(@p1, 'CodePage')), CONVERT(int, COLLATIONPROPERTY(@p2, 'CodePage'))`

// NoteCodePages adds a note to each table for every captured char, varchar and
// text column whose code page is not that of the database, given the
// database's collation: change data capture may have written other characters
// into the change table than the column holds.
// Source: MS docs, "Known issues with change data capture", on columns with
// another collation than the database's.
func (c *Conn) NoteCodePages(ctx context.Context, collation string, tables []*Table) error {
	asked := make(map[string]codePages)
	for _, t := range tables {
		for _, ci := range t.Instances {
			for _, col := range ci.Shape.Columns {
				if !hasCodePage(col.Type) || col.Collation == "" || col.Collation == collation {
					continue
				}
				pages, known := asked[col.Collation]
				if !known {
					var err error
					if pages, err = c.codePages(ctx, col.Collation, collation); err != nil {
						return fmt.Errorf("asking for the code page of collation %s: %w", col.Collation, err)
					}
					asked[col.Collation] = pages
				}
				if pages.column != pages.database {
					addNote(&t.Notes, codePageNote(col, pages))
				}
			}
		}
	}
	return nil
}

// codePages are those of a column and of its database.
type codePages struct{ column, database int64 }

func (c *Conn) codePages(ctx context.Context, column, database string) (codePages, error) {
	var pages codePages
	err := Retry(ctx, func() error {
		row, err := c.one(ctx, codePageStatement, driver.Value(column), driver.Value(database))
		if err != nil {
			return err
		}
		s := scanner{row: row}
		pages = codePages{column: s.int(), database: s.int()}
		return s.err
	})
	return pages, err
}

// hasCodePage reports whether values of the type are bytes of a code page.
func hasCodePage(t schema.Type) bool {
	switch t.Kind {
	case schema.Char, schema.VarChar, schema.Text:
		return true
	default:
		return false
	}
}

func codePageNote(col schema.Column, pages codePages) string {
	return fmt.Sprintf("column %q has code page %d, the database has %d: SQL Server may have written wrong characters into the change table; "+
		"make the column nvarchar, or give it a collation of the database's code page", col.Name, pages.column, pages.database)
}
