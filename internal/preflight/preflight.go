package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Want is what is to be read of a database.
type Want struct {
	Database  string
	Selection *schema.Selection
	// Function says that the functions are asked instead of the change tables.
	Function bool
	// Rows says that the rows of the tables are read too.
	Rows bool
}

// Rights are those of a login in a database, beside what is to be read there.
type Rights struct {
	sqlserver.Rights
	conn *sqlserver.Conn
	want Want
}

// Catalogue makes sure that the catalogue of change data capture may be read. If
// not, which tables are captured is not known either, as far as the login does
// not see them.
func Catalogue(ctx context.Context, conn *sqlserver.Conn, want Want) (*Rights, error) {
	has, err := conn.Rights(ctx)
	if err != nil {
		return nil, err
	}
	r := &Rights{Rights: has, conn: conn, want: want}
	if len(r.Refused) == 0 {
		return r, nil
	}
	grants := sqlserver.NewGrants(r.User)
	r.grantCatalogue(grants)
	for _, t := range r.Tables() {
		switch {
		case !r.readsSources() || !want.Selection.Match(t.Schema, t.Table):
		case t.Denied:
			grants.Select(t.Schema, t.Table, t.Columns...)
		default:
			grants.Select(t.Schema, t.Table)
		}
	}
	return nil, r.lacks(grants, "; and GRANT SELECT ON the captured tables that the login cannot see: which those are is not known without these rights")
}

// grantCatalogue asks for the tables of schema cdc: for all of it if the login
// has no right there yet and the change tables are read too.
func (r *Rights) grantCatalogue(grants *sqlserver.Grants) {
	if !r.want.Function && !r.WholeSchema && slices.Contains(r.Refused, "change_tables") {
		grants.SelectCDC()
		return
	}
	for _, table := range r.Refused {
		grants.Select("cdc", table)
	}
}

// Instances makes sure that what is captured may be read. Hidden are the
// capture instances whose tables the login cannot see although they are wanted.
func (r *Rights) Instances(ctx context.Context, tables []*sqlserver.Table, hidden []string) error {
	instances, err := r.conn.InstanceRights(ctx)
	if err != nil {
		return err
	}
	grants := sqlserver.NewGrants(r.User)
	for _, t := range tables {
		r.grantInstances(grants, t, instances)
	}
	if grants.Len() == 0 && len(hidden) == 0 {
		return nil
	}
	if r.readsSources() {
		r.grantSources(grants, tables)
	}
	more := ""
	if len(hidden) > 0 {
		more = fmt.Sprintf("; and GRANT SELECT ON the source tables of the capture instances %s, which the login cannot see (sys.sp_cdc_help_change_data_capture names them), or name the wanted tables in table_include_list",
			strings.Join(hidden, ", "))
	}
	return r.lacks(grants, more)
}

// Sources makes sure that the rows of tables may be read. Only a snapshot
// needs it: later the change tables have all there is.
func (r *Rights) Sources(tables []*sqlserver.Table) error {
	grants := sqlserver.NewGrants(r.User)
	r.grantSources(grants, tables)
	if grants.Len() == 0 {
		return nil
	}
	return r.lacks(grants, ", or set snapshot_mode: no_data")
}

// Rows makes sure that the rows of a table may be read which has lost changes, by
// the rights of this moment.
func (r *Rights) Rows(ctx context.Context, t *sqlserver.Table) error {
	want := r.want
	want.Rows = true
	now, err := Catalogue(ctx, r.conn, want)
	if err != nil {
		return err
	}
	grants := sqlserver.NewGrants(r.User)
	now.grantSource(grants, t)
	if grants.Len() == 0 {
		return nil
	}
	return r.lacks(grants, ", or set retention_gap_policy: skip before changes are lost")
}

// readsSources reports whether rights on the source tables are needed: the
// functions check them too.
func (r *Rights) readsSources() bool {
	return r.want.Rows || r.want.Function
}

// grantInstances asks for what is missing to read the changes of a table: of
// several instances one is enough, and which of them is decided later.
func (r *Rights) grantInstances(grants *sqlserver.Grants, t *sqlserver.Table, rights map[int32]sqlserver.InstanceRights) {
	readable := func(ci *sqlserver.CaptureInstance) bool {
		has, known := rights[ci.ObjectID]
		switch {
		case !known: // gone meanwhile
			return true
		case r.want.Function:
			return has.Function && has.Role == "" && len(r.unreadable(t)) == 0
		default:
			return has.ChangeTable
		}
	}
	if slices.ContainsFunc(t.Instances, readable) {
		return
	}
	for _, ci := range t.Instances {
		has := rights[ci.ObjectID]
		switch {
		case !r.want.Function:
			grants.Select("cdc", ci.Name+"_CT")
			continue
		case has.Role != "":
			grants.Join(has.Role)
		case !has.Function:
			grants.Select("cdc", "fn_cdc_get_all_changes_"+ci.Name)
		}
		r.grantSource(grants, t)
	}
}

func (r *Rights) grantSources(grants *sqlserver.Grants, tables []*sqlserver.Table) {
	for _, t := range tables {
		r.grantSource(grants, t)
	}
}

// grantSource asks for the columns of a table that are read and may not be.
func (r *Rights) grantSource(grants *sqlserver.Grants, t *sqlserver.Table) {
	missing := r.unreadable(t)
	switch {
	case len(missing) == 0:
	case len(r.Unreadable[t.ObjectID].Columns) == len(t.Source.Columns):
		grants.Select(t.Source.Schema, t.Source.Name)
	default:
		grants.Select(t.Source.Schema, t.Source.Name, missing...)
	}
}

// unreadable returns the columns that are read of a table and may not be: those
// of its instances that are not excluded, and of the key that pages go by.
func (r *Rights) unreadable(t *sqlserver.Table) []string {
	u := r.Unreadable[t.ObjectID]
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
func (r *Rights) lacks(grants *sqlserver.Grants, more string) error {
	run := "run " + strings.TrimPrefix(grants.String()+more, "; and ")
	return sqlserver.NotPermitted(
		fmt.Sprintf("the login, user %q of database %q, lacks rights", r.User, r.want.Database), run, nil)
}
