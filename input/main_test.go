package input_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/crashtest"
)

// beServer is the environment variable by which this program runs again as the
// simulator's process: its arguments are then those of [crashtest.Serve].
const beServer = "SQLSERVER_CDC_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(beServer) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := crashtest.Serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
