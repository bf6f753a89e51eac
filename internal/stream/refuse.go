package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Refusals returns what decides whether a newer instance of a table can take
// the place of an older one. It cannot if it lacks columns that the older one
// has and the table still has, for it was made for somebody else, or if the
// login may not read it: then going over to it would end the reading of a table
// that can be read. Function tells how it would be read; see
// [Options.Function].
func Refusals(ctx context.Context, conn Connection, function bool) func(t *sqlserver.Table, old, newer *sqlserver.CaptureInstance) (string, error) {
	return func(t *sqlserver.Table, old, newer *sqlserver.CaptureInstance) (string, error) {
		if missing := missingColumns(t, old, newer); len(missing) > 0 {
			return fmt.Sprintf("it does not capture %s", strings.Join(missing, ", ")), nil
		}
		if newer.ChangeTable == "" && !function {
			return "its change table cannot be seen by the login; " + newer.GrantRemedy(), nil
		}
		return unreadable(ctx, conn, function, newer)
	}
}

// missingColumns names the columns of an older instance that a newer one lacks,
// and that the table has not lost.
func missingColumns(t *sqlserver.Table, old, newer *sqlserver.CaptureInstance) (names []string) {
	for _, col := range old.Shape.Columns {
		if columnByID(newer.Shape.Columns, col.ID) < 0 && columnByID(t.Source.Columns, col.ID) >= 0 {
			names = append(names, fmt.Sprintf("%q", col.Name))
		}
	}
	return names
}

// unreadable tries to read an instance at its beginning.
func unreadable(ctx context.Context, conn Connection, function bool, ci *sqlserver.CaptureInstance) (reason string, err error) {
	reader := sqlserver.NewChangeReader(ci, ci.HasCommand, nil)
	if function {
		reader = sqlserver.NewFunctionReader(ci, nil)
	}
	page, err := conn.ReadChanges(ctx, reader, sqlserver.ChangeQuery{From: ci.StartLSN, To: ci.StartLSN, Limit: 1, MaxBytes: 1})
	var problem sqlserver.Problem
	switch {
	case err == nil:
		page.Release()
		return "", nil
	case errors.As(err, &problem) && problem.Reason() == sqlserver.ReasonPermission,
		sqlserver.Classify(err) == sqlserver.ClassPermission, errors.Is(err, sqlserver.ErrInstanceGone):
		return err.Error(), nil
	}
	var beyond *sqlserver.RangeError
	if errors.As(err, &beyond) {
		return "", nil // cleaned up meanwhile, which is noticed when it is read
	}
	return "", err
}

// columnByID returns the index of a column, or -1.
func columnByID(columns []schema.Column, id int) int {
	return slices.IndexFunc(columns, func(c schema.Column) bool { return c.ID == id })
}

// Remark says of which table a newer instance is not read, and why.
func (c Choice) Remark() (table, text string) {
	return c.name(), fmt.Sprintf("capture instance %q is read on, although there is a newer one, %q: %s", c.Instance.Name, c.Unread.Name, c.Reason)
}
