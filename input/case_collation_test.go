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

// Where names are case sensitive, tables and columns that differ only in case
// are others (risingwavelabs/risingwave#18032: a lower-cased map made one of
// them; Debezium DBZ-1051).
func TestCases_NamesThatDifferInCase(t *testing.T) {
	for _, collation := range []string{"SQL_Latin1_General_CP1_CS_AS", "Latin1_General_BIN2", "Turkish_CS_AS", "Latin1_General_100_CS_AS_KS_WS_SC_UTF8"} {
		t.Run(collation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := collatedServer(t, collation)
				server.StopAgent()
				names := []string{"Orders", "orders", "ORDERS"}
				var tables, rows strings.Builder
				for i, name := range names {
					fmt.Fprintf(&tables, "CREATE TABLE dbo.%s (A int NOT NULL, a int NOT NULL, v varchar(9), V varchar(9), PRIMARY KEY (A, a))\n%s", name, enable("dbo", name))
					fmt.Fprintf(&rows, "INSERT dbo.%s (A, a, v, V) VALUES (%d, 1, 'low', 'UP'), (%d, 2, 'low', 'UP')\n", name, i, i)
				}
				change(t, server, tables.String())
				sqlExec(t, server, "USE db\nGO\n"+rows.String())
				p := startPipeline(t, server, settings{fields: pageSizes(1)})
				snapshot := p.settled()
				require.NoError(t, server.CaptureNow("db"))
				stream := p.settled()
				want := map[string][]string{}
				for i, name := range names {
					for a := 1; a <= 2; a++ {
						key := fmt.Sprintf(`{"A":%d,"a":%d`, i, a)
						want["dbo."+name] = append(want["dbo."+name], key+`} `+key+`,"v":"low","V":"UP"}`)
					}
				}
				assert.Equal(t, want, images(t, snapshot))
				assert.Equal(t, want, images(t, stream))
				change(t, server, "UPDATE dbo.orders SET V = 'x' WHERE a = 1\nDELETE dbo.Orders WHERE A = 0 AND a = 2\nGO")
				assert.ElementsMatch(t, []string{
					`u dbo.orders {"A":1,"a":1,"v":"low","V":"x"}`,
					`d dbo.Orders {"A":0,"a":2,"v":"low","V":"UP"}`,
					`tombstone dbo.Orders {"A":0,"a":2}`,
				}, shorts(p.settled()))
			})
		})
	}
}

// In Turkish i and I are two letters, also where case does not count: neither
// the catalogue's names nor those of the statements may be folded.
func TestCases_TurkishNames(t *testing.T) {
	for collation, names := range map[string][]string{
		"Turkish_CI_AS":                   {"Item", "item", "TIME", "KIM", "Kim", "ID", "id"},
		"Turkish_CS_AS":                   {"I", "i", "İ", "ı"},
		"Turkish_BIN":                     {"Iİ", "ıi"},
		"Turkish_100_CI_AI":               {"Iİıi"},
		"Turkish_CI_AI":                   {"INSERTED", "inserted"},
		"SQL_Latin1_General_CP1254_CI_AS": {"Itır", "ITIR2"},
	} {
		t.Run(collation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := collatedServer(t, collation)
				server.StopAgent()
				var tables, rows strings.Builder
				want := map[string][]string{}
				for i, name := range names {
					fmt.Fprintf(&tables, "CREATE TABLE dbo.%s (%s int NOT NULL PRIMARY KEY, %s varchar(20))\n%s",
						bracketed(name), bracketed(name), bracketed(name+"2"), enableAs("dbo", name, fmt.Sprintf("i%d", i)))
					fmt.Fprintf(&rows, "INSERT dbo.%s VALUES (1, N'ışıkİI'), (2, 'i')\n", bracketed(name))
					want["dbo."+name] = []string{
						fmt.Sprintf(`{"%s":1} {"%s":1,"%s2":"ışıkİI"}`, name, name, name),
						fmt.Sprintf(`{"%s":2} {"%s":2,"%s2":"i"}`, name, name, name),
					}
				}
				change(t, server, tables.String())
				sqlExec(t, server, "USE db\nGO\n"+rows.String())
				p := startPipeline(t, server, settings{fields: pageSizes(1)})
				snapshot := p.settled()
				require.NoError(t, server.CaptureNow("db"))
				stream := p.settled()
				assert.Equal(t, want, images(t, snapshot))
				assert.Equal(t, want, images(t, stream))
			})
		})
	}
}

