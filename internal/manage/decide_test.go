package manage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

const owner = Owner("m12345678")

// made is when the instances of tests were made.
var made = time.Date(2026, 11, 30, 9, 30, 20, 0, time.UTC)

func at(n byte) (l lsn.LSN) {
	l[9] = n
	return l
}

// cols are columns with the ids 1, 2 and so on; an empty name leaves its id out.
func cols(names ...string) (list []sqlserver.ManagedColumn) {
	for i, name := range names {
		if name != "" {
			list = append(list, sqlserver.ManagedColumn{ID: i + 1, Name: name})
		}
	}
	return list
}

// added are statements that add a column each, after the instances were made.
func added(names ...string) (list []sqlserver.DDL) {
	for i, name := range names {
		list = append(list, sqlserver.DDL{Command: "ALTER TABLE dbo.t ADD " + name + " int", LSN: at(byte(40 + i)), Time: made.Add(time.Hour).Truncate(time.Minute)})
	}
	return list
}

func instance(name string, start byte, captured []sqlserver.ManagedColumn, ddl ...sqlserver.DDL) sqlserver.ManagedInstance {
	return sqlserver.ManagedInstance{
		Name: name, ObjectID: int32(start), CreateDate: made, StartLSN: at(start), PartitionSwitch: true, Captured: captured, DDL: ddl,
	}
}

func table(columns []sqlserver.ManagedColumn, instances ...sqlserver.ManagedInstance) *sqlserver.ManagedTable {
	return &sqlserver.ManagedTable{ObjectID: 9, Schema: "dbo", Name: "t", Columns: columns, Instances: instances}
}

