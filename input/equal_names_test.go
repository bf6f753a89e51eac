package input_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoNames is a table whose columns field_name_adjustment_mode: avro makes
// equal, after one that is fine.
const twoNames = customers + "GO\nUSE db\nCREATE TABLE dbo.odd (id int NOT NULL PRIMARY KEY, [a b] int, [a_b] int)\n" +
	"INSERT dbo.odd VALUES (1, 2, 3)\n"

// Two columns with one name in events are a mistake that time does not cure,
// and one that shows before anything is emitted.
func TestEqualNames_AtTheStart(t *testing.T) {
	for _, mode := range []string{"initial", "no_data"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, twoNames+enable("dbo", "odd"))
				reasons := make(chan error, 10)
				p := startPipeline(t, server, settings{
					fields: "field_name_adjustment_mode: avro\ninclude_schema_changes: true\non_fatal: stop\nsnapshot_mode: " + mode,
					onStop: func(err error) { reasons <- err },
				})
				err := <-p.ended
				p.ended <- err
				require.NoError(t, err)
				require.Len(t, reasons, 1)
				err = <-reasons
				for _, part := range []string{"dbo.odd", `columns "a b" and "a_b" are both called "a_b"`, "field_name_adjustment_mode", "column_exclude_list"} {
					assert.ErrorContains(t, err, part)
				}
				assert.Empty(t, shorts(p.rest()))
				assert.Equal(t, 1, countLines(p, "level=ERROR"), "log:\n%s", p.logs)
			})
		})
	}
}

// A capture instance that comes later and has such columns ends the reading
// where it begins; what is lost is nothing, once it is cured.
func TestEqualNames_Later(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		store := newStore()
		const fields = "field_name_adjustment_mode: avro\npoll_interval: 5s\n"
		p := startPipeline(t, server, settings{fields: fields, store: store})
		p.next(2)
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		change(t, server, "ALTER TABLE dbo.customers ADD [a b] int, [a_b] int\nGO\nUSE db\n"+
			"EXEC sys.sp_cdc_enable_table N'dbo', N'customers', @role_name = NULL, @capture_instance = N'second'\nGO\nUSE db\n"+
			"INSERT dbo.customers VALUES (4, N'Dan', 1, 2)")
		<-time.After(10 * time.Minute)
		assert.Equal(t, 1, countLines(p, "Cannot go on"), "log:\n%s", p.logs)
		assert.Contains(t, p.logs.String(), `columns \"a b\" and \"a_b\" are both called`)
		require.Empty(t, shorts(p.rest()))
		p.stop()

		p = startPipeline(t, server, settings{fields: fields + "column_exclude_list: [ 'dbo\\.customers\\.a b' ]", store: store})
		p.want(`c dbo.customers {"id":4,"name":"Dan","a_b":2}`)
	})
}
