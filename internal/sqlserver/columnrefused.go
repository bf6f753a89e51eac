package sqlserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// errColumnRefused is "the SELECT permission was denied on the column '%.*ls' of
// the object '%.*ls', database '%.*ls', schema '%.*ls'".
// Source: MS docs, Database Engine events and errors.
const errColumnRefused = 230

// ColumnsRefused is the problem of columns that may not be read, though their
// table may: the right to a table does not take back what is denied of it, the
// right to the column does (MS docs, GRANT Object Permissions). Columns are those
// that were read. It is nil if the error is another one.
func ColumnsRefused(err error, schemaName, table string, columns []schema.Column) error {
	if !HasNumber(err, errColumnRefused) {
		return nil
	}
	object := Quote(schemaName) + "." + Quote(table)
	refused := strings.Join(refusedAmong(err, columns), ", ")
	if refused == "" {
		refused = "<the column>"
	}
	return NotPermitted(fmt.Sprintf("reading %s of %s is not permitted", refused, object),
		fmt.Sprintf("run GRANT SELECT ON %s (%s) TO the login's user, which also ends a DENY on them to that user, or leave them out by column_exclude_list", object, refused), err)
}

// refusedAmong returns the columns, quoted, of which the server says that they
// are refused: in any language it has their names in apostrophes.
func refusedAmong(err error, columns []schema.Column) (names []string) {
	var server mssql.Error
	if !errors.As(err, &server) {
		return nil
	}
	all := append([]mssql.Error{server}, server.All...)
	for _, c := range columns {
		if slices.ContainsFunc(all, func(e mssql.Error) bool {
			return e.Number == errColumnRefused && strings.Contains(e.Message, "'"+c.Name+"'")
		}) {
			names = append(names, Quote(c.Name))
		}
	}
	return names
}
