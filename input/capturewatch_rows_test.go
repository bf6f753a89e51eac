package input_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The capture job is looked after while rows are read, and while a stream waits
// for the first LSN at a configured start: its silence costs changes then too.
func TestCapture_StandsStillWhileRowsAreRead(t *testing.T) {
	for name, strict := range map[string]string{"told": "", "strict": "strict: true\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, pagedTables+"INSERT dbo.a VALUES (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9)\n"+enable("dbo", "a"))
				opened := make(chan struct{})
				p := startPipeline(t, server, settings{
					fields: strict + "max_batch_size: 1\nsnapshot_fetch_size: 1\nmax_queue_size: 2",
					output: func(ctx context.Context, _ []received) error {
						select {
						case <-opened:
						case <-ctx.Done():
						}
						return ctx.Err()
					},
				})
				<-time.After(time.Second)
				server.StopAgent()
				<-time.After(5 * time.Minute)
				if strict == "" {
					require.Equal(t, 1, countLines(p, stalled), "log:\n%s", p.logs)
					server.StartAgent()
					<-time.After(2 * time.Minute)
					require.Equal(t, 1, countLines(p, again), "log:\n%s", p.logs)
				}
				close(opened)
				if strict != "" {
					p.logged("(capture_stalled)")
					server.StartAgent()
				}
				assert.Len(t, p.next(9), 9)
			})
		})
	}
}

func TestCapture_StandsStillBeforeAConfiguredStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := emptyServer(t)
		server.StopAgent()
		sqlExec(t, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{fields: noData + "start_position: earliest"})
		<-time.After(3 * time.Minute)
		assert.Equal(t, 1, countLines(p, stalled), "log:\n%s", p.logs)
		server.StartAgent()
		change(t, server, "INSERT dbo.t VALUES (1)")
		p.want(`c dbo.t {"id":1}`)
	})
}
