package main

import (
	"runtime/debug"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

// buildVersion returns the version and the date of this binary: the module's
// version when it was installed as a module, else the version that events carry
// and the commit.
func buildVersion() (version, built string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	return describeBuild(info)
}

func describeBuild(info *debug.BuildInfo) (version, built string) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	version, built = info.Main.Version, settings["vcs.time"]
	// A build of a checkout has a version made of its commit, of no release.
	if version == "" || version == "(devel)" || strings.HasPrefix(version, "v0.0.0-") {
		version = event.Version + "-devel"
		if revision := settings["vcs.revision"]; revision != "" {
			version += "-" + revision[:min(12, len(revision))]
		}
		if settings["vcs.modified"] == "true" {
			version += "-modified"
		}
	}
	if built == "" {
		built = "unknown"
	}
	return version, built
}
