package input

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Rights are looked at before anything is read, and all that are missing are
// named in one error: each attempt that ends with the next one costs a person a
// round. What is not looked at here, such as a right that is taken away later,
// is an error where it is missed.

// checkCatalogueRights makes sure that the catalogue of change data capture may
// be read. If not, which tables are captured is not known either, as far as the
// login does not see them.
func (d *serverDatabase) checkCatalogueRights(ctx context.Context) (err error) {
	if d.rights, err = d.conn.Rights(ctx); err != nil {
		return err
	}
	if len(d.rights.Refused) == 0 {
		return nil
	}
	grants := sqlserver.NewGrants(d.rights.User)
	d.grantCatalogue(grants)
	for _, t := range d.rights.Tables() {
		switch {
		case !d.readsSources() || !d.selection.Match(t.Schema, t.Table):
		case t.Denied:
			grants.Select(t.Schema, t.Table, t.Columns...)
		default:
			grants.Select(t.Schema, t.Table)
		}
	}
	return d.lacks(grants, "; and GRANT SELECT ON the captured tables that the login cannot see: which those are is not known without these rights")
}

// grantCatalogue asks for the tables of schema cdc: for all of it if the login
// has no right there yet and the change tables are read too.
func (d *serverDatabase) grantCatalogue(grants *sqlserver.Grants) {
	if d.cfg.queryMode == queryDirect && !d.rights.WholeSchema && slices.Contains(d.rights.Refused, "change_tables") {
		grants.SelectCDC()
		return
	}
	for _, table := range d.rights.Refused {
		grants.Select("cdc", table)
	}
}

// checkRights makes sure that what is captured may be read. Hidden are the
// capture instances whose tables the login cannot see although they are wanted.
func (d *serverDatabase) checkRights(ctx context.Context, hidden []string) error {
	instances, err := d.conn.InstanceRights(ctx)
	if err != nil {
		return err
	}
	grants := sqlserver.NewGrants(d.rights.User)
	for _, t := range d.tables {
		d.grantInstances(grants, t, instances)
	}
	if grants.Len() == 0 && len(hidden) == 0 {
		return nil
	}
	if d.readsSources() {
		d.grantSources(grants)
	}
	more := ""
	if len(hidden) > 0 {
		more = fmt.Sprintf("; and GRANT SELECT ON the source tables of the capture instances %s, which the login cannot see (sys.sp_cdc_help_change_data_capture names them), or name the wanted tables in %s",
			strings.Join(hidden, ", "), fieldTableIncludeList)
	}
	return d.lacks(grants, more)
}

// checkSources makes sure that the rows of tables may be read. Only a snapshot
// needs it: later the change tables have all there is.
func (d *serverDatabase) checkSources() error {
	grants := sqlserver.NewGrants(d.rights.User)
	d.grantSources(grants)
	if grants.Len() == 0 {
		return nil
	}
	return d.lacks(grants, fmt.Sprintf(", or set %s: %s", fieldSnapshotMode, snapshotNoData))
}

// readsSources reports whether rows of the source tables may be read.
func (d *serverDatabase) readsSources() bool {
	return d.cfg.snapshotMode == snapshotInitial || d.cfg.queryMode == queryFunction
}

// grantInstances asks for what is missing to read the changes of a table: of
// several instances one is enough, and which of them is decided later.
func (d *serverDatabase) grantInstances(grants *sqlserver.Grants, t *sqlserver.Table, rights map[int32]sqlserver.InstanceRights) {
	function := d.cfg.queryMode == queryFunction
	readable := func(ci *sqlserver.CaptureInstance) bool {
		r, known := rights[ci.ObjectID]
		switch {
		case !known: // gone meanwhile
			return true
		case function:
			return r.Function && r.Role == "" && len(d.unreadable(t)) == 0
		default:
			return r.ChangeTable
		}
	}
	if slices.ContainsFunc(t.Instances, readable) {
		return
	}
	for _, ci := range t.Instances {
		r := rights[ci.ObjectID]
		switch {
		case !function:
			grants.Select("cdc", ci.Name+"_CT")
			continue
		case r.Role != "":
			grants.Join(r.Role)
		case !r.Function:
			grants.Select("cdc", "fn_cdc_get_all_changes_"+ci.Name)
		}
		d.grantSource(grants, t)
	}
}

func (d *serverDatabase) grantSources(grants *sqlserver.Grants) {
	for _, t := range d.tables {
		d.grantSource(grants, t)
	}
}

// grantSource asks for the columns of a table that are read and may not be.
func (d *serverDatabase) grantSource(grants *sqlserver.Grants, t *sqlserver.Table) {
	missing := d.unreadable(t)
	switch {
	case len(missing) == 0:
	case len(d.rights.Unreadable[t.ObjectID].Columns) == len(t.Source.Columns):
		grants.Select(t.Source.Schema, t.Source.Name)
	default:
		grants.Select(t.Source.Schema, t.Source.Name, missing...)
	}
}

// unreadable returns the columns that are read of a table and may not be: those
// of its instances that are not excluded, and of the key that pages go by.
func (d *serverDatabase) unreadable(t *sqlserver.Table) []string {
	u := d.rights.Unreadable[t.ObjectID]
	if u == nil {
		return nil
	}
	read := map[int]bool{}
	for _, ci := range t.Instances {
		for _, col := range ci.Shape.Columns {
			read[col.ID] = true
		}
	}
	for _, col := range t.PageKey {
		read[col.ID] = true
	}
	var missing []string
	for _, col := range t.Source.Columns {
		if read[col.ID] && slices.Contains(u.Columns, col.Name) {
			missing = append(missing, col.Name)
		}
	}
	return missing
}

// lacks is the problem of missing rights.
func (d *serverDatabase) lacks(grants *sqlserver.Grants, more string) error {
	run := "run " + strings.TrimPrefix(grants.String()+more, "; and ")
	return sqlserver.NewProblem(sqlserver.ReasonPermission,
		fmt.Sprintf("the login, user %q of database %q, lacks rights", d.rights.User, d.name), run, nil)
}
