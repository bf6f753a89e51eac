package main

import (
	"crypto/x509"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"
)

// TestSimulatorPage holds docs/simulator.md to the command: its table of
// options, and its example.
func TestSimulatorPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/simulator.md")
	require.NoError(t, err)
	listed := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| (`([^`]*)`|none) \\|").FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = m[3]
	}
	want := map[string]string{}
	for _, flag := range simulatorCommand().Flags {
		f, ok := flag.(*cli.StringFlag)
		require.True(t, ok)
		want[f.Name] = f.Value
	}
	assert.Equal(t, want, listed)

	example := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, example)
	dir := t.TempDir()
	script := filepath.Join(dir, "inventory.sql")
	require.NoError(t, os.WriteFile(script, example[1], 0o600))
	err = runSimulator(t.Context(), simulatorOptions{
		data: filepath.Join(dir, "server"), init: script, password: "p",
		exec: "USE inventory\nIF NOT EXISTS (SELECT 1 FROM sys.tables WHERE name = N'customers' AND is_tracked_by_cdc = 1) THROW 50000, N'no capture', 1",
	}, io.Discard, os.Stderr)
	assert.NoError(t, err)
}

// Azure SQL Database has one database to a connection: scripts run in the one that
// is named, without USE.
func TestRunSimulator_DatabaseOfAzure(t *testing.T) {
	script := filepath.Join(t.TempDir(), "tables.sql")
	require.NoError(t, os.WriteFile(script, []byte("EXEC sys.sp_cdc_enable_db\nGO\nCREATE TABLE dbo.t (id int PRIMARY KEY)\nEXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL"), 0o600))
	var out strings.Builder
	options := simulatorOptions{
		data: t.TempDir(), init: script, database: "in]ventory", version: "AzureSQLDatabase", password: "p",
		exec: "SELECT DB_NAME() AS name, COUNT(*) AS captured FROM cdc.change_tables",
	}
	require.NoError(t, runSimulator(t.Context(), options, &out, io.Discard))
	assert.Equal(t, "name\tcaptured\nin]ventory\t1\n", out.String())

	options.database = "nothing"
	require.ErrorContains(t, runSimulator(t.Context(), options, &out, io.Discard), "nothing")
}

func TestRunSimulator_ExecPrintsResults(t *testing.T) {
	var out strings.Builder
	options := simulatorOptions{data: t.TempDir(), password: "p", exec: `CREATE DATABASE shop
GO
USE shop
CREATE TABLE dbo.t (id int, name nvarchar(9), at date)
INSERT dbo.t VALUES (1, N'Ada', '2026-01-02'), (2, NULL, NULL)
SELECT id, name, at FROM dbo.t ORDER BY id
SELECT COUNT(*) AS n FROM dbo.t`}
	require.NoError(t, runSimulator(t.Context(), options, &out, io.Discard))
	assert.Equal(t, "id\tname\tat\n1\tAda\t2026-01-02\n2\tNULL\tNULL\nn\n2\n", out.String())

	out.Reset()
	options.exec = "SELECT 1 AS one\nSELECT * FROM shop.dbo.nosuch"
	require.ErrorContains(t, runSimulator(t.Context(), options, &out, io.Discard), "nosuch")
	assert.Equal(t, "one\n1\n", out.String(), "what came before the error")
}

func TestRunSimulator_WritesItsCertificateAuthority(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	options := simulatorOptions{data: t.TempDir(), password: "p", exec: "SELECT 1 AS one", tlsCA: file}
	require.NoError(t, runSimulator(t.Context(), options, io.Discard, io.Discard))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, x509.NewCertPool().AppendCertsFromPEM(text))
	options.tlsCA = filepath.Join(t.TempDir(), "no such folder", "ca.pem")
	require.ErrorContains(t, runSimulator(t.Context(), options, io.Discard, io.Discard), "writing --tls-ca")
}
