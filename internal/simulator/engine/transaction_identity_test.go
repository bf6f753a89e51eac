package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCheckIdentity follows the examples and remarks of MS docs: DBCC CHECKIDENT.
func TestCheckIdentity(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE i (id int IDENTITY(5, 5), v int); CREATE TABLE plain (a int)")
	const next = "INSERT i (v) VALUES (1); SELECT SCOPE_IDENTITY()"
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('i', NORESEED)"), "current identity value 'NULL'")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('dbo.i', RESEED, 50); "+next), "\n50\n", "never had a row")
	assert.Contains(t, run(t, s, next), "\n55\n")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT (i, RESEED, 10) WITH NO_INFOMSGS; "+next), "\n15\n", "the next after it")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('i', RESEED, 0); "+next), "\n5\n")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT (N'i', NORESEED)"), "current identity value '5'")

	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('i', RESEED, 7)"), "Msg 40000,")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('i')"), "Msg 40000,")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('none', RESEED, 1)"), "Msg 2501,")
	assert.Contains(t, run(t, s, "DBCC CHECKIDENT ('plain', RESEED, 1)"), "Msg 7997,")
}
