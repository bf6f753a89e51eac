package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const people = `
CREATE TABLE dbo.people (id int NOT NULL PRIMARY KEY, Name nvarchar(40) NOT NULL, mail varchar(60) NULL, pin char(4) NULL, n int NULL)
CREATE TABLE dbo.pets (id int NOT NULL PRIMARY KEY, Name nvarchar(40) NOT NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'people', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'pets', @role_name = NULL
`

// A masked value is hidden wherever it could show: in snapshots, in before and
// after, in both halves of a changed key, with schemas, and in the log.
func TestCases_MaskedValuesShowNowhere(t *testing.T) {
	for _, fields := range []string{
		"column_mask_with_chars: [ { columns: [ 'dbo\\.people\\.(name|mail|pin)' ], length: 5 } ]",
		"column_mask_hash: [ { columns: [ 'db.dbo.people.name', '.*\\.mail', '.*\\.PIN' ], algorithm: SHA-256, salt: salt, version: 2 } ]",
		"column_truncate_to_chars: [ { columns: [ '.*\\.people\\..*' ], length: 0 } ]",
		"column_exclude_list: [ 'dbo\\.people\\.(name|mail|pin)' ]",
		"column_include_list: [ 'dbo\\.people\\.n' ]",
	} {
		for _, more := range []string{"", "schemas_enable: true\nstructured: true", "message_key_columns: 'dbo.people:mail'\ncolumn_mask_keys: true\ncolumn_exclude_list: []\ncolumn_include_list: []"} {
			if strings.HasPrefix(fields, "column_exclude") || strings.HasPrefix(fields, "column_include") {
				// What is excluded of a key stays in it: see below.
				if strings.Contains(more, "message_key_columns") {
					continue
				}
			}
			t.Run(fields+more, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, people+"INSERT dbo.people VALUES (1, N'seCret1', 'seCret2', 'sC3', 1)")
					p := startPipeline(t, server, settings{fields: fields + "\n" + more})
					p.settled()
					change(t, server, lines(
						"INSERT dbo.people VALUES (2, N'seCret4', 'seCret5', 'sC6', 1)",
						"UPDATE dbo.people SET Name = N'seCret7', n = 2",
						"UPDATE dbo.people SET mail = 'seCret8' + mail, id = id + 10",
						"DELETE dbo.people"))
					p.settled()
					require.GreaterOrEqual(t, len(p.all), 8)
					for _, m := range p.all {
						text := m.Key + m.Value + fmt.Sprint(m.Meta)
						assert.NotContains(t, text, "seCret", "%s", m)
						assert.NotContains(t, text, "sC", "%s", m)
					}
					assert.NotContains(t, p.logs.String(), "seCret")
				})
			})
		}
	}
}

// What becomes of a column of the key: its value may be left out of rows, or
// masked in them, but keys are real in both phases, which is said; unless
// column_mask_keys says otherwise.
func TestCases_KeysStayRealUnlessToldOtherwise(t *testing.T) {
	for _, c := range []struct {
		name, fields, key, row string
		warned                 int
	}{
		{"excluded", `column_exclude_list: [ 'dbo\.people\.id', '.*\.(mail|pin|n)' ]`, `{"id":%d}`, `{"Name":"Ann"}`, 0},
		{"not included", `column_include_list: [ 'dbo\.people\.name' ]`, `{"id":%d}`, `{"Name":"Ann"}`, 0},
		{
			"masked", "column_include_list: [ '.*\\.name' ]\nmessage_key_columns: 'dbo.people:name,id'\ncolumn_mask_with_chars: [ { columns: [ '.*\\.people\\.name' ], length: 2 } ]",
			`{"Name":"Ann","id":%d}`, `{"Name":"**"}`, 1,
		},
		{
			"masked in keys", "column_include_list: [ '.*\\.name' ]\nmessage_key_columns: 'dbo.people:name,id'\ncolumn_mask_keys: true\ncolumn_mask_with_chars: [ { columns: [ '.*\\.people\\.name' ], length: 2 } ]",
			`{"Name":"**","id":%d}`, `{"Name":"**"}`, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, people+"INSERT dbo.people VALUES (1, N'Ann', 'a@b', '1', 1)")
				p := startPipeline(t, server, settings{fields: c.fields})
				got := p.settled()
				change(t, server, "INSERT dbo.people VALUES (2, N'Ann', 'a@b', '1', 1)\nDELETE dbo.people WHERE id = 2")
				got = append(got, p.settled()...)
				require.Len(t, got, 4)
				for i, id := range []int{1, 2, 2, 2} {
					assert.Equal(t, fmt.Sprintf(c.key, id), got[i].Key, "%s", got[i])
				}
				assert.Equal(t, c.row, after(t, got[0]))
				assert.Equal(t, c.row, after(t, got[1]))
				assert.Equal(t, c.row, rowText(t, got[2].Value, "before"))
				assert.Equal(t, c.warned, strings.Count(p.logs.String(), "but not in keys"), "%s", p.logs)
			})
		})
	}
}

