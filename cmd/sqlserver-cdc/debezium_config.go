package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/urfave/cli/v2"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

// debeziumConfigCommand turns a connector's configuration into a pipeline.
func debeziumConfigCommand() *cli.Command {
	return &cli.Command{
		Name:      "debezium-config",
		Usage:     "Print a pipeline for a configuration of Debezium's SQL Server connector",
		ArgsUsage: "FILE",
		Description: "Reads the configuration of a connector from FILE, or from standard input for \"-\": the JSON of\n" +
			"Kafka Connect, a KafkaConnector of Strimzi as YAML or JSON, or Java properties, those of Debezium\n" +
			"Server included. The pipeline goes to standard output, and what it cannot carry over, and the\n" +
			"environment variables it needs, to standard error.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "debezium", Usage: "major version of Debezium whose defaults to take: 1, 2 or 3", DefaultText: "1 if there are names that only 1.x has, else 3"},
			&cli.StringFlag{Name: "worker", Usage: "properties of the Kafka Connect worker: its converters and brokers"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return errors.New("debezium-config: want the name of one file, or - for standard input")
			}
			o := debeziumConfigOptions{file: c.Args().First(), worker: c.String("worker"), in: os.Stdin, out: c.App.Writer, log: c.App.ErrWriter}
			if c.IsSet("debezium") {
				o.generation = debeziumconfig.Generation(c.Int("debezium"))
				if o.generation < debeziumconfig.Debezium1 || o.generation > debeziumconfig.Debezium3 {
					return fmt.Errorf("debezium-config: --debezium %d: want 1, 2 or 3", o.generation)
				}
			}
			return runDebeziumConfig(o)
		},
	}
}

type debeziumConfigOptions struct {
	file, worker string
	generation   debeziumconfig.Generation // zero: told by the properties
	in           io.Reader
	out, log     io.Writer
}

// runDebeziumConfig writes the pipeline, and what is to be known of it.
func runDebeziumConfig(o debeziumConfigOptions) error {
	props, err := readConnector(o)
	if err != nil {
		return err
	}
	var options []debeziumconfig.Option
	if o.generation != 0 {
		options = append(options, debeziumconfig.As(o.generation))
	}
	result, err := debeziumconfig.Translate(props, options...)
	if err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	yaml, variables := result.YAML(service.GlobalEnvironment())
	for _, note := range result.Notes {
		if note.Warning() {
			fmt.Fprintln(o.log, "warning:", note)
		}
	}
	for _, v := range variables {
		fmt.Fprintf(o.log, "environment variable: %s (%s)\n", v.Name, v.Origin)
	}
	if err := reportLints(o.log, yaml); err != nil {
		return err
	}
	_, err = o.out.Write(yaml)
	return err
}

// readConnector reads the connector's file and, below it, the worker's.
func readConnector(o debeziumConfigOptions) (map[string]string, error) {
	props := map[string]string{}
	if o.worker != "" {
		worker, err := readConnectorFile(o.worker, o.in)
		if err != nil {
			return nil, err
		}
		props = debeziumconfig.OfWorker(worker)
	}
	connector, err := readConnectorFile(o.file, o.in)
	if err != nil {
		return nil, err
	}
	return debeziumconfig.OverWorker(props, connector), nil
}

func readConnectorFile(name string, in io.Reader) (map[string]string, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(in)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	props, err := debeziumconfig.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return props, nil
}

// reportLints names what is wrong with a pipeline: a value that was wrong in
// the connector's configuration too, such as a regular expression.
func reportLints(log io.Writer, yaml []byte) error {
	lints, err := mainSchema(buildVersion()).NewStreamConfigLinter().SetSkipEnvVarCheck(true).LintYAML(yaml)
	if err != nil {
		return fmt.Errorf("checking the pipeline: %w", err)
	}
	for _, lint := range lints {
		fmt.Fprintln(log, "warning: the pipeline does not pass lint:", lint.Error())
	}
	return nil
}
