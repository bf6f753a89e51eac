package debezium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// minimumJava is the first release whose Double.toString and Float.toString
// print the shortest digits that identify a value (JDK-4511638, fixed in 19);
// what Debezium emits for floats differs below it.
const minimumJava = 19

// FindJava returns the path of the newest java of at least release 19 among
// JAVA_HOME, PATH and the folders of /usr/lib/jvm.
func FindJava(ctx context.Context) (string, error) {
	best, bestRelease, seen := "", 0, ""
	for _, candidate := range javaCandidates() {
		release, err := javaRelease(ctx, candidate)
		if err != nil {
			continue // a folder without a usable java
		}
		seen += fmt.Sprintf(" %s (release %d)", candidate, release)
		if release > bestRelease {
			best, bestRelease = candidate, release
		}
	}
	switch {
	case best == "":
		return "", errors.New("no java in JAVA_HOME, PATH or /usr/lib/jvm: install a JDK of release 19 or newer")
	case bestRelease < minimumJava:
		return "", fmt.Errorf("floats print as on a current JVM from release %d on: install a newer JDK, found only%s", minimumJava, seen)
	}
	return best, nil
}

func javaCandidates() []string {
	var candidates []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, "bin", "java"))
	}
	if found, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, found)
	}
	installed, _ := filepath.Glob("/usr/lib/jvm/*/bin/java") // the pattern is well formed
	return append(candidates, installed...)
}

func javaRelease(ctx context.Context, java string) (int, error) {
	output, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("asking %s for its version: %w", java, err)
	}
	return parseJavaRelease(string(output))
}

// javaVersion is how every JVM begins its version: `openjdk version "25.0.1"`,
// or "1.8.0_402" before release 9.
var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

func parseJavaRelease(output string) (int, error) {
	match := javaVersion.FindStringSubmatch(output)
	if match == nil {
		return 0, fmt.Errorf("no version in %q", output)
	}
	return strconv.Atoi(match[1])
}
