package input_test

import (
	"testing"
	"testing/synctest"
)

// Tables of one pattern are snapshotted by their names, as Debezium does, and
// not in the order in which they were created.
func TestSnapshot_TableOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := ""
		for _, table := range []string{"z", "B", "a", "late"} {
			script += "CREATE TABLE " + table + " (id int PRIMARY KEY)\n" + enable("dbo", table) + "INSERT " + table + " VALUES (1)\nGO\n"
		}
		server := newServer(t, script)
		p := startPipeline(t, server, settings{fields: "table_include_list: [ 'dbo\\.late', 'dbo\\.[abz]' ]"})
		p.want(`r dbo.late {"id":1}`, `r dbo.B {"id":1}`, `r dbo.a {"id":1}`, `r dbo.z {"id":1}`)
	})
}
