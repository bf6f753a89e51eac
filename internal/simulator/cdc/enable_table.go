package cdc

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func (a *Agent) registerTableProcedures() {
	null, one, zero := sqltypes.Null(), sqltypes.IntOf(1), sqltypes.IntOf(0)
	params := []engine.Param{
		{Name: "@source_schema", Type: sysname},
		{Name: "@source_name", Type: sysname},
		{Name: "@capture_instance", Type: sysname, Default: &null},
		{Name: "@supports_net_changes", Type: bitType, Default: &null},
		{Name: "@role_name", Type: sysname},
		{Name: "@index_name", Type: sysname, Default: &null},
		{Name: "@captured_column_list", Type: textType, Default: &null},
		{Name: "@filegroup_name", Type: sysname, Default: &null},
		{Name: "@allow_partition_switch", Type: bitType, Default: &one},
	}
	if a.in.AtLeast(engine.Release2022) {
		params = append(params, engine.Param{Name: "@enable_extended_ddl_handling", Type: bitType, Default: &zero})
	}
	a.in.RegisterProcedure("sys", "sp_cdc_enable_table", engine.Procedure{Params: params, Run: a.enableTable})
	a.in.RegisterProcedure("sys", "sp_cdc_disable_table", engine.Procedure{
		Params: []engine.Param{
			{Name: "@source_schema", Type: sysname},
			{Name: "@source_name", Type: sysname},
			{Name: "@capture_instance", Type: sysname},
		},
		Run: a.disableTable,
	})
}

// The limits of a capture instance: a change table has six columns of its own
// beside those it captures, and an index 32 keys of which four are its own; the
// server allows 14 (error 22865).
const (
	maxInstanceName = 100
	maxCaptured     = 1024 - ctFirstCaptured - 1
	maxNetKeys      = 14
)

// tableRequest is what sp_cdc_enable_table was asked for, resolved against the
// source table.
type tableRequest struct {
	schema, name string
	instance     string
	role         string
	filegroup    sqltypes.Value
	netChanges   bool
	source       *engine.Table
	index        *engine.Index // that identifies rows, or nil
	columns      []*engine.TableColumn
}

// enableTable is sys.sp_cdc_enable_table (MS docs).
func (a *Agent) enableTable(x *engine.Exec, args []sqltypes.Value) (int32, error) {
	const internal = "sp_cdc_enable_table_internal"
	if err := requireEdition(x); err != nil {
		return 1, err
	}
	if err := requireOwner(x); err != nil {
		return 1, err
	}
	if len(args) > 9 && args[9].Bool() {
		return 1, errExtendedDDL()
	}
	req, err := resolve(x, args)
	if err != nil {
		return 1, inProcedure(err, internal)
	}
	if err := a.create(x, req); err != nil {
		return 1, err
	}
	if args[8].IsNull() || args[8].Bool() {
		return 0, a.ensureJobs(x)
	}
	// No table here is partitioned, so there is nothing to forbid.
	if err := message(x, errNotPartitioned(), internal); err != nil {
		return 1, err
	}
	return 0, a.ensureJobs(x)
}

// create makes the capture instance.
func (a *Agent) create(x *engine.Exec, req *tableRequest) error {
	if err := req.ensureRole(x); err != nil {
		return err
	}
	changeTable, err := req.createChangeTable(x)
	if err != nil {
		return err
	}
	if err := req.register(x, changeTable); err != nil {
		return err
	}
	if err := req.createFunctions(x, changeTable); err != nil {
		return err
	}
	return setTracked(x, req.source.ID)
}

