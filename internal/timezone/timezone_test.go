package timezone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"Pacific Standard Time", "America/Los_Angeles"},
		{"pacific standard time", "America/Los_Angeles"},
		{"UTC", "Etc/UTC"},
		{"Europe/Vienna", "Europe/Vienna"},
	} {
		loc, err := Load(test.name)
		require.NoError(t, err, test.name)
		assert.Equal(t, test.want, loc.String())
	}
	for _, name := range []string{"", "Local", "Mars Standard Time", "../etc/passwd"} {
		_, err := Load(name)
		require.ErrorContains(t, err, "unknown time zone", name)
	}
}

func TestWindowsNames_AllLoad(t *testing.T) {
	for _, name := range WindowsNames() {
		loc, ok := LoadWindows(name)
		require.True(t, ok, name)
		assert.Equal(t, name, WindowsName(loc))
	}
}

func TestInstant(t *testing.T) {
	for _, test := range []struct{ name, zone, local, want string }{
		{"winter", "Europe/Vienna", "2026-01-15T12:00:00", "2026-01-15T11:00:00Z"},
		{"summer", "Europe/Vienna", "2026-07-15T12:00:00", "2026-07-15T10:00:00Z"},
		{"before the repeated hour", "Europe/Vienna", "2026-10-25T01:59:59.997", "2026-10-24T23:59:59.997Z"},
		{"repeated hour", "Europe/Vienna", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z"},
		{"after it", "Europe/Vienna", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"},
		{"skipped hour", "Europe/Vienna", "2026-03-29T02:30:00", "2026-03-29T01:30:00Z"},
		{"repeated hour in the west", "Pacific Standard Time", "2026-11-01T01:30:00", "2026-11-01T08:30:00Z"},
		{"half an hour repeated", "Lord Howe Standard Time", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z"},
		{"no daylight saving", "India Standard Time", "2026-10-25T02:30:00", "2026-10-24T21:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			loc, err := Load(test.zone)
			require.NoError(t, err)
			local, err := time.Parse("2006-01-02T15:04:05", test.local)
			require.NoError(t, err)
			assert.Equal(t, test.want, Instant(local, loc).UTC().Format(time.RFC3339Nano))
		})
	}
}
