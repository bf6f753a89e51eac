package input_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// codePageTexts are texts that only their own column type can hold
// (MicrosoftDocs/sql-docs#542, hugr-lab/mssql-extension#224), one of each code
// page that a collation can name.
var codePageTexts = []struct{ sql, text string }{
	{"varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS", "café €"},
	{"char(6) COLLATE SQL_Latin1_General_CP1_CI_AS", "café €"},
	{"text COLLATE SQL_Latin1_General_CP1_CI_AS", "café €"},
	{"varchar(max) COLLATE Latin1_General_CI_AS", "café €"},
	{"varchar(20) COLLATE SQL_Latin1_General_CP437_CI_AS", "┌café┐"},
	{"varchar(20) COLLATE SQL_Latin1_General_CP850_CI_AS", "ÁÂ┌"},
	{"varchar(20) COLLATE Thai_CI_AS", "สวัสดี"},
	{"varchar(20) COLLATE Japanese_CI_AS", "日本語 ｱ ～"},
	{"char(8) COLLATE Japanese_XJIS_100_CI_AS", "日本ab  "},
	{"varchar(20) COLLATE Chinese_PRC_CI_AS", "你好 €"},
	{"text COLLATE Chinese_PRC_CI_AS", "你好"},
	{"varchar(20) COLLATE Korean_Wansung_CI_AS", "안녕 똠"},
	{"varchar(20) COLLATE Chinese_Taiwan_Stroke_CI_AS", "您好"},
	{"varchar(20) COLLATE Polish_CI_AS", "Łódź"},
	{"varchar(20) COLLATE Cyrillic_General_CI_AS", "Привет"},
	{"varchar(20) COLLATE SQL_Latin1_General_CP1251_CS_AS", "Привет ё"},
	{"varchar(20) COLLATE Greek_CI_AS", "Γειά"},
	{"varchar(20) COLLATE Turkish_CI_AS", "İstanbul ışğ"},
	{"varchar(20) COLLATE Hebrew_CI_AS", "שלום"},
	{"varchar(20) COLLATE Arabic_CI_AS", "مرحبا"},
	{"varchar(20) COLLATE Lithuanian_CI_AS", "ąžuolas"},
	{"varchar(20) COLLATE Vietnamese_CI_AS", "đưa"},
	{"varchar(20) COLLATE Latin1_General_100_CI_AS_SC_UTF8", "😀ñ"},
	{"char(8) COLLATE Latin1_General_100_CI_AS_SC_UTF8", "😀ñ  "},
	{"varchar(max) COLLATE Latin1_General_100_BIN2_UTF8", "你好 😀"},
	{"nvarchar(20)", "a😀b"},
	{"nchar(4)", "a😀b"},
	{"ntext", "a😀b 你好"},
	{"nvarchar(max) COLLATE Cyrillic_General_CI_AS", "你好 Привет"},
}

// Text is what it was in the source, whatever the code pages of its column and
// of the database, in both phases and in every image of a change.
func TestCases_TextOfEveryCodePage(t *testing.T) {
	for _, collation := range []string{"SQL_Latin1_General_CP1_CI_AS", "Japanese_CI_AS", "Latin1_General_100_CI_AS_SC_UTF8", "Cyrillic_General_100_CS_AS"} {
		t.Run(collation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tables, rows strings.Builder
				for i, c := range codePageTexts {
					fmt.Fprintf(&tables, "CREATE TABLE dbo.t%03d (id int NOT NULL PRIMARY KEY, v %s, n int)\n%s", i, c.sql, enable("dbo", fmt.Sprintf("t%03d", i)))
					fmt.Fprintf(&rows, "INSERT dbo.t%03d VALUES (1, %s, 0)\n", i, quoted(c.text))
				}
				server := collatedServer(t, collation)
				server.StopAgent()
				change(t, server, tables.String())
				sqlExec(t, server, "USE db\nGO\n"+rows.String())
				p := startPipeline(t, server, settings{})
				snapshot := p.settled()
				require.NoError(t, server.CaptureNow("db"))
				stream := p.settled()
				require.Len(t, snapshot, len(codePageTexts))
				require.Len(t, stream, len(codePageTexts))
				for i, c := range codePageTexts {
					assert.Equal(t, c.text, textOf(t, open(t, snapshot[i]).After["v"]), "snapshot of %s", c.sql)
					assert.Equal(t, c.text, textOf(t, open(t, stream[i]).After["v"]), "stream of %s", c.sql)
				}
			})
		})
	}
}

