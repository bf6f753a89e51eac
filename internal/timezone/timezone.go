// Package timezone knows the time zones of Windows, whose names SQL Server
// uses, and turns local times into moments.
package timezone

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // Windows has no IANA database of its own
)

// Load returns the location of a time zone by its IANA or Windows name.
func Load(name string) (*time.Location, error) {
	if loc, ok := LoadWindows(name); ok {
		return loc, nil
	}
	// These names have a meaning of their own in package time.
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: neither IANA nor Windows has it", name)
	}
	return loc, nil
}

// LoadWindows returns the location of a Windows name, written in any case.
func LoadWindows(name string) (*time.Location, bool) {
	for w, iana := range windows {
		if strings.EqualFold(w, name) {
			loc, err := time.LoadLocation(iana)
			return loc, err == nil
		}
	}
	return nil, false
}

// WindowsName returns the Windows name of a location, and "UTC" for one that
// has none.
func WindowsName(loc *time.Location) string {
	if name, ok := aliases[loc.String()]; ok {
		return name
	}
	for w, iana := range windows {
		if iana == loc.String() {
			return w
		}
	}
	return "UTC"
}

// WindowsNames returns all Windows names, in no order.
func WindowsNames() []string {
	names := make([]string, 0, len(windows))
	for name := range windows {
		names = append(names, name)
	}
	return names
}

// Instant returns the moment at which clocks in a location show what local
// shows in UTC. In the hour that they repeat it is the first of the two; in the
// hour that they skip it is moved on by what they skip.
// Source: MS docs, AT TIME ZONE, which does the same.
func Instant(local time.Time, loc *time.Location) time.Time {
	// The offset that held half a day earlier is the one before any change.
	_, before := local.Add(-12 * time.Hour).In(loc).Zone()
	first := local.Add(-time.Duration(before) * time.Second).In(loc)
	_, offset := first.Zone()
	if offset == before {
		return first
	}
	second := local.Add(-time.Duration(offset) * time.Second).In(loc)
	if _, again := second.Zone(); again == offset {
		return second
	}
	return first
}