// resolve checks the arguments in the order of the parameters.
func resolve(x *engine.Exec, args []sqltypes.Value) (*tableRequest, error) {
	r := &tableRequest{schema: args[0].Str(), name: args[1].Str(), filegroup: args[7]}
	if args[0].IsNull() || r.schema == "" {
		return nil, errEmptyParameter("@source_schema")
	}
	if args[1].IsNull() || r.name == "" {
		return nil, errEmptyParameter("@source_name")
	}
	if strings.EqualFold(r.schema, "cdc") {
		return nil, errOwnSchema()
	}
	r.source = tableNamed(x, r.schema, r.name)
	if r.source == nil || r.source.MSShipped {
		return nil, errNoSourceTable(r.schema, r.name)
	}
	if !args[4].IsNull() {
		// "The role name is trimmed of white space on the right side" (MS docs).
		if r.role = strings.TrimRight(args[4].Str(), " "); r.role == "" {
			return nil, errEmptyRole()
		}
	}
	r.instance = textOrEmpty(args[2])
	if r.instance == "" {
		r.instance = r.schema + "_" + r.name
	}
	if err := r.checkInstance(x); err != nil {
		return nil, err
	}
	if group := textOrEmpty(args[7]); group != "" && !strings.EqualFold(group, primaryFilegroup) {
		return nil, errNoFilegroup(group, x.Database().Name())
	}
	if err := r.resolveIndex(textOrEmpty(args[5])); err != nil {
		return nil, err
	}
	r.netChanges = args[3].Bool()
	if args[3].IsNull() {
		r.netChanges = r.index != nil
	}
	if r.netChanges && r.index == nil {
		return nil, errNoNetKey()
	}
	if r.netChanges && len(r.index.Keys) > maxNetKeys {
		return nil, errTooManyKeys(r.index.Name, r.schema, r.name)
	}
	return r, r.resolveColumns(textOrEmpty(args[6]))
}

// primaryFilegroup is the only filegroup that databases have here.
const primaryFilegroup = "PRIMARY"

// checkInstance refuses a third instance, a taken name and one that is too long.
func (r *tableRequest) checkInstance(x *engine.Exec) error {
	if len([]rune(r.instance)) > maxInstanceName {
		return errInstanceTooLong(r.instance)
	}
	// The lock lets nobody else pass this check until the instance is there.
	list, err := rows(x, `SELECT capture_instance, source_object_id FROM cdc.change_tables WITH (UPDLOCK, HOLDLOCK)`)
	if err != nil {
		return err
	}
	same := 0
	for _, row := range list {
		if row[1].Int64() == r.source.ID {
			same++
		}
	}
	if same >= 2 {
		return errTwoInstances(r.schema, r.name)
	}
	for _, row := range list {
		if x.Database().SameName(row[0].Str(), r.instance) {
			return errInstanceTaken(r.instance)
		}
	}
	if tableNamed(x, "cdc", changeTableName(r.instance)) != nil {
		return errInstanceTaken(r.instance)
	}
	return nil
}

// resolveIndex finds the index that identifies rows: the named one, else the
// primary key.
func (r *tableRequest) resolveIndex(name string) error {
	if name == "" {
		r.index = r.source.PrimaryKey()
		return nil
	}
	r.index = r.source.Index(name)
	if r.index == nil {
		return errNoSuchIndex(name, r.schema, r.name)
	}
	if !r.index.Unique {
		return errIndexNotUnique(name, r.schema, r.name)
	}
	for _, key := range r.index.Keys {
		if r.source.ColumnByID(key.ColumnID).Nullable {
			return errIndexNullable(name, r.schema, r.name)
		}
	}
	return nil
}

// reservedColumns cannot be captured.
var reservedColumns = []string{"__$start_lsn", "__$end_lsn", "__$seqval", "__$operation", "__$update_mask", "__$command_id"}

// resolveColumns takes the listed columns, or all, in the order of the source.
func (r *tableRequest) resolveColumns(list string) error {
	wanted, err := parseColumnList(list)
	if err != nil {
		return err
	}
	for _, name := range wanted {
		if r.source.Column(name) == nil {
			return errColumnList(r.schema, r.name)
		}
	}
	for _, c := range r.source.Columns {
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(name string) bool { return r.source.Column(name) == c }) {
			continue
		}
		if containsFold(reservedColumns, c.Name) {
			return errReservedColumns(r.name)
		}
		r.columns = append(r.columns, c)
	}
	if len(r.columns) > maxCaptured {
		return errTooManyColumns(r.instance, maxCaptured)
	}
	if r.index == nil {
		return nil
	}
	for _, key := range r.index.Keys {
		if !slices.ContainsFunc(r.columns, func(c *engine.TableColumn) bool { return c.ID == key.ColumnID }) {
			return errKeyNotListed()
		}
	}
	return nil
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// ensureRole makes the gating role when it does not exist.
func (r *tableRequest) ensureRole(x *engine.Exec) error {
	if r.role == "" || x.Catalog(x.Database()).HasPrincipal(r.role) {
		return nil
	}
	return run(x, "CREATE ROLE "+quote(r.role))
}