// A rule that matches nothing lets out what it was to hide, and one that only
// repeats an earlier one does nothing: each is said once, and which.
func TestCases_RulesWithoutEffectAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, people+"INSERT dbo.people VALUES (1, N'Ann', 'a@b', '1', 1)")
		p := startPipeline(t, server, settings{fields: `
column_exclude_list: [ 'dbo\.people\.nn' ]
column_truncate_to_chars:
  - columns: [ 'dbo\.people\.name', 'DBO.People.Name', 'dbo\.people\.full_name' ]
    length: 2
column_mask_with_chars:
  - columns: [ '.*\.name', 'people\.mail', '.*people.name' ]
    length: 1
column_mask_hash:
  - { columns: [ '.*\.mial' ], algorithm: MD5, salt: x }
table_include_list: [ 'dbo\.p.*', 'dbo\.nosuch' ]
`})
		p.next(1)
		log := warnings(p.logs.String())
		for _, label := range []string{
			`column_exclude_list: dbo\\.people\\.nn`, `column_truncate_to_chars[0]: dbo\\.people\\.full_name`,
			`column_mask_with_chars[0]: people\\.mail`, `column_mask_hash[0]: .*\\.mial`,
		} {
			assert.Equal(t, 1, strings.Count(log, "No column of the captured tables matches "+label), "%s in:\n%s", label, log)
		}
		assert.Equal(t, 4, strings.Count(log, "No column of the captured tables matches"), "%s", log)
		assert.Equal(t, 1, strings.Count(log, `All columns that match column_mask_with_chars[0]: .*people.name have an earlier rule`), "%s", log)
		assert.Equal(t, 1, strings.Count(log, "have an earlier rule"), "%s", log)
		assert.Equal(t, 1, strings.Count(log, `No table with a capture instance matches \"dbo\\\\.nosuch\"`), "%s", log)
		assert.NotContains(t, log, "salt")
	})
}

// message_key_columns in all of its forms: several tables, with the database
// and without, patterns, columns in any case, and in the order given.
func TestCases_KeyColumns(t *testing.T) {
	for keys, want := range map[string][]string{
		`dbo.people:name;dbo.pets:NAME,id`:             {`{"Name":"Ann"}`, `{"Name":"Rex","id":7}`},
		` db.dbo.people : n , mail ; ;dbo.nosuch:id; `: {`{"n":1,"mail":null}`, `{"id":7}`},
		`dbo\.(people|pets):name`:                      {`{"Name":"Ann"}`, `{"Name":"Rex"}`},
		`(.*)\.p(.*):(id|name)`:                        {`{"id":1,"Name":"Ann"}`, `{"id":7,"Name":"Rex"}`},
		`dbo.people:mail;(.*).dbo.people:n,mail`:       {`{"mail":null,"n":1}`, `{"id":7}`},
		`(?!x).*people:mail`:                           {`{"mail":null}`, `{"id":7}`},
		// Table and column are one expression: its dot and the column are found in "pin" too.
		`.*:n,id`: {`{"pin":null,"n":1,"id":1}`, `{"id":7}`},
	} {
		t.Run(keys, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, people)
				sqlExec(t, server, "USE db\nINSERT dbo.people VALUES (1, N'Ann', NULL, NULL, 1)\nINSERT dbo.pets VALUES (7, N'Rex')")
				p := startPipeline(t, server, settings{fields: "message_key_columns: '" + keys + "'"})
				for range 2 {
					got := p.settled()
					require.Len(t, got, 2)
					assert.Equal(t, want, []string{got[0].Key, got[1].Key})
					require.NoError(t, server.CaptureNow("db"))
				}
			})
		})
	}
}

// A key column that its table does not have, or does not capture, would make a
// key of the others alone: the input says so and waits until it is cured.
func TestCases_UnknownKeyColumnsAreAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, code int NOT NULL)\nINSERT dbo.t VALUES (1, 2)\nEXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id'")
		p := startPipeline(t, server, settings{fields: "message_key_columns: 'dbo.t:id,code'"})
		<-time.After(settle)
		assert.Empty(t, p.rest())
		assert.Contains(t, p.logs.String(), "message_key_columns: dbo.t:code")
		assert.Equal(t, 1, countLines(p, "Cannot go on"))
		sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'\n"+enable("dbo", "t"))
		assert.Equal(t, `{"id":1,"code":2}`, p.next(1)[0].Key)
	})
}
