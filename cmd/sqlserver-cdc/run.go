package main

import (
	"context"
	"sync/atomic"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/urfave/cli/v2"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

const (
	binaryName  = "sqlserver-cdc"
	productName = "sqlserver-cdc"
	docsURL     = "https://github.com/sqlserver-cdc/benthos-sqlserver-cdc"

	// codeFatal is the exit code of a pipeline that its input has stopped
	// because it cannot go on (on_fatal: stop). To Benthos such a pipeline has
	// ended well.
	codeFatal = 2
)

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string) (code int, err error) {
	var fatal atomic.Bool
	if err := input.Register(service.GlobalEnvironment(), input.WithOnStop(func(error) { fatal.Store(true) })); err != nil {
		return 1, err
	}
	cli.AppHelpTemplate = appHelp()
	version, built := buildVersion()
	code, err = service.RunCLIToCode(ctx,
		service.CLIOptSetArgs(args...),
		service.CLIOptSetVersion(version, built),
		service.CLIOptSetBinaryName(binaryName),
		service.CLIOptSetProductName(productName),
		service.CLIOptSetDocumentationURL(docsURL),
		service.CLIOptSetMainSchemaFrom(func() *service.ConfigSchema { return mainSchema(version, built) }),
		service.CLIOptAddCommand(quickstartCommand()),
		service.CLIOptAddCommand(simulatorCommand()),
		service.CLIOptAddCommand(debeziumConfigCommand()),
		service.CLIOptAddCommand(importOffsetsCommand()),
	)
	if code == 0 && err == nil && fatal.Load() {
		code = codeFatal
	}
	return code, err
}

// mainSchema is the schema of pipelines with the defaults of this
// distribution: one pipeline thread, because more of them reorder messages,
// and an HTTP server that only this machine reaches, because it shows
// configuration and takes commands without asking who sends them.
func mainSchema(version, built string) *service.ConfigSchema {
	schema := service.GlobalEnvironment().FullConfigSchema(version, built)
	schema.SetFieldDefault(1, "pipeline", "threads")
	schema.SetFieldDefault("127.0.0.1:4195", "http", "address")
	schema.SetFieldDefault(map[string]any{"@service": binaryName}, "logger", "static_fields")
	return schema
}
