package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// importOffsetsCommand gives a pipeline the position of a connector.
func importOffsetsCommand() *cli.Command {
	return &cli.Command{
		Name:      "import-offsets",
		Usage:     "Let a pipeline go on where Debezium's SQL Server connector has stopped",
		ArgsUsage: "PIPELINE OFFSETS",
		Description: "Reads what Kafka Connect has stored of a connector that is stopped, looks it up in the change tables\n" +
			"and stores the position in the cache of PIPELINE, which has not run yet. Then it takes no snapshot.\n" +
			"OFFSETS, or standard input for \"-\", is the file of offset.storage.file.filename, the answer of\n" +
			"GET /connectors/<name>/offsets, or lines of the offsets topic: key, tab and value.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "connector", Usage: "name of the connector, if several have the pipeline's topic_prefix"},
			&cli.StringSliceFlag{Name: "resources", Aliases: []string{"r"}, Usage: "file with the cache resource, if PIPELINE lacks it"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return errors.New("import-offsets: want the names of two files: the pipeline and the offsets")
			}
			return runImportOffsets(c.Context, importOffsetsOptions{
				pipeline: c.Args().Get(0), offsets: c.Args().Get(1), resources: c.StringSlice("resources"), connector: c.String("connector"),
				in: os.Stdin, out: c.App.Writer, log: c.App.ErrWriter,
			})
		},
	}
}

type importOffsetsOptions struct {
	pipeline, offsets string
	resources         []string
	connector         string
	in                io.Reader
	out, log          io.Writer
}

// runImportOffsets stores the positions and says where.
func runImportOffsets(ctx context.Context, o importOffsetsOptions, opts ...input.Option) error {
	pipeline, err := readingPipeline(append([]string{o.pipeline}, o.resources...))
	if err != nil {
		return err
	}
	var offsets []byte
	if o.offsets == "-" {
		offsets, err = io.ReadAll(o.in)
	} else {
		offsets, err = os.ReadFile(o.offsets)
	}
	if err != nil {
		return fmt.Errorf("reading the offsets: %w", err)
	}
	done, err := input.ImportOffsets(ctx, service.GlobalEnvironment(), input.Import{
		Pipeline: pipeline, Offsets: offsets, Connector: o.connector, Log: o.log,
	}, opts...)
	if err != nil {
		return fmt.Errorf("import-offsets: nothing was stored: %w", err)
	}
	for _, d := range done {
		fmt.Fprintf(o.out, "database %s: position %s is stored under key %s of cache %s\n", d.Database, d.Position, d.Key, d.Cache)
		if d.Replays {
			fmt.Fprintf(o.out, "database %s: the transaction of the offset is repeated from its beginning\n", d.Database)
		}
	}
	return nil
}

// readingPipeline returns a stream of the one input sqlserver_cdc in files, with
// their cache resources and nothing else of them: no output is to be reached.
// Values stay as they are written, for variables to be replaced later.
func readingPipeline(files []string) (string, error) {
	var (
		found, caches []*yaml.Node
		vars          variables
	)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading the pipeline: %w", err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(vars.hide(text), &doc); err != nil {
			return "", fmt.Errorf("reading the pipeline: %s: %w", file, err)
		}
		eachValue(&doc, func(key string, value *yaml.Node) {
			switch {
			case key == input.Name:
				found = append(found, value)
			case key == "cache_resources" && value.Kind == yaml.SequenceNode:
				caches = append(caches, value.Content...)
			}
		})
	}
	if len(found) != 1 {
		return "", fmt.Errorf("reading the pipeline: want one input %s, found %d", input.Name, len(found))
	}
	text := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }
	mapping := func(key string, value *yaml.Node) *yaml.Node {
		return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text(key), value}}
	}
	root := mapping("input", mapping(input.Name, found[0]))
	root.Content = append(root.Content,
		text("output"), mapping("drop", &yaml.Node{Kind: yaml.MappingNode}),
		text("cache_resources"), &yaml.Node{Kind: yaml.SequenceNode, Content: caches})
	var out bytes.Buffer
	if err := yaml.NewEncoder(&out).Encode(root); err != nil {
		return "", fmt.Errorf("reading the pipeline: %w", err)
	}
	return vars.restore(out.String()), nil
}

// variables are the references to the environment in the files of a pipeline.
// Benthos replaces them before it reads the YAML (Benthos docs,
// "Interpolation"), so that a text with them need not be YAML, as in a list
// [ ${TABLES} ]: while it is read as that, words stand in their place.
type variables []string

var (
	variable     = regexp.MustCompile(`\$\{[0-9A-Za-z_.]+(:(\$\{[^}]+\}|[^}])*)?(\|[0-9A-Za-z]+)?\}`)
	variableWord = regexp.MustCompile(`variable_\d+_of_the_environment`)
)

func (v *variables) hide(text []byte) []byte {
	return variable.ReplaceAllFunc(text, func(reference []byte) []byte {
		*v = append(*v, string(reference))
		return fmt.Appendf(nil, "variable_%d_of_the_environment", len(*v)-1)
	})
}

func (v variables) restore(text string) string {
	return variableWord.ReplaceAllStringFunc(text, func(word string) string {
		var i int
		if _, err := fmt.Sscanf(word, "variable_%d_", &i); err != nil || i >= len(v) {
			return word
		}
		return v[i]
	})
}

// eachValue calls f with every value of a mapping, wherever it is.
func eachValue(node *yaml.Node, f func(key string, value *yaml.Node)) {
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			f(node.Content[i].Value, node.Content[i+1])
		}
	}
	for _, child := range node.Content {
		eachValue(child, f)
	}
}
