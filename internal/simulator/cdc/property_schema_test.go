package cdc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// columnKind is a type that random tables have, with literals of it.
type columnKind struct {
	declaration string
	values      []string
}

var columnKinds = []columnKind{
	{"int NULL", []string{"NULL", "0", "7"}},
	{"bit NULL", []string{"NULL", "0", "1"}},
	{"decimal(10,2) NULL", []string{"NULL", "1.25", "-3"}},
	{"float NULL", []string{"NULL", "1.5e10", "0"}},
	{"money NULL", []string{"NULL", "12.3456"}},
	{"varchar(10) NULL", []string{"NULL", "'a'", "'A'", "''"}},
	{"nchar(4) NULL", []string{"NULL", "N'ab'"}},
	{"varbinary(8) NULL", []string{"NULL", "0x", "0x0102"}},
	{"datetime2(3) NULL", []string{"NULL", "'2024-01-02T03:04:05.678'"}},
	{"uniqueidentifier NULL", []string{"NULL", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'"}},
	{"sql_variant NULL", []string{"NULL", "CONVERT(int, 5)", "N'x'"}},
}

// randomTable is a table with random columns and what is known of its two instances.
type randomTable struct {
	kinds   []columnKind
	keyed   bool
	unique  bool
	subset  []int // the columns that the second instance captures, besides id
	columns []string
}

func drawTable(t *rapid.T) randomTable {
	r := randomTable{keyed: rapid.Bool().Draw(t, "keyed"), unique: rapid.Bool().Draw(t, "unique")}
	for i := range rapid.IntRange(1, 9).Draw(t, "columns") {
		r.kinds = append(r.kinds, rapid.SampledFrom(columnKinds).Draw(t, "kind"))
		r.columns = append(r.columns, fmt.Sprintf("c%d", i))
		if rapid.Bool().Draw(t, "captured") {
			r.subset = append(r.subset, i)
		}
	}
	return r
}

func (r *randomTable) create(s *server) {
	key := "id int NOT NULL"
	if r.keyed {
		key += " PRIMARY KEY"
	}
	u := "u int NOT NULL"
	if r.unique {
		u += " UNIQUE"
	}
	list := []string{key, u}
	for i, k := range r.kinds {
		list = append(list, r.columns[i]+" "+k.declaration)
	}
	s.exec("CREATE TABLE t (" + strings.Join(list, ", ") + ")")
	s.track("t", "@capture_instance = N'whole'")
	s.track("t", "@capture_instance = N'part'", "@captured_column_list = N'"+strings.Join(r.captured(), ",")+"'")
}

// captured are the columns of the second instance.
func (r *randomTable) captured() []string {
	list := []string{"id"}
	for _, i := range r.subset {
		list = append(list, r.columns[i])
	}
	return list
}

// all are the columns of the table.
func (r *randomTable) all() []string { return append([]string{"id", "u"}, r.columns...) }

// statement draws a change of the table.
func (r *randomTable) statement(t *rapid.T) string {
	id, n := rapid.IntRange(1, 6).Draw(t, "id"), rapid.IntRange(1, 9).Draw(t, "n")
	i := rapid.IntRange(0, len(r.kinds)-1).Draw(t, "column")
	v := rapid.SampledFrom(r.kinds[i].values).Draw(t, "value")
	values := func(id, u int) string {
		list := []string{fmt.Sprint(id), fmt.Sprint(u)}
		for _, k := range r.kinds {
			list = append(list, rapid.SampledFrom(k.values).Draw(t, "value"))
		}
		return "(" + strings.Join(list, ", ") + ")"
	}
	switch rapid.IntRange(0, 6).Draw(t, "what") {
	case 0:
		return "INSERT t VALUES " + values(id, n)
	case 1:
		return "INSERT t VALUES " + values(id, n) + ", " + values(id+1, n+1)
	case 2:
		return fmt.Sprintf("UPDATE t SET %s = %s WHERE id >= %d", r.columns[i], v, id)
	case 3:
		return fmt.Sprintf("UPDATE t SET id = id + %d WHERE id > %d", n, id)
	case 4:
		return fmt.Sprintf("UPDATE t SET u = u + 1, %s = %s", r.columns[i], v)
	case 5:
		return fmt.Sprintf("MERGE t USING (VALUES (%d, %d)) s (id, u) ON t.id = s.id WHEN MATCHED THEN UPDATE SET u = s.u WHEN NOT MATCHED THEN INSERT (id, u) VALUES (s.id, s.u);", id, n)
	default:
		return fmt.Sprintf("DELETE t WHERE id = %d", id)
	}
}

// TestCapture_RandomSchemas changes random tables in two sessions with transactions,
// rollbacks and savepoints, and checks both instances: their rows replay to the
// table, masks are the changed columns, command ids are unique and ascend with their
// transaction, LSNs ascend with commits, the all-changes function shows the same
// rows, net changes are the table, and the instances agree about what they both have.
func TestCapture_RandomSchemas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := start(t)
		table := drawTable(rt)
		table.create(s)
		second := s.login("sa", "secret", "shop")
		defer second.Close()
		sessions := []*engine.Session{s.session, second}
		batch(t, second, "SET LOCK_TIMEOUT 0")
		batch(t, s.session, "SET LOCK_TIMEOUT 0")
		for range rapid.IntRange(1, 15).Draw(rt, "batches") {
			session := rapid.SampledFrom(sessions).Draw(rt, "session")
			batch(t, session, drawBatch(rt, &table))
			if rapid.IntRange(0, 4).Draw(rt, "scan") == 0 {
				s.capture()
			}
		}
		for _, session := range sessions {
			batch(t, session, "IF @@TRANCOUNT > 0 COMMIT")
		}
		s.capture()
		table.check(rt, s, "whole", table.all())
		table.check(rt, s, "part", table.captured())
		table.checkNet(rt, s)
		require.Empty(rt, s.query(`SELECT 1 FROM cdc.part_CT p WHERE NOT EXISTS (SELECT 1 FROM cdc.whole_CT w
WHERE w.[__$start_lsn] = p.[__$start_lsn] AND w.[__$seqval] = p.[__$seqval] AND w.[__$operation] = p.[__$operation])`), "the instances agree")
	})
}

