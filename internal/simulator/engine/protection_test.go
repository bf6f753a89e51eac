package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// TestMasking reads masked columns with and without UNMASK (MS docs: Dynamic data
// masking).
func TestMasking(t *testing.T) {
	in, s := shop(t)
	must(t, s, `CREATE TABLE p (id int PRIMARY KEY, mail varchar(50) MASKED WITH (FUNCTION = 'email()'), pay int MASKED WITH (FUNCTION = 'default()'),
		phone varchar(12) MASKED WITH (FUNCTION = 'partial(1,"-XX,X-",2)'), born date MASKED WITH (FUNCTION = 'default()'), pin char(3) MASKED WITH (FUNCTION = 'default()'),
		lucky smallint MASKED WITH (FUNCTION = 'random(7,7)'), key8 varbinary(8) MASKED WITH (FUNCTION = 'default()'))`)
	must(t, s, "INSERT p VALUES (1, 'ann@example.org', 900, '0123456789', '2001-02-03', 'abc', 1, 0x0102), (2, NULL, 50, '01', NULL, NULL, 2, NULL)")
	must(t, s, "CREATE USER reader FOR LOGIN reader")
	must(t, s, "GRANT SELECT, INSERT, UPDATE, DELETE ON SCHEMA::dbo TO reader; GRANT CREATE TABLE TO reader")
	r, err := in.Login(engine.Login{User: "reader", Password: "secret", Database: "shop"})
	require.NoError(t, err)
	t.Cleanup(r.Close)

	all := run(t, r, "SELECT * FROM p ORDER BY pay DESC")
	assert.Contains(t, all, "1 | aXXX@XXXX.com | 0 | 0-XX,X-89 | 1900-01-01 | xxx | 7 | 0x00\n2 | NULL | 0 | -XX,X- | NULL | NULL | 7 | NULL\n")
	assert.Contains(t, run(t, s, "SELECT mail FROM p WHERE id = 1"), "ann@example.org", "sa sees the values")
	for query, want := range map[string]string{
		"SELECT id FROM p WHERE pay > 100":                                                            "\n1\n(1)",
		"SELECT mail AS m FROM p WHERE id = 1":                                                        "\naXXX@XXXX.com\n",
		"SELECT UPPER(mail) FROM p WHERE id = 1":                                                      "\nxxxx\n",
		"SELECT SUM(pay) FROM p":                                                                      "\n0\n",
		"SELECT CASE WHEN pay = 900 THEN 'rich' END FROM p WHERE id = 1":                              "\nxxxx\n",
		"SELECT x.m FROM (SELECT mail AS m FROM p WHERE id = 1) x":                                    "\naXXX@XXXX.com\n",
		"SELECT v.a FROM p CROSS APPLY (VALUES (p.pay)) v (a) WHERE id = 1":                           "\n0\n",
		"SELECT (SELECT pay FROM p WHERE id = 1)":                                                     "\n0\n",
		"WITH c AS (SELECT pay FROM p WHERE id = 1) SELECT * FROM c":                                  "\n0\n",
		"SELECT pay FROM p WHERE id = 1 UNION ALL SELECT 5":                                           "\n0\n0\n",
		"SELECT pay, COUNT(*) FROM p WHERE id = 1 GROUP BY pay":                                       "\n0 | 1\n",
		"DECLARE @v int; SELECT @v = pay FROM p WHERE id = 1; SELECT @v":                              "\n0\n",
		"SELECT mail FROM p WHERE id = 1 FOR JSON PATH":                                               `"aXXX@XXXX.com"`,
		"SELECT id, mail INTO #copy FROM p WHERE id = 1; SELECT mail FROM #copy":                      "\naXXX@XXXX.com\n",
		"CREATE TABLE #c (m varchar(50)); INSERT #c SELECT mail FROM p; SELECT m FROM #c":             "\naXXX@XXXX.com\n",
		"DECLARE k CURSOR FOR SELECT pay FROM p WHERE id = 1; OPEN k; FETCH k; CLOSE k; DEALLOCATE k": "\n0\n",
		"DECLARE @v int = (SELECT pay FROM p WHERE id = 1)":                                           "Msg 40000,",
		"UPDATE p SET lucky = pay":                                                                    "Msg 40000,",
		"DELETE p OUTPUT deleted.mail WHERE id = 1":                                                   "Msg 40000,",
		"SELECT s.value FROM p CROSS APPLY STRING_SPLIT(p.mail, '@') s":                               "Msg 40000,",
		"UPDATE p SET pay = 51 WHERE id = 2":                                                          "(1)",
		"IF (SELECT pay FROM p WHERE id = 1) = 900 SELECT 'as it is'":                                 "as it is",
	} {
		assert.Contains(t, run(t, r, query), want, query)
	}
	must(t, s, "GRANT UNMASK TO reader")
	assert.Contains(t, run(t, r, "SELECT * FROM p WHERE id = 1"), "1 | ann@example.org | 900 |")

	assert.Contains(t, run(t, s, "CREATE TABLE bad (id int MASKED WITH (FUNCTION = 'email()'))"),
		"Msg 16003, Level 16, State 1, Line 1: The data type of column 'id' does not support data masking function 'email'.")
	assert.Contains(t, run(t, s, "ALTER TABLE p ALTER COLUMN pay ADD MASKED WITH (FUNCTION = 'shuffle()')"), "Msg 40000,")
}

