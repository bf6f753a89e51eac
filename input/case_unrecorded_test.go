package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
)

const (
	placeholder       = `"__debezium_unavailable_value"`
	binaryPlaceholder = `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`
)

// wideTable creates a table of n columns, c1 the key and the others int but
// for one of a type of its own.
func wideTable(n, special int, sqlType string) string {
	columns := []string{"c1 int NOT NULL PRIMARY KEY"}
	for i := 2; i <= n; i++ {
		t := "int"
		if i == special {
			t = sqlType
		}
		columns = append(columns, fmt.Sprintf("c%d %s NULL", i, t))
	}
	return "CREATE TABLE dbo.t (" + strings.Join(columns, ", ") + ")\n" + enable("dbo", "t")
}

// A large value that an update did not touch is the placeholder and a real
// NULL is null, for any number of columns and wherever the large one stands:
// the mask is a big-endian number, and readers that took its bytes from the
// front were wrong beyond eight columns (debezium/debezium#8078, dbz#2650).
func TestCases_UpdateMaskAtAnyWidth(t *testing.T) {
	types := []struct{ sql, value, json, unavailable string }{
		{"nvarchar(max)", "N'x'", `"x"`, placeholder},
		{"varchar(max)", "'x'", `"x"`, placeholder},
		{"varbinary(max)", "0x01", `"AQ=="`, binaryPlaceholder},
	}
	widths := []int{3, 7, 8, 9, 10, 15, 16, 17, 24, 25, 33}
	for i := range race.Every(len(widths), 4) {
		n := widths[i]
		for _, special := range []int{2, n / 2, n - 1, n} {
			if special < 2 {
				continue
			}
			c := types[(n+special)%len(types)]
			t.Run(fmt.Sprintf("%d columns, %s in %d", n, c.sql, special), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					large, other := fmt.Sprintf("c%d", special), fmt.Sprintf("c%d", n)
					if special == n {
						other = "c2"
					}
					server := newQuietServer(t, wideTable(n, special, c.sql)+
						fmt.Sprintf("INSERT dbo.t (c1, %[1]s) VALUES (1, %[2]s), (2, NULL)\n", large, c.value))
					p := startPipeline(t, server, settings{})
					require.Len(t, p.settled(), 2)
					change(t, server, lines(
						fmt.Sprintf("UPDATE dbo.t SET %s = 7 WHERE c1 = 1", other),
						fmt.Sprintf("UPDATE dbo.t SET %s = 7 WHERE c1 = 2", other),
						fmt.Sprintf("UPDATE dbo.t SET %s = NULL WHERE c1 = 1", large),
						fmt.Sprintf("UPDATE dbo.t SET %s = %s WHERE c1 = 2", large, c.value),
						fmt.Sprintf("UPDATE dbo.t SET %s = NULL, %s = 8 WHERE c1 = 2", large, other)))
					got := p.settled()
					require.Len(t, got, 5)
					for i, want := range []struct{ before, after string }{
						{c.unavailable, c.json},
						{c.unavailable, c.unavailable},
						{c.json, "null"},
						{"null", c.json},
						{c.json, "null"},
					} {
						e := open(t, got[i])
						assert.Equal(t, want.before, string(e.Before[large]), "before of update %d", i+1)
						assert.Equal(t, want.after, string(e.After[large]), "after update %d", i+1)
						assert.Len(t, e.After, n)
					}
				})
			})
		}
	}
}

// The ordinals of the mask are those of the capture instance, which may leave
// columns out, not those of the table.
func TestCases_UpdateMaskOfSomeColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, lines(
			"CREATE TABLE dbo.t (x1 int, x2 int, x3 int, id int NOT NULL PRIMARY KEY, x4 int, big nvarchar(max), x5 int, n int)",
			"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, big, n'",
			"INSERT dbo.t (id, big) VALUES (1, N'x')"))
		p := startPipeline(t, server, settings{})
		p.want(`r dbo.t {"id":1,"big":"x","n":null}`)
		change(t, server, "UPDATE dbo.t SET n = 1\nUPDATE dbo.t SET big = NULL\nUPDATE dbo.t SET x1 = 1, x4 = 2\nUPDATE dbo.t SET n = 2")
		got := p.settled()
		require.Len(t, got, 3, "an update of columns that are not captured is none")
		assert.JSONEq(t, placeholder, string(open(t, got[0]).Before["big"]))
		assert.Equal(t, "null", string(open(t, got[1]).After["big"]))
		assert.JSONEq(t, placeholder, string(open(t, got[2]).After["big"]))
	})
}

// text, ntext and image are never in deletes and before images, not even NOT
// NULL ones: they are the placeholder, and an update that sets one to NULL is
// null (estuary/connectors#1927, #1929).
func TestCases_OldLargeTypesInDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, lines(
			"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a text NOT NULL, b ntext NOT NULL, c image NOT NULL, n text NULL)",
			enable("dbo", "t"),
			"INSERT dbo.t VALUES (1, 'a', N'b', 0x01, 'n'), (2, '', N'', 0x, NULL)"))
		p := startPipeline(t, server, settings{})
		p.want(`r dbo.t {"id":1,"a":"a","b":"b","c":"AQ==","n":"n"}`, `r dbo.t {"id":2,"a":"","b":"","c":"","n":null}`)
		change(t, server, "UPDATE dbo.t SET n = NULL WHERE id = 1\nDELETE dbo.t")
		unavailable := `"a":` + placeholder + `,"b":` + placeholder + `,"c":` + binaryPlaceholder + `,"n":` + placeholder + `}`
		got := p.want(
			`u dbo.t {"id":1,"a":"a","b":"b","c":"AQ==","n":null}`,
			`d dbo.t {"id":1,`+unavailable, `tombstone dbo.t {"id":1}`,
			`d dbo.t {"id":2,`+unavailable, `tombstone dbo.t {"id":2}`)
		assert.JSONEq(t, `{"id":1,`+unavailable, rowText(t, got[0].Value, "before"))
		p.quiet()
	})
}

// A NULL that change data capture made in a NOT NULL column, as was seen for
// bit in deletes (estuary/connectors#2796), is written as null, once warned
// of, and does not stop the stream; the field is optional from then on.
func TestCases_UnexpectedNullDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, lines(
			"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, b bit NOT NULL, s varchar(9) NOT NULL)",
			enable("dbo", "t"),
			"INSERT dbo.t VALUES (1, 1, 'a'), (2, 0, 'b'), (3, 1, 'c')"))
		kept := newStore()
		p := startPipeline(t, server, settings{store: kept})
		require.Len(t, p.settled(), 3)
		p.stop()
		change(t, server, "DELETE dbo.t WHERE id < 3\nUPDATE dbo.t SET s = 'd'")
		sqlExec(t, server, "USE db\nUPDATE cdc.dbo_t_CT SET b = NULL, s = NULL WHERE __$operation = 1")
		p = startPipeline(t, server, settings{store: kept, fields: "schemas_enable: true"})
		got := p.settled()
		require.Len(t, got, 5)
		for i, row := range map[int]string{
			0: `{"id":1,"b":null,"s":null}`, 2: `{"id":2,"b":null,"s":null}`, 4: `{"id":3,"b":true,"s":"c"}`,
		} {
			assert.JSONEq(t, row, rowText(t, got[i].Value, "payload", "before"))
			assert.Contains(t, got[i].Value, `{"type":"boolean","optional":true,"field":"b"}`)
		}
		log := warnings(p.logs.String())
		assert.Equal(t, 2, strings.Count(log, "NOT NULL"), "one warning for each column:\n%s", log)
	})
}
