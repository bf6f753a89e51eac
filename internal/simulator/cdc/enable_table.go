package cdc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

func (a *Agent) registerTableProcedures() {
	null, one, zero := sqltypes.Null(), sqltypes.IntOf(1), sqltypes.IntOf(0)
	a.in.RegisterProcedure("sys", "sp_cdc_enable_table", engine.Procedure{
		Params: []engine.Param{
			{Name: "@source_schema", Type: sysname},
			{Name: "@source_name", Type: sysname},
			{Name: "@capture_instance", Type: sysname, Default: &null},
			{Name: "@supports_net_changes", Type: bitType, Default: &null},
			{Name: "@role_name", Type: sysname},
			{Name: "@index_name", Type: sysname, Default: &null},
			{Name: "@captured_column_list", Type: textType, Default: &null},
			{Name: "@filegroup_name", Type: sysname, Default: &null},
			{Name: "@allow_partition_switch", Type: bitType, Default: &one},
			{Name: "@enable_extended_ddl_handling", Type: bitType, Default: &zero},
		},
		Run: a.enableTable,
	})
	a.in.RegisterProcedure("sys", "sp_cdc_disable_table", engine.Procedure{
		Params: []engine.Param{
			{Name: "@source_schema", Type: sysname},
			{Name: "@source_name", Type: sysname},
			{Name: "@capture_instance", Type: sysname},
		},
		Run: a.disableTable,
	})
}

// tableRequest is what sp_cdc_enable_table was asked for, resolved against the
// source table.
type tableRequest struct {
	schema, name string
	instance     string
	role         string
	filegroup    sqltypes.Value
	netChanges   bool
	partition    bool
	source       *engine.Table
	index        *engine.Index // of net changes, or nil
	columns      []*engine.TableColumn
}

// enableTable is sys.sp_cdc_enable_table (MS docs).
func (a *Agent) enableTable(x *engine.Exec, args []sqltypes.Value) (int32, error) {
	if err := requireOwner(x); err != nil {
		return 1, err
	}
	req, err := resolve(x, args)
	if err != nil {
		return 1, inProcedure(err, "sp_cdc_enable_table_internal")
	}
	if err := req.ensureRole(x); err != nil {
		return 1, err
	}
	changeTable, err := req.createChangeTable(x)
	if err != nil {
		return 1, err
	}
	if err := req.register(x, changeTable); err != nil {
		return 1, err
	}
	if err := setTracked(x, req.source.ID, true); err != nil {
		return 1, err
	}
	return 0, a.ensureJobs(x)
}

// inProcedure names the inner procedure that raises the errors of a request.
func inProcedure(err error, procedure string) error {
	if e, ok := errors.AsType[*sqltypes.Error](err); ok {
		e.Procedure = procedure
	}
	return err
}

// resolve checks the arguments in the order of the parameters.
func resolve(x *engine.Exec, args []sqltypes.Value) (*tableRequest, error) {
	r := &tableRequest{schema: args[0].Str(), name: args[1].Str(), filegroup: args[7], partition: args[8].Bool()}
	if r.schema == "cdc" {
		return nil, errOwnSchema()
	}
	r.source = tableNamed(x, r.schema, r.name)
	if r.source == nil || r.source.MSShipped {
		return nil, errNoSourceTable(r.schema, r.name)
	}
	if !args[4].IsNull() {
		if r.role = args[4].Str(); r.role == "" {
			return nil, errEmptyRole()
		}
	}
	if args[9].Bool() {
		return nil, errExtendedDDL()
	}
	r.instance = orDefault(args[2], r.schema+"_"+r.name)
	if r.instance == "" {
		r.instance = r.schema + "_" + r.name
	}
	if err := r.checkInstance(x); err != nil {
		return nil, err
	}
	if err := r.resolveIndex(orDefault(args[5], "")); err != nil {
		return nil, err
	}
	r.netChanges = args[3].Bool()
	if args[3].IsNull() {
		r.netChanges = r.index != nil
	}
	if r.netChanges && r.index == nil {
		return nil, errNoNetKey()
	}
	return r, r.resolveColumns(orDefault(args[6], ""))
}

// checkInstance refuses a third instance, a taken name and one that is too long.
func (r *tableRequest) checkInstance(x *engine.Exec) error {
	if len([]rune(r.instance)) > 100 {
		return errInstanceTooLong(r.instance)
	}
	list, err := rows(x, `SELECT capture_instance, source_object_id FROM cdc.change_tables`)
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
		if strings.EqualFold(row[0].Str(), r.instance) {
			return errInstanceTaken(r.instance)
		}
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
		if len(wanted) > 0 && !containsFold(wanted, c.Name) {
			continue
		}
		if containsFold(reservedColumns, c.Name) {
			return errReservedColumns(r.name)
		}
		r.columns = append(r.columns, c)
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

// parseColumnList splits @captured_column_list, whose names may be quoted with
// brackets or quotation marks.
func parseColumnList(list string) ([]string, error) {
	var names []string
	for rest := strings.TrimSpace(list); rest != ""; {
		name, tail, err := nextColumn(rest)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(tail), ","))
	}
	return names, nil
}