// TestRowLevelSecurity plays filter predicates (MS docs: Row-Level Security).
func TestRowLevelSecurity(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE sales (id int PRIMARY KEY, rep varchar(10))")
	must(t, s, "CREATE TABLE reps (rep varchar(10) PRIMARY KEY, name varchar(10))")
	must(t, s, "INSERT sales VALUES (1, 'a'), (2, 'b'), (3, 'a'); INSERT reps VALUES ('a', 'Ann'), ('b', 'Bob')")
	must(t, s, "CREATE FUNCTION dbo.own (@rep varchar(10)) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS ok WHERE @rep = 'a'")
	must(t, s, "CREATE SECURITY POLICY dbo.sp ADD FILTER PREDICATE dbo.own(rep) ON dbo.sales WITH (STATE = OFF)")
	assert.Contains(t, run(t, s, "SELECT COUNT(*) FROM sales"), "\n3\n")
	must(t, s, "ALTER SECURITY POLICY dbo.sp WITH (STATE = ON)")
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM sales":        "\n2\n",
		"SELECT id FROM sales WHERE id = 2": "(0)",
		"SELECT r.name, s.id FROM reps r LEFT JOIN sales s ON s.rep = r.rep WHERE r.rep = 'b'": "\nBob | NULL\n",
		"SELECT MAX(id) FROM sales WHERE id < 3":                                               "\n1\n",
		"UPDATE sales SET rep = 'a' WHERE id = 2":                                              "(0)",
		"DELETE FROM sales WHERE id = 2":                                                       "(0)",
		"SELECT is_enabled, name FROM sys.security_policies":                                   "1 | sp",
		"SELECT predicate_definition, predicate_type_desc FROM sys.security_predicates":        "(dbo.own(rep)) | FILTER",
		"DROP TABLE sales": "Msg 3729,",
		"ALTER SECURITY POLICY sp ADD BLOCK PREDICATE dbo.own(rep) ON dbo.sales":                "Msg 40000,",
		"CREATE SECURITY POLICY p2 ADD FILTER PREDICATE dbo.nobody(rep) ON dbo.sales":           "Msg 208,",
		"ALTER SECURITY POLICY sp DROP FILTER PREDICATE ON dbo.reps":                            "Msg ",
		"SELECT OBJECT_NAME(OBJECT_ID('dbo.sp')), type_desc FROM sys.objects WHERE name = 'sp'": "sp | SECURITY_POLICY",
	} {
		assert.Contains(t, run(t, s, query), want, query)
	}
	must(t, s, "DROP SECURITY POLICY dbo.sp")
	assert.Contains(t, run(t, s, "SELECT COUNT(*) FROM sales"), "\n3\n")
	assert.Contains(t, run(t, s, "DROP SECURITY POLICY dbo.sp"), "Msg 3701,")
	must(t, s, "DROP SECURITY POLICY IF EXISTS dbo.sp")
}

