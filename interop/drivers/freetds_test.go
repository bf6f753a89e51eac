//go:build interop

package drivers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rowEnd is what tsql prints behind each line of a result set.
const rowEnd = "\x1e"

// freeTDS is the C library, through its tool tsql.
var freeTDS = client{
	name:  "freetds",
	modes: []mode{plain, loginOnly, encrypted},
	open:  openFreeTDS,
	cannot: map[string]string{
		"mode strict": "FreeTDS knows TDS 8 from 1.4 on only",
		"call":        "tsql sends text alone",
		"tvp":         "tsql sends text alone",
		"bulk":        "tsql sends text alone",
		"cancel":      "tsql cannot interrupt a statement and go on",
		"timeout":     "tsql has none",
		"connects":    "a connection is a process",
		"metadata":    "tsql has no catalogue functions",
		"control":     "values are printed as they are, line ends included",
		"large":       "tsql prints values through a buffer of its own",
		"variant":     "tsql refuses the type",
		"hierarchyid": "tsql refuses the type",
	},
	close: []likeness{
		{"floats are printed with more digits than needed", sameFloat},
		{"bytes are printed without 0x, in small letters", sameBytes},
		{"moments are printed to the minute", sameMinute},
	},
}

func openFreeTDS(t *testing.T, to target, m mode) session {
	config := filepath.Join(t.TempDir(), "freetds.conf")
	encryption := map[mode]string{plain: "off", loginOnly: "request", encrypted: "require"}[m]
	text := fmt.Sprintf("[global]\n\ttds version = 7.4\n\tclient charset = UTF-8\n\ttext size = 2147483647\n"+
		"[simulator]\n\thost = %s\n\tport = %d\n\tencryption = %s\n", to.host, to.port, encryption)
	if m != plain {
		text += fmt.Sprintf("\tca file = %s\n\tcheck certificate hostname = yes\n", to.authority)
	}
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	return openText(t, textClient{
		start: func(ctx context.Context) *exec.Cmd {
			command := exec.CommandContext(ctx, "stdbuf", "-oL",
				"tsql", "-S", "simulator", "-U", "sa", "-P", to.password, "-t", fieldEnd, "-r", rowEnd+"\n")
			command.Env = append(os.Environ(), "FREETDSCONF="+config, "LC_ALL=C.UTF-8")
			return command
		},
		prompt:  regexp.MustCompile(`^(\r|\d+> )+|^(locale|using default charset) .*`),
		failure: regexp.MustCompile(`^Msg (\d+) \(severity (\d+), state (\d+)\) from `),
		line: func(line string) ([]string, bool) {
			text, ok := strings.CutSuffix(line, rowEnd)
			return strings.Split(text, fieldEnd), ok
		},
	})
}