// drawBatch wraps statements in nothing, a transaction, a rollback or a savepoint.
func drawBatch(t *rapid.T, r *randomTable) string {
	first, then := r.statement(t), r.statement(t)
	return rapid.SampledFrom([]string{
		first,
		"BEGIN TRAN; " + first + "; " + then + "; IF @@TRANCOUNT > 0 COMMIT",
		"BEGIN TRAN; " + first + "; IF @@TRANCOUNT > 0 ROLLBACK",
		"BEGIN TRAN; " + first + "; SAVE TRAN p; " + then + "; IF XACT_STATE() = 1 ROLLBACK TRAN p; IF @@TRANCOUNT > 0 COMMIT",
	}).Draw(t, "batch")
}

// check replays an instance's rows as a bag, since a table may have no key.
func (r *randomTable) check(t *rapid.T, s *server, instance string, columns []string) {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = "ISNULL(CONVERT(varchar(100), " + c + ", 0), 'null') COLLATE Latin1_General_BIN2"
		if r.isBinary(c) {
			texts[i] = "ISNULL(CONVERT(varchar(100), " + c + ", 1), 'null')"
		}
	}
	list := strings.Join(texts, ", ")
	rows := s.exec(fmt.Sprintf(`SELECT [__$start_lsn], [__$command_id], [__$operation], [__$update_mask], %s FROM cdc.%s_CT
ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]`, list, instance)).rows
	bag := map[string]int{}
	var start string
	var command int64
	var before []string
	for _, row := range rows {
		values := make([]string, len(columns))
		for i := range columns {
			values[i] = row[4+i].Str()
		}
		key, op := strings.Join(values, "|"), row[2].Int64()
		if row[0].Raw() != start {
			start, command = row[0].Raw(), 0
		}
		if op == 4 {
			require.Equal(t, command, row[1].Int64(), "an update has one command id")
		} else {
			require.Greater(t, row[1].Int64(), command)
		}
		command = row[1].Int64()
		switch op {
		case 1, 3:
			require.Positive(t, bag[key], "%s: %s is not there", instance, key)
			bag[key]--
			before = values
		case 2, 4:
			bag[key]++
		}
		if op == 4 {
			require.Equal(t, changedMask(before, values), []byte(row[3].Raw()), "%v %v", before, values)
		}
	}
	var got []string
	for key, n := range bag {
		for range n {
			got = append(got, key)
		}
	}
	var want []string
	for _, row := range s.exec("SELECT " + list + " FROM t").rows {
		values := make([]string, len(row))
		for i := range row {
			values[i] = row[i].Str()
		}
		want = append(want, strings.Join(values, "|"))
	}
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got, instance)
	if len(rows) > 0 {
		require.Equal(t, fmt.Sprint(len(rows)), s.value(fmt.Sprintf(`DECLARE @a binary(10) = sys.fn_cdc_get_min_lsn('%[1]s'), @b binary(10) = sys.fn_cdc_get_max_lsn();
SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_%[1]s(@a, @b, N'all update old')`, instance)))
	}
}

// checkNet compares the net changes since the empty table with the table: each of its
// rows is one insert.
func (r *randomTable) checkNet(t *rapid.T, s *server) {
	if !r.keyed || s.value("SELECT COUNT(*) FROM cdc.whole_CT") == "0" {
		return
	}
	net := s.query(`DECLARE @a binary(10) = sys.fn_cdc_get_min_lsn('whole'), @b binary(10) = sys.fn_cdc_get_max_lsn();
SELECT [__$operation], id, u FROM cdc.fn_cdc_get_net_changes_whole(@a, @b, N'all') ORDER BY id`)
	require.Equal(t, s.query("SELECT 2, id, u FROM t ORDER BY id"), net)
}

func (r *randomTable) isBinary(column string) bool {
	i := slices.Index(r.columns, column)
	return i >= 0 && strings.HasPrefix(r.kinds[i].declaration, "varbinary")
}

// changedMask is the mask computed the slow way.
func changedMask(before, after []string) []byte {
	mask := make([]byte, (len(after)+7)/8)
	for i := range after {
		if before[i] != after[i] {
			mask[len(mask)-1-i/8] |= 1 << (i % 8)
		}
	}
	return mask
}
