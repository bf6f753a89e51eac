package tsql_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func TestParse_Protection(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE SECURITY POLICY a.b ADD FILTER PREDICATE s.f(c, 1) ON s.t, ADD BLOCK PREDICATE s.f(c) ON s.t AFTER INSERT WITH (STATE = OFF, SCHEMABINDING = ON) NOT FOR REPLICATION": `Operation="AFTER INSERT"`,
		"ALTER SECURITY POLICY b DROP FILTER PREDICATE ON s.t WITH (STATE = ON)":                                                                                                      `Verb="DROP"`,
		"CREATE COLUMN MASTER KEY k WITH (KEY_STORE_PROVIDER_NAME = N'P', KEY_PATH = 'x')":                                                                                            `Provider="P"`,
		"ALTER COLUMN ENCRYPTION KEY k ADD VALUE (COLUMN_MASTER_KEY = m, ALGORITHM = 'a', ENCRYPTED_VALUE = 0x01)":                                                                    `MasterKey="m"`,
		"CREATE COLUMN ENCRYPTION KEY k WITH VALUES (COLUMN_MASTER_KEY = m, ALGORITHM = 'a', ENCRYPTED_VALUE = 0x01)":                                                                 `Algorithm="a"`,
		"DROP COLUMN MASTER KEY k":         `Kind="COLUMN MASTER KEY"`,
		"DROP SECURITY POLICY IF EXISTS k": `Kind="SECURITY POLICY"`,
	} {
		prog, err := tsql.Parse(sql, tsql.Options{})
		require.NoError(t, err, sql)
		require.Len(t, prog.Stmts, 1, sql)
		assert.Contains(t, dump(prog.Stmts[0]), want, sql)
	}
	for _, sql := range []string{
		"CREATE SECURITY POLICY p ADD FILTER f(a) ON t", "CREATE SECURITY POLICY p WITH (STATE = MAYBE)",
		"CREATE COLUMN MASTER KEY k WITH (KEY_PATH = 1)", "CREATE COLUMN ENCRYPTION KEY k WITH VALUES (ENCRYPTED_VALUE = 'a')",
	} {
		_, err := tsql.Parse(sql, tsql.Options{})
		assert.Error(t, err, sql)
	}
}