func TestDecide(t *testing.T) {
	const (
		enable  = "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL, @capture_instance = "
		disable = " EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N't', @capture_instance = "
		ours1   = "dbo_t_m12345678_1"
		ours2   = "dbo_t_m12345678_2"
	)
	computed := append(cols("id", "v"), sqlserver.ManagedColumn{ID: 3, Name: "twice", Computed: true})
	like := instance("theirs", 10, cols("id", "v"), added("w")...)
	like.Role, like.Index, like.Filegroup, like.NetChanges, like.PartitionSwitch = "r'1", "ix", "FG1", true, false
	noIndex := instance("theirs", 10, cols("id", "v"), added("w")...)
	noIndex.NetChanges = true
	older := sqlserver.DDL{Command: "ALTER TABLE dbo.t ADD secret int", LSN: at(5), Time: made.Truncate(time.Minute)}
	longAgo, cleaned, rounded := older, older, older
	longAgo.Time = made.Add(-time.Hour)
	cleaned.Time = made.Add(time.Hour)
	rounded.Time = made.Truncate(time.Minute).Add(time.Minute)
	sameMinute := older
	sameMinute.LSN = at(11)

	for _, test := range []struct {
		name    string
		table   *sqlserver.ManagedTable
		terms   Terms
		want    string // statement
		reason  string
		remark  string
		settled string // name of the instance that is read alone
		last    int    // the highest column_id that was seen first
		read    bool   // changes of the table were
	}{
		{name: "no instance, nobody asked", table: table(cols("id"))},
		{
			name:  "three, read while one went and one came",
			table: table(cols("id"), instance(ours1, 10, cols("id")), instance(ours2, 20, cols("id")), instance("third", 30, cols("id"))), settled: "third",
		},
		{
			name: "no instance", table: table(cols("id")), terms: Terms{Enable: true},
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0", reason: "no capture instance",
		},
		{name: "no instance, of change data capture itself", table: &sqlserver.ManagedTable{Schema: "CDC", Name: "x_CT"}, terms: Terms{Enable: true}},
		{
			name: "an instance that was read is gone", table: table(cols("id")), terms: Terms{Enable: true}, read: true,
			remark: "somebody has disabled it; to have one, run " + enable + "N'" + ours1 + "', @supports_net_changes = 0",
		},
		{
			name: "an instance that may not be read", table: table(cols("id"), instance("hidden", 10, cols("id"))), terms: Terms{Enable: true},
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0",
		},
		{
			name: "two instances that may not be read", table: table(cols("id"), instance("hidden", 10, cols("id")), instance("hidden too", 20, cols("id"))), terms: Terms{Enable: true},
			remark: `"hidden" and "hidden too", of which none may be read`,
		},
		{
			name: "the name may not be read", table: table(cols("id")),
			terms:  Terms{Enable: true, Readable: func(string) bool { return false }},
			remark: "let capture_instance_include_list match it",
		},
		{name: "nothing to do", table: table(cols("id", "v"), instance("theirs", 10, cols("id", "v"))), terms: Terms{Enable: true}},
		{name: "a computed column more", table: table(computed, instance(ours1, 10, cols("id", "v")))},
		{
			name: "a column more, on record", table: table(cols("id", "v", "w"), instance("theirs", 10, cols("id", "v"), added("w")...)),
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0", reason: `"theirs" lacks "w", added since`,
		},
		{
			name: "a column more, not there before", table: table(cols("id", "v", "w"), instance("theirs", 10, cols("id", "v"))), last: 2,
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0",
		},
		{
			name: "a column more than one of ours", table: table(cols("id", "v", "w"), instance(ours1, 10, cols("id", "v"))),
			want: enable + "N'" + ours2 + "', @supports_net_changes = 0",
		},
		{name: "a column that was left out", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v")))},
		{name: "a column that was left out, seen before", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v"))), last: 3},
		{name: "a column that was left out of ours", table: table(cols("id", "v", "secret"), instance(ours1+"p", 10, cols("id", "v")))},
		{name: "a column that was added before", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v"), older))},
		{name: "a column that was added long before", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v"), longAgo))},
		{name: "a column that was added before, its time rounded up", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v"), rounded))},
		{
			name: "a column more, whose statement was cleaned up to", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v"), cleaned)),
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0",
		},
		{
			name: "a column that was added in the same minute", table: table(cols("id", "v", "secret"), instance("theirs", 10, cols("id", "v"), sameMinute)),
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0",
		},
		{
			name: "a column more, one left out", table: table(cols("id", "v", "secret", "w]"), instance("theirs", 10, cols("id", "v"), added("[w]]]")...)),
			want: "IF (SELECT MAX(column_id) FROM sys.columns WHERE object_id = 9) = 4 " + enable + "N'" + ours1 + "p', @supports_net_changes = 0, @captured_column_list = N'[id], [v], [w]]]'",
		},
		{
			name: "the properties of the one before", table: table(cols("id", "v", "w"), like),
			want: "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = N'r''1', @capture_instance = N'" + ours1 + "', @supports_net_changes = 1" +
				", @index_name = N'ix', @filegroup_name = N'FG1', @allow_partition_switch = 0",
		},
		{
			name: "net changes without their index", table: table(cols("id", "v", "w"), noIndex),
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0",
		},
		{
			name: "a column less", table: table(cols("id"), instance("theirs", 10, cols("id", "v"))),
			want: enable + "N'" + ours1 + "', @supports_net_changes = 0", reason: `"theirs" has "v", dropped since`,
		},
		{
			name: "a column of the same name", table: table(cols("id", "", "v"), instance(ours1, 10, cols("id", "v"))),
			want: enable + "N'" + ours2 + "', @supports_net_changes = 0", reason: `lacks "v", added since and has "v", dropped since`,
		},

		{name: "two instances, the older one is read", table: table(cols("id", "v"), instance(ours1, 10, cols("id")), instance(ours2, 20, cols("id", "v")))},
		{
			name: "two instances, the older one is ours and read to its end", table: table(cols("id", "v"), instance(ours1, 10, cols("id")), instance(ours2, 20, cols("id", "v"))), settled: ours2,
			want: "IF EXISTS (SELECT 1 FROM cdc.change_tables WHERE object_id = 10 AND capture_instance = N'" + ours1 + "')" + disable + "N'" + ours1 + "'",
		},
		{name: "two instances, the older one is not ours", table: table(cols("id", "v"), instance("theirs", 10, cols("id")), instance(ours1, 20, cols("id", "v"))), settled: ours1},
		{
			name: "two instances, the newer one is not ours", table: table(cols("id", "v"), instance(ours1, 10, cols("id")), instance("theirs", 20, cols("id", "v"))), settled: "theirs",
			want: "IF EXISTS (SELECT 1 FROM cdc.change_tables WHERE object_id = 10 AND capture_instance = N'" + ours1 + "')" + disable + "N'" + ours1 + "'",
		},
		{
			name: "two instances, a third is needed and the older one is ours", table: table(cols("id", "v", "w"), instance(ours1, 10, cols("id")), instance(ours2, 20, cols("id", "v"))), settled: ours2,
			want: "IF EXISTS (SELECT 1 FROM cdc.change_tables WHERE object_id = 10 AND capture_instance = N'" + ours1 + "')" + disable + "N'" + ours1 + "'",
		},
		{name: "two instances, a third is needed and the older one is still read", table: table(cols("id", "v", "w"), instance(ours1, 10, cols("id")), instance(ours2, 20, cols("id", "v")))},
		{
			name: "two instances, a third is needed and the older one is not ours", table: table(cols("id", "v", "w"), instance("theirs", 10, cols("id")), instance(ours1, 20, cols("id", "v"))), settled: ours1,
			remark: `"` + ours1 + `" lacks "w", added since, and there is no room for another, because "theirs" was not made by this input; once nobody reads that, run` + disable + "N'theirs'",
		},
		{name: "two instances, the newer one is read by others and ours is read", table: table(cols("id", "v"), instance(ours1, 10, cols("id", "v")), instance("hidden", 20, cols("id"))), settled: ours1},
	} {
		t.Run(test.name, func(t *testing.T) {
			terms := test.terms
			terms.Owner = owner
			if terms.Readable == nil {
				terms.Readable = func(name string) bool { return name != "hidden" && name != "hidden too" }
			}
			terms.Read = func(table int32) bool { return test.read }
			terms.Settled = func(ci *sqlserver.ManagedInstance) bool { return ci.Name == test.settled }
			terms.LastColumn = func(*sqlserver.ManagedInstance) int { return test.last }
			for _, ci := range test.table.Instances {
				terms.Names = append(terms.Names, ci.Name)
			}
			plan := Decide(test.table, terms)
			assert.Equal(t, test.want, plan.Statement())
			assert.Contains(t, plan.Reason, test.reason)
			assert.Contains(t, plan.Remark, test.remark)
			assert.Equal(t, test.remark != "", plan.Remark != "")
		})
	}
}

func TestUnrecorded(t *testing.T) {
	before, behind := cols("id"), cols("id", "v", "w")
	for _, test := range []struct {
		name    string
		table   *sqlserver.ManagedTable
		settled bool
		want    string
	}{
		{"one instance", table(behind, instance("theirs", 10, behind)), true, ""},
		{"not ours", table(behind, instance("theirs", 10, before, added("v", "w")...), instance("theirs too", 60, behind)), true, ""},
		{"no start yet", table(behind, instance("theirs", 10, before, added("v", "w")...), instance("dbo_t_m12345678_1", 0, behind)), false, ""},
		{"no other columns", table(before, instance("theirs", 10, behind), instance("dbo_t_m12345678_1", 60, before)), true, ""},
		{
			"both on record", table(behind, instance("theirs", 10, before, added("v", "w")...), instance("dbo_t_m12345678_1", 60, behind)), false,
			`the columns "v", "w" for changes from ` + at(40).String() + " to " + at(60).String(),
		},
		{"one not on record yet", table(behind, instance("theirs", 10, before, added("w")...), instance("dbo_t_m12345678_1", 60, behind)), false, ""},
		{
			"none on record", table(behind, instance("theirs", 10, before), instance("dbo_t_m12345678_1", 60, behind)), true,
			`the columns "v", "w" for changes before ` + at(60).String(),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := Unrecorded(test.table, Terms{Owner: owner, Settled: func(*sqlserver.ManagedInstance) bool { return test.settled }})
			assert.Equal(t, test.want != "", text != "")
			assert.Contains(t, text, test.want)
		})
	}
}