// collatedServer is newServer with a database of another collation.
func collatedServer(t *testing.T, collation string) *simulator.Server {
	t.Helper()
	server := emptyServer(t)
	sqlExec(t, server, "CREATE DATABASE db COLLATE "+collation+"\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\n")
	return server
}

func textOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var text string
	require.NoError(t, json.Unmarshal(raw, &text), "%s", raw)
	return text
}

// A text key in another code page is paged by the server in its own bytes.
func TestCases_TextKeysOfEveryCodePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tables, rows strings.Builder
		kept := 0
		for i, c := range codePageTexts {
			if strings.Contains(c.sql, "text") || strings.Contains(c.sql, "max") {
				continue
			}
			kept++
			fmt.Fprintf(&tables, "CREATE TABLE dbo.t%03d (k %s NOT NULL PRIMARY KEY)\n%s", i, c.sql, enable("dbo", fmt.Sprintf("t%03d", i)))
			fmt.Fprintf(&rows, "INSERT dbo.t%03d VALUES (%s), (N''), (N'a')\n", i, quoted(c.text))
		}
		snapshot, stream := bothWays(t, tables.String(), rows.String(), pageSizes(1))
		assert.Len(t, snapshot, 3*kept)
		assert.Equal(t, images(t, snapshot), images(t, stream))
	})
}

// Change data capture may have written wrong characters into the change table
// where a column's code page is not the database's: that is said at the start,
// once for each column.
func TestCases_OtherCodePagesAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, lines(
			"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY,",
			"  same varchar(9), sibling char(9) COLLATE French_CS_AS, wide nvarchar(9) COLLATE Cyrillic_General_CI_AS,",
			"  ru varchar(9) COLLATE Cyrillic_General_CI_AS, zh char(9) COLLATE Chinese_PRC_CI_AS,",
			"  u8 varchar(max) COLLATE Latin1_General_100_CI_AS_SC_UTF8, el text COLLATE Greek_CI_AS,",
			"  aside varchar(9) COLLATE Thai_CI_AS)",
			"INSERT dbo.t (id) VALUES (1)",
			"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, same, sibling, wide, ru, zh, u8, el'"))
		p := startPipeline(t, server, settings{})
		p.next(1)
		for column, pages := range map[string]string{"ru": "1251", "zh": "936", "u8": "65001", "el": "1253"} {
			text := fmt.Sprintf(`column \"%s\" has code page %s, the database has 1252`, column, pages)
			assert.Equal(t, 1, strings.Count(p.logs.String(), text), "%s", text)
		}
		assert.Equal(t, 4, strings.Count(p.logs.String(), "has code page"), "%s", p.logs)
	})
}

// Half of a surrogate pair has no form in UTF-8: the driver replaces it by
// U+FFFD, which is said once for each column.
func TestCases_LoneSurrogates(t *testing.T) {
	for name, fields := range map[string]string{"raw": "", "structured": "structured: true"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a nvarchar(9), b nvarchar(max), c nvarchar(9))\n"+enable("dbo", "t"))
				sqlExec(t, server, "USE db\nGO\nINSERT dbo.t VALUES (1, N'x' + NCHAR(0xD83D) + N'y', NCHAR(0xDE00), N'fine 😀'), (2, NCHAR(0xDE00) + NCHAR(0xD83D), NULL, N'')")
				p := startPipeline(t, server, settings{fields: fields})
				want := []string{
					`{"id":1,"a":"x` + "\ufffd" + `y","b":"` + "\ufffd" + `","c":"fine \uD83D\uDE00"}`,
					`{"id":2,"a":"` + "\ufffd\ufffd" + `","b":null,"c":""}`,
				}
				check := func(messages []received) {
					require.Len(t, messages, 2)
					for i, m := range messages {
						assert.True(t, json.Valid([]byte(m.Value)), "%s", m.Value)
						assert.JSONEq(t, want[i], after(t, m))
					}
				}
				check(p.settled())
				require.NoError(t, server.CaptureNow("db"))
				check(p.settled())
				for _, column := range []string{"a", "b"} {
					assert.Equal(t, 1, strings.Count(p.logs.String(), fmt.Sprintf(`column \"%s\" holds U+FFFD`, column)), "%s", p.logs)
				}
				assert.Equal(t, 2, strings.Count(p.logs.String(), "U+FFFD"), "%s", p.logs)
			})
		})
	}
}
