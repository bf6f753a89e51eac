package engine_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// TestPlans_OfReplacedDatabase: a plan that a session keeps does not outlive the
// database that had the name when it was made.
func TestPlans_OfReplacedDatabase(t *testing.T) {
	_, s := played(t, engine.Options{})
	file := filepath.Join(t.TempDir(), "p.bak")
	const count = "SELECT COUNT(*) FROM p.dbo.t"
	fill := func(rows string) {
		must(t, s, "CREATE DATABASE p")
		must(t, s, "EXEC ('USE p; CREATE TABLE t (z int); INSERT t VALUES "+rows+"')")
	}
	fill("(1)")
	assert.Contains(t, run(t, s, count), "\n1\n")

	must(t, s, "DROP DATABASE p")
	assert.Contains(t, run(t, s, count), "Msg 208,", "dropped")
	fill("(1), (2), (3)")
	assert.Contains(t, run(t, s, count), "\n3\n", "made again")

	must(t, s, fmt.Sprintf("BACKUP DATABASE p TO DISK = '%s'; INSERT p.dbo.t VALUES (4)", file))
	assert.Contains(t, run(t, s, count), "\n4\n")
	must(t, s, fmt.Sprintf("RESTORE DATABASE p FROM DISK = '%s' WITH REPLACE", file))
	assert.Contains(t, run(t, s, count), "\n3\n", "restored")
	assert.Contains(t, run(t, s, fmt.Sprintf("INSERT p.dbo.t VALUES (4); RESTORE DATABASE p FROM DISK = '%s' WITH REPLACE; %s", file, count)), "\n3\n", "in one batch")

	must(t, s, "ALTER DATABASE p MODIFY NAME = q")
	assert.Contains(t, run(t, s, count), "Msg 208,", "renamed")
}
