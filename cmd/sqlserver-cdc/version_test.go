package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

func TestDescribeBuild(t *testing.T) {
	settings := func(pairs ...string) (out []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	tests := []struct {
		name           string
		version        string
		settings       []debug.BuildSetting
		wantVer, wantD string
	}{
		{"installed", "v1.2.3", nil, "v1.2.3", "unknown"},
		{"built in a clone", "(devel)", settings("vcs.revision", "0123456789abcdef", "vcs.time", "2026-11-30T00:00:00Z"), event.Version + "-devel-0123456789ab", "2026-11-30T00:00:00Z"},
		{"changed", "", settings("vcs.revision", "01234", "vcs.modified", "true"), event.Version + "-devel-01234-modified", "unknown"},
		{"nothing known", "", nil, event.Version + "-devel", "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			version, built := describeBuild(&debug.BuildInfo{Main: debug.Module{Version: tt.version}, Settings: tt.settings})
			assert.Equal(t, tt.wantVer, version)
			assert.Equal(t, tt.wantD, built)
		})
	}
}
