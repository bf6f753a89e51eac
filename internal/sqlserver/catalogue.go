package sqlserver

import "context"

// Catalogue reads the tables of the connection's database that match, with
// their capture instances, ordered by object id. Match may be nil for all.
func (c *Conn) Catalogue(ctx context.Context, match func(schema, table string) bool) ([]*Table, error) {
	panic("unwritten")
}

// Facts reads what matters of the connection's database and its server.
func (c *Conn) Facts(ctx context.Context) (Facts, error) { panic("unwritten") }
