package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// What a login sees of other databases is decided by VIEW ANY DATABASE, which
// everybody has by default; Azure SQL Database shows all of them in master
// alone. Source: MS docs, sys.databases, "Permissions" and "Remarks".
const databasesStatement = `SELECT name, is_cdc_enabled FROM sys.databases ORDER BY name`

// DatabaseEntry is a database of the server.
type DatabaseEntry struct {
	Name       string
	CDCEnabled bool
}

// Databases returns the databases of the server that the login can see, in the
// order of their names.
func (c *Conn) Databases(ctx context.Context) ([]DatabaseEntry, error) {
	var list []DatabaseEntry
	err := Retry(ctx, func() error {
		list = nil
		return c.each(ctx, func(row []driver.Value) error {
			s := scanner{row: row}
			list = append(list, DatabaseEntry{Name: s.text(), CDCEnabled: s.bool()})
			return s.err
		}, databasesStatement)
	})
	if err != nil {
		return nil, fmt.Errorf("listing databases: %w", err)
	}
	return list, nil
}
