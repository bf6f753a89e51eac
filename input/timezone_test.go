package input_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// A change is committed in winter and read in summer. Its time is exact
// wherever the time zone is known; with the present offset it is an hour off,
// and a warning says so once.
func TestTimeZone_AcrossAChangeOfClocks(t *testing.T) {
	for _, test := range []struct {
		name, version, fields string
		off                   time.Duration
		warnings              int
	}{
		{"asked of the server", "", "", 0, 0},
		{"configured", "2019", "database_server_timezone: W. Europe Standard Time", 0, 0},
		{"configured has precedence", "", "database_server_timezone: UTC", time.Hour, 0},
		{"not known", "2019", "", -time.Hour, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := viennaServer(t, test.version)
				kept := newStore()
				fields := "snapshot_mode: no_data\n" + test.fields
				p := startPipeline(t, server, settings{fields: fields, store: kept})
				<-time.After(settle)
				p.stop()

				committed := time.Now()
				sqlExec(t, server, "USE db\nINSERT dbo.t VALUES (1)")
				<-time.After(time.Until(time.Date(2000, 7, 1, 12, 0, 0, 0, time.UTC)))
				require.NoError(t, server.CaptureNow("db"))

				p = startPipeline(t, server, settings{fields: fields, store: kept})
				got := sourceTime(t, p.next(1)[0])
				assert.WithinDuration(t, committed.Add(test.off), got, 10*time.Millisecond)
				assert.Equal(t, test.warnings, strings.Count(p.logs.String(), "set database_server_timezone"))
			})
		})
	}
}

func TestSourceTimestampMode(t *testing.T) {
	for _, test := range []struct {
		mode string
		want time.Duration // after the transaction's beginning
	}{{"commit", time.Minute}, {"begin", 0}, {"processing", 3 * time.Minute}} {
		t.Run(test.mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := viennaServer(t, "")
				p := startPipeline(t, server, settings{fields: "snapshot_mode: no_data\nsource_timestamp_mode: " + test.mode})
				<-time.After(settle)
				begun := time.Now()
				sqlExec(t, server, "USE db\nBEGIN TRAN\nINSERT dbo.t VALUES (1)\nWAITFOR DELAY '00:01:00'\nCOMMIT")
				<-time.After(2*time.Minute - 10*time.Millisecond)
				require.NoError(t, server.CaptureNow("db"))
				assert.WithinDuration(t, begun.Add(test.want), sourceTime(t, p.next(1)[0]), time.Second)
			})
		})
	}
}

// viennaServer is a server in Vienna that captures table t only when told to.
func viennaServer(t *testing.T, version string) *simulator.Server {
	t.Helper()
	vienna, err := time.LoadLocation("Europe/Vienna")
	require.NoError(t, err)
	server, err := simulator.New(simulator.Options{
		Logins: map[string]string{"sa": password}, Encryption: simulator.EncryptionUnsupported,
		Location: vienna, Version: version,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	server.StopAgent()
	sqlExec(t, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nGO\nUSE db\n"+enable("dbo", "t"))
	require.NoError(t, server.CaptureNow("db"))
	return server
}

// sourceTime returns the time in a message's source block.
func sourceTime(t *testing.T, m received) time.Time {
	t.Helper()
	var v struct {
		Source struct {
			TS int64 `json:"ts_ms"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(m.Value), &v))
	return time.UnixMilli(v.Source.TS)
}
