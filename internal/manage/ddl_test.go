package manage

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAddedColumns(t *testing.T) {
	for statement, want := range map[string][]string{
		"ALTER TABLE dbo.t ADD c int": {"c"},
		"alter table t add c int null, [d e]]f] decimal(9, 2) NOT NULL DEFAULT (0)":                     {"c", "d e]f"},
		`ALTER TABLE "s"."t" ADD "q" int`:                                                               {"q"},
		"ALTER TABLE t WITH CHECK ADD CONSTRAINT ck CHECK (secret > 0), c int":                          {"c"},
		"ALTER TABLE t ADD CONSTRAINT ck CHECK (secret > 0)":                                            nil,
		"ALTER TABLE t ADD DEFAULT (1) FOR secret":                                                      nil,
		"ALTER TABLE t ADD PRIMARY KEY (secret)":                                                        nil,
		"ALTER TABLE t ADD FOREIGN KEY (secret) REFERENCES u (id)":                                      nil,
		"ALTER TABLE t ADD [constraint] int":                                                            {"constraint"},
		"ALTER TABLE t ADD c int CONSTRAINT df DEFAULT N'a, secret (' , d int; ALTER TABLE t ADD e int": {"c", "d"},
		"ALTER TABLE t /* ADD x int, /* nested */ */ ADD -- secret int,\n c int":                        {"c"},
		"ALTER TABLE [ADD] ADD c int":                                                                   {"c"},
		"ALTER TABLE t ALTER COLUMN c bigint":                                                           nil,
		"ALTER TABLE t DROP COLUMN c":                                                                   nil,
		"ALTER TABLE t ADD größe int, #x int, _y int":                                                   {"größe", "#x", "_y"},
		"EXEC sp_rename 't.a', 'b', 'COLUMN'":                                                           nil,
		"ALTER TABLE t ADD c AS (a + b), d int":                                                         {"c", "d"},
		"ALTER TABLE t ADD":                                                                             nil,
		"":                                                                                              nil,
		"ALTER TABLE t ADD [unfinished":                                                                 {"unfinished"},
		"ALTER TABLE t ADD c varchar(10) COLLATE Latin1_General_CI_AS NULL, INDEX ix (secret), d xml": {"c", "d"},
	} {
		assert.Equal(t, want, addedColumns(statement), "%s", statement)
	}
}

// Whatever the history holds, it is read to its end.
func FuzzAddedColumns(f *testing.F) {
	for _, seed := range []string{"ALTER TABLE t ADD c int", "ALTER TABLE t ADD [", "/*/*", "--", "ALTER TABLE t ADD \xff '"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, statement string) {
		for _, name := range addedColumns(statement) {
			if len(name) > len(statement) {
				t.Fatalf("%q is not in %q", name, statement)
			}
		}
	})
}
