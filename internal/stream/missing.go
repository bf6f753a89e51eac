package stream

import (
	"context"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// checkDropped looks for tables that were read, are wanted and are no longer in
// the catalogue. A dropped one took its change table with it and is named. One
// whose instance is still listed is hidden from the login: going on would pass over
// its changes. That one is looked for twice, because tables and instances are not
// listed at the same moment.
func (r *Reader) checkDropped(ctx context.Context, tables []*sqlserver.Table) (hidden tablesError, err error) {
	missing := r.missing(tables)
	r.releaseUnwanted(tables, missing)
	if len(missing) == 0 {
		return nil, nil
	}
	lows, err := r.conn.LowLSNs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range missing {
		held := func(h Held) bool { return h.is(&id) }
		if _, listed := lows[id.ObjectID]; listed {
			if slices.ContainsFunc(r.held, held) {
				continue
			}
			err := r.checkHidden(ctx, id)
			if !canHold(err) {
				return nil, err
			}
			hidden = append(hidden, &tableError{id, err})
			continue
		}
		r.opts.Logger.Error("table was dropped or renamed; changes of it that were not read yet are lost or no longer wanted",
			"table", id.Schema+"."+id.Table, "instance", id.Name, "position", r.position.String())
		r.release(held)
	}
	return hidden, nil
}

// whyMissing is the problem of a table that is missing: it has a name now that is
// not wanted, or it cannot be seen at all.
func (r *Reader) whyMissing(ctx context.Context, id InstanceIdentity) error {
	all, err := r.conn.Catalogue(ctx, nil)
	if err != nil {
		return err
	}
	is := func(t *sqlserver.Table) bool { return t.ObjectID == id.SourceObjectID }
	if i := slices.IndexFunc(all, is); i >= 0 {
		return sqlserver.NewProblem(ReasonInstanceGone,
			fmt.Sprintf("table %s.%s of capture instance %q has another name, %s.%s, which is not among the wanted ones",
				id.Schema, id.Table, id.Name, all[i].Source.Schema, all[i].Source.Name),
			"let the lists of tables match the new name to read on, or leave the old one out", nil)
	}
	return sqlserver.HiddenTable(id.Schema, id.Table, id.Name)
}

// sayRenamed logs the tables that have another name than when they were read
// last: their events go on under it, in another topic.
func (r *Reader) sayRenamed(next []Choice) {
	for _, c := range next {
		known := IdentityOf(c.Table, r.known)
		if now := c.Table.Source; known != nil && (known.Schema != now.Schema || known.Table != now.Name) {
			r.opts.Logger.Info("table has another name; its events go on under that",
				"was", known.Schema+"."+known.Table, "table", now.Schema+"."+now.Name, "instance", c.Identity.Name)
		}
	}
}

// missing returns what was read, is wanted and is not among some tables, by id
// or by name.
func (r *Reader) missing(tables []*sqlserver.Table) (missing []InstanceIdentity) {
	for _, id := range r.known {
		kept := slices.ContainsFunc(tables, func(t *sqlserver.Table) bool {
			return t.ObjectID == id.SourceObjectID || t.Source.Schema == id.Schema && t.Source.Name == id.Table
		})
		if !kept && (r.opts.Selection == nil || r.opts.Selection.Match(id.Schema, id.Table)) {
			missing = append(missing, id)
		}
	}
	return missing
}

// checkHidden fails with the problem of a table that was missing, if it still
// is, and else so that the catalogue is read again.
func (r *Reader) checkHidden(ctx context.Context, id InstanceIdentity) error {
	tables, err := r.conn.Catalogue(ctx, r.opts.Selection)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.missing(tables), func(m InstanceIdentity) bool { return m.ObjectID == id.ObjectID }) {
		return r.whyMissing(ctx, id)
	}
	return fmt.Errorf("reading instance %q: table %s.%s is back: %w", id.Name, id.Schema, id.Table, errAltered)
}
