package input_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A capture instance that is made for a table while the snapshot is busy with
// another is taken up before the table's first row: its rows have the new
// columns, consumers are told of them before, and the older instance may go.
func TestSnapshot_InstanceMadeMeanwhile(t *testing.T) {
	for _, isolation := range []string{"snapshot", "read_committed"} {
		for _, dropped := range []bool{false, true} {
			t.Run(fmt.Sprint(isolation, ", the older one is dropped: ", dropped), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t, pagedTables+"INSERT dbo.a VALUES (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9)\n"+enable("dbo", "a")+enable("dbo", "b"))
					full, opened := make(chan struct{}), make(chan struct{})
					taken := 0
					p := startPipeline(t, server, settings{
						fields: "max_batch_size: 1\nsnapshot_fetch_size: 1\nmax_queue_size: 2\ninclude_schema_changes: true\nsnapshot_isolation_mode: " + isolation,
						output: func(ctx context.Context, _ []received) error {
							if taken++; taken == 3 {
								close(full)
								select {
								case <-opened:
								case <-ctx.Done():
								}
							}
							return ctx.Err()
						},
					})
					<-full
					<-time.After(time.Second)
					change(t, server, "UPDATE dbo.b SET v = 20 WHERE id = 2")
					change(t, server, "ALTER TABLE dbo.b ADD w int NULL")
					change(t, server, "UPDATE dbo.b SET w = 30 WHERE id = 3")
					change(t, server, enableAs("dbo", "b", "second"))
					<-time.After(10 * time.Minute)
					if dropped {
						change(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N'b', N'dbo_b'")
					}
					close(opened)
					var got []string
					for _, m := range p.settled() {
						if m.Kind == "schema_change" {
							got = append(got, m.Kind+" "+m.Table)
							continue
						}
						if m.Table == "b" {
							got = append(got, m.String())
						}
					}
					assert.ElementsMatch(t, []string{
						"schema_change a", "schema_change b", "schema_change b",
						`r dbo.b {"id":1,"v":1,"w":null}`, `r dbo.b {"id":2,"v":20,"w":null}`, `r dbo.b {"id":3,"v":3,"w":30}`,
					}, got)
					change(t, server, "INSERT dbo.b VALUES (4, 4, 4)")
					p.want(`c dbo.b {"id":4,"v":4,"w":4}`)
					require.NotContains(t, p.logs.String(), "level=ERROR")
					p.stop()
				})
			})
		}
	}
}
