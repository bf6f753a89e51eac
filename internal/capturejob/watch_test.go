package capturejob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// What each look sees, a minute after the one before, and what is made of it.
func TestWatch_Judge(t *testing.T) {
	yes, no := true, false
	type look struct {
		newest int // LSN
		status sqlserver.CaptureStatus
		want   Kind
	}
	// during repeats a look for some minutes.
	during := func(minutes int, l look) []look {
		var list []look
		for range minutes {
			list = append(list, l)
		}
		return list
	}
	scan := func(id int64) *sqlserver.LogScan {
		return &sqlserver.LogScan{ID: id, Scans: 1, Ended: time.Date(2024, 1, 1, 0, int(id), 0, 0, time.UTC)}
	}
	failed := &sqlserver.LogScan{ID: 9, Failed: true, Number: 2628, Message: "String or binary data would be truncated"}
	running := &sqlserver.CaptureJob{Running: true, Enabled: true, Continuous: true, Interval: 5 * time.Second}
	stopped := &sqlserver.CaptureJob{Enabled: true, Continuous: true, Interval: 5 * time.Second}
	disabled := &sqlserver.CaptureJob{Continuous: true}
	scheduled := &sqlserver.CaptureJob{Enabled: true}
	rare := &sqlserver.CaptureJob{Running: true, Enabled: true, Continuous: true, Interval: time.Hour}

	for name, looks := range map[string][]look{
		"nothing but idle rows is seen":      append(append(during(5, look{1, sqlserver.CaptureStatus{}, ""}), during(10, look{2, sqlserver.CaptureStatus{}, ""})...), look{3, sqlserver.CaptureStatus{}, ""}),
		"silence":                            append(during(11, look{1, sqlserver.CaptureStatus{}, ""}), look{1, sqlserver.CaptureStatus{}, Silent}, look{2, sqlserver.CaptureStatus{}, ""}),
		"silence from before":                {{1, sqlserver.CaptureStatus{Age: time.Hour}, Silent}, {2, sqlserver.CaptureStatus{}, ""}},
		"no LSN ever":                        append(during(11, look{0, sqlserver.CaptureStatus{}, ""}), look{0, sqlserver.CaptureStatus{}, Silent}),
		"silence on a replica":               append(during(11, look{1, sqlserver.CaptureStatus{Replica: true}, ""}), look{1, sqlserver.CaptureStatus{Replica: true}, Silent}),
		"silence of Azure's scheduler":       during(60, look{1, sqlserver.CaptureStatus{Azure: true}, ""}),
		"no job, as of a published database": append(append(during(5, look{1, sqlserver.CaptureStatus{NoJob: true}, ""}), during(10, look{2, sqlserver.CaptureStatus{NoJob: true}, ""})...), look{3, sqlserver.CaptureStatus{NoJob: true}, ""}),
		"no job":                             append(during(11, look{1, sqlserver.CaptureStatus{Agent: &yes, NoJob: true}, ""}), look{1, sqlserver.CaptureStatus{Agent: &yes, NoJob: true}, Job}, look{2, sqlserver.CaptureStatus{Job: running}, ""}),
		"a scheduled job":                    during(60, look{1, sqlserver.CaptureStatus{Job: scheduled}, ""}),
		"a job that polls every hour":        append(during(71, look{1, sqlserver.CaptureStatus{Job: rare}, ""}), look{1, sqlserver.CaptureStatus{Job: rare}, Silent}),
		"a large transaction":                during(60, look{1, sqlserver.CaptureStatus{Scan: &sqlserver.LogScan{ID: 7}}, ""}),
		"scans go on": {
			{1, sqlserver.CaptureStatus{Age: time.Hour, Scan: scan(1)}, Silent},
			{1, sqlserver.CaptureStatus{Age: time.Hour, Scan: scan(2)}, ""},
		},
		"Agent": {
			{1, sqlserver.CaptureStatus{Agent: &yes, Job: running}, ""},
			{2, sqlserver.CaptureStatus{Agent: &no, Job: stopped}, Agent},
			{2, sqlserver.CaptureStatus{Agent: &yes, Job: stopped}, Job},
			{2, sqlserver.CaptureStatus{Agent: &yes, Job: disabled}, Job},
			{2, sqlserver.CaptureStatus{Agent: &yes, Job: running}, ""},
		},
		"capture without the Agent": append([]look{
			{1, sqlserver.CaptureStatus{Agent: &no}, Agent},
			{2, sqlserver.CaptureStatus{Agent: &no}, Agent}, // the last that the job did
			{3, sqlserver.CaptureStatus{Agent: &no}, ""},
		}, append(during(10, look{3, sqlserver.CaptureStatus{Agent: &no}, ""}), look{3, sqlserver.CaptureStatus{Agent: &no}, Agent})...),
		"one scan fails": {
			{1, sqlserver.CaptureStatus{Job: running, Scan: failed}, ""},
			{1, sqlserver.CaptureStatus{Job: running, Scan: scan(10)}, ""},
			{1, sqlserver.CaptureStatus{Job: running, Scan: failed}, ""},
		},
		"scans fail": {
			{1, sqlserver.CaptureStatus{Job: running, Scan: failed}, ""},
			{1, sqlserver.CaptureStatus{Job: running, Scan: failed}, Failing},
			{1, sqlserver.CaptureStatus{Job: stopped, Scan: failed}, Job},
			{2, sqlserver.CaptureStatus{Job: running, Scan: scan(10)}, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var w Watch
			now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			for i, l := range looks {
				l.status.Newest[9] = byte(l.newest)
				found := w.Judge(now, l.status)
				assert.Equal(t, l.want, found.Kind, "look %d: %s", i, found.Cause)
				assert.Equal(t, l.want != "", found.Remedy != "")
				now = now.Add(Interval)
			}
		})
	}
}
