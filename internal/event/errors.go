package event

import (
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// ReasonEventSchema is the reason of a [SchemaError], for metrics.
const ReasonEventSchema = "event_schema"

// SchemaError is a table of which no events can be made: of its columns as they
// are, in the chosen modes. Time does not cure it. It is a Problem of package
// sqlserver.
type SchemaError struct {
	Table schema.TableID
	Err   error
}

// Error says what is wrong with the table, and what to do.
func (e *SchemaError) Error() string {
	var table *schema.TableError
	if errors.As(e.Err, &table) {
		return e.Err.Error() // with its remedy
	}
	return e.Err.Error() + "; " + e.Remedy()
}

// Unwrap returns what it came from.
func (e *SchemaError) Unwrap() error { return e.Err }

// Reason returns [ReasonEventSchema].
func (e *SchemaError) Reason() string { return ReasonEventSchema }

// Remedy says what to do.
func (e *SchemaError) Remedy() string {
	var table *schema.TableError
	if errors.As(e.Err, &table) {
		return table.Remedy
	}
	return "leave the table out"
}