// textKeys are keys that collations order and compare in their own ways.
var textKeys = []string{
	"co-op", "coop", "CO-OPS", "résumé", "resume2", "a-1", "a1", "ñu", "nz", "o'hara", "ohara", "Straße", "strassf",
	"æon", "aeon2", "chico", "cz", "aalborg", "zebra", "ångström", "ı1", "I2", "i3", "_x", "", "a b", "ab", "%", "[x]",
}

// Every key is read once whatever the order of its collation, and whether or
// not the driver's parameters would have it (Debezium DBZ-7359 skipped rows;
// hugr-lab/mssql-extension#361, denisenkom/go-mssqldb#540).
func TestCases_TextKeysInTheOrderOfTheirCollation(t *testing.T) {
	types := []string{"varchar(20) COLLATE %s", "nvarchar(20) COLLATE %s", "char(20) COLLATE %s", "nchar(20) COLLATE %s"}
	collations := []string{
		"SQL_Latin1_General_CP1_CI_AS", "SQL_Latin1_General_CP1_CS_AS", "SQL_Latin1_General_CP850_BIN2", "Latin1_General_CI_AS",
		"Latin1_General_100_CI_AI", "Latin1_General_BIN", "Latin1_General_100_BIN2_UTF8", "Traditional_Spanish_CI_AS",
		"Danish_Norwegian_CI_AS", "Czech_CI_AS", "Turkish_CI_AS", "German_PhoneBook_CI_AS", "Hungarian_CI_AS",
	}
	for i := range race.Every(len(collations), 4) {
		collation := collations[i]
		t.Run(collation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tables, rows strings.Builder
				for i, typ := range types {
					typ = fmt.Sprintf(typ, collation)
					fmt.Fprintf(&tables, "CREATE TABLE dbo.k%d (k %s NOT NULL PRIMARY KEY)\n%s", i, typ, enable("dbo", fmt.Sprintf("k%d", i)))
					fmt.Fprintf(&tables, "CREATE TABLE dbo.d%d (n int NOT NULL, k %s NOT NULL, PRIMARY KEY (k DESC, n))\n%s", i, typ, enable("dbo", fmt.Sprintf("d%d", i)))
					for n, key := range textKeys {
						fmt.Fprintf(&rows, "BEGIN TRY INSERT dbo.k%d VALUES (%s) END TRY BEGIN CATCH IF ERROR_NUMBER() <> 2627 THROW END CATCH\n", i, quoted(key))
						fmt.Fprintf(&rows, "INSERT dbo.d%d VALUES (%d, %s)\n", i, n, quoted(key))
					}
				}
				snapshot, stream := bothWays(t, tables.String(), rows.String(), pageSizes(1))
				read := images(t, snapshot)
				assert.Equal(t, images(t, stream), read)
				for i := range types {
					assert.Len(t, read[fmt.Sprintf("dbo.d%d", i)], len(textKeys))
				}
			})
		})
	}
}

// Under SQL_ collations varchar and nvarchar sort differently: these nine come
// once each, one a page.
func TestCases_HyphensAndAccentsInKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, lines(
			"CREATE TABLE dbo.t (k varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS PRIMARY KEY)",
			"INSERT dbo.t VALUES ('co-op'), ('coop'), ('CO-OPS'), (N'résumé'), ('resume2'), ('a-1'), ('a1'), (N'ñu'), ('nz')",
			enable("dbo", "t")))
		p := startPipeline(t, server, settings{fields: pageSizes(1)})
		got := p.next(9)
		p.quiet()
		var keys []string
		for _, m := range got {
			keys = append(keys, m.Key)
		}
		assert.Equal(t, []string{
			`{"k":"a-1"}`, `{"k":"a1"}`, `{"k":"co-op"}`, `{"k":"CO-OPS"}`, `{"k":"coop"}`, `{"k":"ñu"}`, `{"k":"nz"}`, `{"k":"résumé"}`, `{"k":"resume2"}`,
		}, keys)
	})
}
