// Package configexamples holds whole pipelines to start from.
package configexamples

import _ "embed"

// Quickstart is quickstart.yaml, the pipeline of the quickstart command.
//
//go:embed quickstart.yaml
var Quickstart string
