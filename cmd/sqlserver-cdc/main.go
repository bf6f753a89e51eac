// Command sqlserver-cdc is a distribution of Benthos that carries the input
// sqlserver_cdc together with what its pipelines need, and a stand-in SQL
// Server to try them on.
package main

import (
	"context"
	"fmt"
	"os"
	_ "time/tzdata" // time zones wherever the program runs

	// The components of the Benthos core.
	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
)

func main() {
	code, err := run(context.Background(), os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
