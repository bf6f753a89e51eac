package sqlserver

import (
	"context"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// readDefaults gives columns the values of their defaults.
func (c *Conn) readDefaults(ctx context.Context, columns []schema.Column) error {
	for i := range columns {
		col := &columns[i]
		if col.Default == "" {
			continue
		}
		d := schema.ParseDefault(col.Type, col.Default)
		col.DefaultValue = d.Value
		if d.Literal == "" {
			continue
		}
		if err := c.readTemporalDefault(ctx, col, d.Literal); err != nil {
			return fmt.Errorf("reading default of column %q: %w", col.Name, err)
		}
	}
	return nil
}

// readTemporalDefault has the server read a literal, as Debezium does: how it
// is read depends on the language. A literal that it cannot read, which would
// fail an INSERT too, is no default.
// Source: MS docs, TRY_PARSE. Many columns share a few literals, and the
// catalogue is read again whenever it changes: each is asked for once in the
// life of a connection.
func (c *Conn) readTemporalDefault(ctx context.Context, col *schema.Column, literal string) error {
	asked := temporalDefault{declaration(col.Type), literal}
	value, known := c.defaults[asked]
	if !known {
		row, err := c.one(ctx, "SELECT TRY_PARSE(@p1 AS "+asked.declaration+")", literal)
		switch {
		case err == nil:
			value = row[0]
		case Classify(err) != ClassOther:
			return err
		}
		c.defaults[asked] = value
	}
	col.DefaultValue = value
	return nil
}

// temporalDefault is a literal, read as a type.
type temporalDefault struct{ declaration, literal string }
