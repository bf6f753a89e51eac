package input_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const customers = `
CREATE TABLE dbo.customers (id int NOT NULL PRIMARY KEY, name nvarchar(50) NOT NULL)
GO
USE db
INSERT dbo.customers VALUES (1, N'Ada'), (2, N'Bob')
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'customers', @role_name = NULL
`

func TestEndToEnd_SnapshotThenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		p := startPipeline(t, server, settings{})
		p.want(
			`r dbo.customers {"id":1,"name":"Ada"}`,
			`r dbo.customers {"id":2,"name":"Bob"}`,
		)
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		change(t, server, "UPDATE dbo.customers SET name = N'Bea' WHERE id = 2")
		p.want(`u dbo.customers {"id":2,"name":"Bea"}`)
		change(t, server, "DELETE dbo.customers WHERE id = 1")
		got := p.want(`d dbo.customers {"id":1,"name":"Ada"}`, `tombstone dbo.customers {"id":1}`)
		assert.True(t, got[1].NullValue, "a tombstone has no payload, not an empty one")
		change(t, server, "UPDATE dbo.customers SET id = 30 WHERE id = 3")
		p.want(
			`d dbo.customers {"id":3,"name":"Cem"}`,
			`tombstone dbo.customers {"id":3}`,
			`c dbo.customers {"id":30,"name":"Cem"}`,
		)
		change(t, server, "BEGIN TRAN\nINSERT dbo.customers VALUES (4, N'Dan')\nROLLBACK")
		p.quiet()
		for i, m := range p.all {
			require.Equal(t, "server1.db.dbo.customers", m.Topic)
			if i > 0 {
				require.Less(t, p.all[i-1].Position, m.Position, "positions grow")
			}
		}
	})
}