func TestColumnKeys(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE COLUMN MASTER KEY m1 WITH (KEY_STORE_PROVIDER_NAME = 'MSSQL_CERTIFICATE_STORE', KEY_PATH = 'CurrentUser/my/1')")
	must(t, s, "CREATE COLUMN MASTER KEY m2 WITH (KEY_STORE_PROVIDER_NAME = N'P', KEY_PATH = N'K', ENCLAVE_COMPUTATIONS (SIGNATURE = 0x0A0B))")
	must(t, s, "CREATE COLUMN ENCRYPTION KEY k WITH VALUES (COLUMN_MASTER_KEY = m1, ALGORITHM = 'RSA_OAEP', ENCRYPTED_VALUE = 0x0102)")
	must(t, s, "ALTER COLUMN ENCRYPTION KEY k ADD VALUE (COLUMN_MASTER_KEY = m2, ALGORITHM = 'RSA_OAEP', ENCRYPTED_VALUE = 0x03)")
	const values = "SELECT k.name, m.name, v.encrypted_value FROM sys.column_encryption_key_values v JOIN sys.column_encryption_keys k ON k.column_encryption_key_id = v.column_encryption_key_id JOIN sys.column_master_keys m ON m.column_master_key_id = v.column_master_key_id ORDER BY 2"
	assert.Contains(t, run(t, s, values), "k | m1 | 0x0102\nk | m2 | 0x03\n")
	assert.Contains(t, run(t, s, "SELECT name, key_path, signature FROM sys.column_master_keys ORDER BY 1"), "m1 | CurrentUser/my/1 | NULL\nm2 | K | 0x0A0B\n")
	assert.Contains(t, run(t, s, "DROP COLUMN MASTER KEY m2"), "Msg 3729,")
	must(t, s, "ALTER COLUMN ENCRYPTION KEY k DROP VALUE (COLUMN_MASTER_KEY = m2)")
	must(t, s, "DROP COLUMN MASTER KEY m2")
	must(t, s, "CREATE TABLE e (a char(3) COLLATE Latin1_General_BIN2 ENCRYPTED WITH (COLUMN_ENCRYPTION_KEY = k, ENCRYPTION_TYPE = RANDOMIZED, ALGORITHM = 'AEAD_AES_256_CBC_HMAC_SHA_256'))")
	assert.Contains(t, run(t, s, "SELECT column_encryption_key_id FROM sys.columns WHERE object_id = OBJECT_ID('e')"), "\n3\n")
	assert.Contains(t, run(t, s, "DROP COLUMN ENCRYPTION KEY k"), "Msg 3729,")
	must(t, s, "DROP TABLE e; DROP COLUMN ENCRYPTION KEY k")
	assert.Contains(t, run(t, s, "CREATE COLUMN ENCRYPTION KEY k WITH VALUES (COLUMN_MASTER_KEY = m9, ALGORITHM = 'RSA_OAEP', ENCRYPTED_VALUE = 0x0102)"), "Msg 15151,")
}

// TestPlansOfLogins runs one statement as one login and as another: what it may
// show is decided for each.
func TestPlansOfLogins(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE p (pay int MASKED WITH (FUNCTION = 'default()')); INSERT p VALUES (900)")
	must(t, s, "CREATE USER low WITHOUT LOGIN; GRANT SELECT ON p TO low")
	out := run(t, s, `DECLARE @n int = 0
		WHILE @n < 2 BEGIN
			SELECT pay FROM p
			SET @n += 1
			IF @n = 1 EXECUTE AS USER = 'low'
		END
		REVERT`)
	assert.Contains(t, out, "\n900\n(1)")
	assert.Contains(t, out, "\n0\n(1)")
}
