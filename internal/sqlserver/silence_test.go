package sqlserver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The silence of a server is told of once, after half a minute, and so is its end;
// the statement goes on. One that ends before is told nothing of.
func TestConn_OnSilence(t *testing.T) {
	for name, test := range map[string]struct {
		pauses []time.Duration // before each row
		want   []string
	}{
		"in time":              {[]time.Duration{29 * time.Second, 29 * time.Second}, nil},
		"one slow row":         {[]time.Duration{4 * time.Minute, 20 * time.Second}, []string{"30s true", "4m0s false"}},
		"slow from a row on":   {[]time.Duration{20 * time.Second, time.Minute}, []string{"50s true", "1m20s false"}},
		"again":                {[]time.Duration{time.Minute, time.Minute}, []string{"30s true", "1m0s false", "1m30s true", "2m0s false"}},
		"until it is given up": {[]time.Duration{time.Hour}, []string{"30s true"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{deaf: true, answer: func(_ string, r *reply) {
					r.columns()
					for _, pause := range test.pauses {
						<-time.After(pause)
						r.row(1)
						_ = r.out.Flush()
					}
					r.done()
				}}
				conn := s.connect(t, Config{QueryTimeout: 5 * time.Minute, CancelGrace: time.Second})
				defer conn.Close()
				var told []string
				begin := time.Now()
				conn.OnSilence(func(yes bool) {
					told = append(told, time.Since(begin).String()+map[bool]string{true: " true", false: " false"}[yes])
				})
				_, err := all(t.Context(), conn, "SELECT n")
				if test.pauses[0] < time.Hour {
					require.NoError(t, err)
				} else {
					require.ErrorAs(t, err, new(*TimeoutError))
					<-time.After(time.Hour) // the server's goroutine ends
				}
				assert.Equal(t, test.want, told)
			})
		})
	}
}

// A consumer may take its time, and nothing is told while no statement runs, nor
// with a timeout that comes first.
func TestConn_OnSilence_NotTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{answer: func(text string, r *reply) {
			if text == "SELECT never" {
				<-time.After(time.Hour)
			}
			r.columns()
			r.row(1)
			r.row(2)
			r.done()
		}}
		conn := s.connect(t, Config{QueryTimeout: 20 * time.Second, CancelGrace: time.Second})
		defer conn.Close()
		conn.OnSilence(func(bool) { t.Error("told of a silence") })
		rows, err := conn.Query(t.Context(), "SELECT n")
		require.NoError(t, err)
		<-time.After(time.Hour)
		require.NoError(t, rows.Close())
		<-time.After(time.Hour)
		_, err = all(t.Context(), conn, "SELECT never")
		require.ErrorAs(t, err, new(*TimeoutError))
		<-time.After(time.Hour) // the server's goroutine ends
	})
}
