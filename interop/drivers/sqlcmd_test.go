//go:build interop

package drivers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// goSQLCmd is Microsoft's sqlcmd in Go.
var goSQLCmd = client{
	name:  "go-sqlcmd",
	modes: []mode{plain, encrypted, strict},
	open:  openSQLCmd,
	cannot: map[string]string{
		"mode login only": "-N false encrypts the login and nothing else as go-mssqldb does, which runs that mode",
		"call":            "sqlcmd sends text alone",
		"tvp":             "sqlcmd sends text alone",
		"bulk":            "sqlcmd sends text alone",
		"cancel":          "sqlcmd ends with the statement that is interrupted",
		"timeout":         "sqlcmd ends the connection",
		"connects":        "a connection is a process",
		"metadata":        "sqlcmd has no catalogue functions",
		"control":         "values are printed as they are, line ends included",
		"long":            "sqlcmd prints 256 characters of a value",
		"type real":       "sqlcmd cuts its exponent",
		"type image":      "sqlcmd prints its bytes",
		"hierarchyid":     "sqlcmd prints its bytes",
		"large":           "sqlcmd prints 256 characters of a value",
	},
	close: []likeness{
		{"names and NULL are cut to the width of their column", sameCut},
		{"identifiers are printed in small letters", strings.EqualFold},
		{"floats are printed in another notation", sameFloat},
		{"moments are printed with what fraction there is", sameMoment},
	},
}

func openSQLCmd(t *testing.T, to target, m mode) session {
	encrypt := map[mode][]string{
		plain:     {"-N", "disable"},
		encrypted: {"-N", "true"},
		strict:    {"-N", "strict"},
	}[m]
	return openText(t, textClient{
		start: func(ctx context.Context) *exec.Cmd {
			args := append([]string{
				"-S", fmt.Sprintf("%s,%d", to.host, to.port), "-U", "sa",
				"-x", "-W", "-s", fieldEnd, "-w", "65535",
			}, encrypt...)
			command := exec.CommandContext(ctx, "build/sqlcmd", args...)
			// Its -J wants the server's own certificate; the system's authorities do for ours.
			command.Env = append(os.Environ(), "SQLCMDPASSWORD="+to.password, "SSL_CERT_FILE="+to.authority)
			return command
		},
		failure: regexp.MustCompile(`^Msg (\d+), Level (\d+), State (\d+), Server `),
		line: func(line string) ([]string, bool) {
			return strings.Split(line, fieldEnd), false
		},
	})
}
