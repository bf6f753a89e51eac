package input_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// The text of an error that only a new snapshot cures says how to get one, and
// doing so gives one.
func TestStartingAfresh(t *testing.T) {
	const (
		reenable = `EXEC sys.sp_cdc_disable_table N'dbo', N'customers', N'all'
UPDATE dbo.customers SET name = N'Bea' WHERE id = 2
` + `EXEC sys.sp_cdc_enable_table N'dbo', N'customers', @role_name = NULL`
		cleanUp = "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn()\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_customers', @l"
	)
	// Each gap makes the changes after the stored position unreadable.
	gaps := map[string]func(t *testing.T, s *afresh){
		"retention_gap": func(t *testing.T, s *afresh) {
			change(t, s.server, "UPDATE dbo.customers SET name = N'Bea' WHERE id = 2")
			// A cleanup keeps what was committed at the time of its limit.
			<-time.After(time.Second)
			change(t, s.server, "INSERT dbo.customers VALUES (3, N'Cem')")
			sqlExec(t, s.server, "USE db\n"+cleanUp)
		},
		"instance_replaced": func(t *testing.T, s *afresh) {
			change(t, s.server, reenable)
			change(t, s.server, "INSERT dbo.customers VALUES (3, N'Cem')")
		},
		"checkpoint_damaged": func(t *testing.T, s *afresh) {
			change(t, s.server, "UPDATE dbo.customers SET name = N'Bea' WHERE id = 2")
			change(t, s.server, "INSERT dbo.customers VALUES (3, N'Cem')")
			for _, slot := range []string{".a", ".b"} {
				require.Contains(t, s.store.values, "server1.db.position"+slot)
				s.store.values["server1.db.position"+slot] = []byte("{}")
			}
		},
	}
	// The remedies in the text, each of which is enough.
	remedies := map[string]func(t *testing.T, s *afresh, text string) (fields string){
		"remove the keys": func(t *testing.T, s *afresh, text string) string {
			_, list, ok := strings.Cut(text, "remove the keys ")
			require.True(t, ok, text)
			list, _, _ = strings.Cut(list, " from cache ")
			for _, m := range regexp.MustCompile(`\\"([^"\\]+)\\"`).FindAllStringSubmatch(list, -1) {
				require.NoError(t, s.store.Delete(t.Context(), m[1]))
			}
			require.Empty(t, s.store.values, "all keys are named")
			return ""
		},
		"another key": func(t *testing.T, _ *afresh, text string) string {
			require.Contains(t, text, "or set checkpoint_cache_key to a key that is not in use")
			return "checkpoint_cache_key: second"
		},
	}
	for reason, gap := range gaps {
		for name, remedy := range remedies {
			t.Run(reason+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &afresh{server: newServer(t, customers), store: newStore()}
					p := startPipeline(t, s.server, settings{store: s.store})
					p.want(`r dbo.customers {"id":1,"name":"Ada"}`, `r dbo.customers {"id":2,"name":"Bob"}`)
					change(t, s.server, "INSERT dbo.customers VALUES (0, N'Zoe')")
					p.want(`c dbo.customers {"id":0,"name":"Zoe"}`)
					p.stop()
					gap(t, s)

					p = startPipeline(t, s.server, settings{store: s.store})
					<-time.After(time.Minute)
					require.Contains(t, p.logs.String(), "Cannot go on ("+reason+")")
					require.Empty(t, p.rest())
					p.stop()
					fields := remedy(t, s, p.logs.String())

					p = startPipeline(t, s.server, settings{store: s.store, fields: fields})
					got := p.want(
						`r dbo.customers {"id":0,"name":"Zoe"}`,
						`r dbo.customers {"id":1,"name":"Ada"}`,
						`r dbo.customers {"id":2,"name":"Bea"}`,
						`r dbo.customers {"id":3,"name":"Cem"}`,
					)
					assert.Contains(t, got[0].Value, `"snapshot":"first"`)
					change(t, s.server, "INSERT dbo.customers VALUES (4, N'Dan')")
					p.want(`c dbo.customers {"id":4,"name":"Dan"}`)
				})
			})
		}
	}
}

// afresh is what a case of TestStartingAfresh works on.
type afresh struct {
	server *simulator.Server
	store  *store
}