func nextColumn(s string) (name, rest string, err error) {
	closing := map[byte]string{'[': "]", '"': "\""}[s[0]]
	if closing == "" {
		name, rest, _ = strings.Cut(s, ",")
		return strings.TrimSpace(name), rest, nil
	}
	for s = s[1:]; ; {
		part, tail, found := strings.Cut(s, closing)
		if !found {
			return "", "", errColumnQuoting()
		}
		name += part
		if !strings.HasPrefix(tail, closing) {
			return name, tail, nil
		}
		name += closing
		s = tail[1:]
	}
}

// ensureRole makes the gating role when it does not exist.
func (r *tableRequest) ensureRole(x *engine.Exec) error {
	if r.role == "" || x.Catalog(x.Database()).HasPrincipal(r.role) {
		return nil
	}
	return run(x, "CREATE ROLE "+quote(r.role))
}

// createChangeTable makes cdc.<instance>_CT with its indexes and returns its
// object id.
func (r *tableRequest) createChangeTable(x *engine.Exec) (int64, error) {
	name := changeTableName(r.instance)
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE cdc.%s ([__$start_lsn] binary(10) NOT NULL, [__$end_lsn] binary(10) NULL, [__$seqval] binary(10) NOT NULL, "+
		"[__$operation] int NOT NULL, [__$update_mask] varbinary(128) NULL", quote(name))
	for _, c := range r.columns {
		fmt.Fprintf(&b, ", %s %s NULL", quote(c.Name), typeText(c.Type))
	}
	b.WriteString(", [__$command_id] int NULL)")
	order := "[__$start_lsn], [__$command_id], [__$seqval], [__$operation]"
	statements := []string{
		b.String(),
		fmt.Sprintf("CREATE UNIQUE CLUSTERED INDEX %s ON cdc.%s (%s)", quote(name+"_clustered_idx"), quote(name), order),
	}
	if r.netChanges {
		var keys []string
		for _, key := range r.index.Keys {
			keys = append(keys, quote(r.source.ColumnByID(key.ColumnID).Name))
		}
		statements = append(statements, fmt.Sprintf("CREATE INDEX %s ON cdc.%s (%s, %s)", quote(name+"_idx"), quote(name), strings.Join(keys, ", "), order))
	}
	for _, sql := range statements {
		if err := run(x, sql); err != nil {
			return 0, err
		}
	}
	id := tableNamed(x, "cdc", name).ID
	return id, markShipped(x, id)
}

// register writes the instance into the cdc tables. From here on the source
// is locked until the transaction ends: writers that were open have ended (and
// have lower commit LSNs than the instance's start), later ones are captured.
func (r *tableRequest) register(x *engine.Exec, changeTable int64) error {
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	if err := txn.LockTable(r.source.ID, storage.LockX); err != nil {
		return err
	}
	start := x.Database().Storage().AllocLSN()
	index, role := sqltypes.Null(), sqltypes.Null()
	if r.index != nil {
		index = sqltypes.StringOf(r.index.Name)
	}
	if r.role != "" {
		role = sqltypes.StringOf(r.role)
	}
	err = run(x, `INSERT cdc.change_tables (object_id, version, source_object_id, capture_instance, start_lsn, end_lsn, supports_net_changes,
	has_drop_pending, role_name, index_name, filegroup_name, create_date, partition_switch)
VALUES (@object, 0, @source, @instance, @start, NULL, @net, NULL, @role, @index, @filegroup, @now, @switch)`,
		arg("object", changeTable), arg("source", r.source.ID), arg("instance", r.instance), arg("start", start), arg("net", r.netChanges),
		arg("role", typed{sysname, role}), arg("index", typed{sysname, index}), arg("filegroup", typed{sysname, r.filegroup}),
		arg("now", typed{datetimeType, localTime(x.Now(), x.Location())}), arg("switch", r.partition))
	if err != nil {
		return err
	}
	for i, c := range r.columns {
		if err := r.registerColumn(x, changeTable, c, i+1); err != nil {
			return err
		}
	}
	return r.registerIndex(x, changeTable)
}

func (r *tableRequest) registerColumn(x *engine.Exec, changeTable int64, c *engine.TableColumn, ordinal int) error {
	mask := sqltypes.Null()
	if c.MaskedWith != "" {
		mask = sqltypes.StringOf(c.MaskedWith)
	}
	return run(x, `INSERT cdc.captured_columns (object_id, column_name, column_id, column_type, column_ordinal, is_computed, masking_function)
VALUES (@object, @name, @column, @type, @ordinal, @computed, @mask)`,
		arg("object", changeTable), arg("name", c.Name), arg("column", c.ID), arg("type", c.Type.Name()), arg("ordinal", ordinal),
		arg("computed", c.Computed != ""), arg("mask", typed{textType, mask}))
}

func (r *tableRequest) registerIndex(x *engine.Exec, changeTable int64) error {
	if r.index == nil {
		return nil
	}
	for i, key := range r.index.Keys {
		err := run(x, `INSERT cdc.index_columns (object_id, column_name, index_ordinal, column_id) VALUES (@object, @name, @ordinal, @column)`,
			arg("object", changeTable), arg("name", r.source.ColumnByID(key.ColumnID).Name), arg("ordinal", i+1), arg("column", key.ColumnID))
		if err != nil {
			return err
		}
	}
	return nil
}
