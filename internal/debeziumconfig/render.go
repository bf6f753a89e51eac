package debeziumconfig

import (
	"slices"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// cacheLabel is the cache resource that keeps the position.
const cacheLabel = "offsets"

// YAML returns a whole pipeline, and the environment variables that it needs:
// secrets are in none but these. The components are those of the environment,
// which decides whether there is an output for Kafka.
func (r Result) YAML(env *service.Environment) (yaml []byte, variables []Variable) {
	body := &writer{env: &environment{}}
	r.writeInput(body)
	r.writePipeline(body)
	r.writeOutput(body, hasOutput(env, kafkaOutput))
	body.line(0, "")
	body.line(0, "cache_resources:")
	body.line(2, "- label: %s", cacheLabel)
	body.line(4, "file:")
	body.line(6, "directory: ./offsets # must exist")

	head := &writer{env: body.env}
	r.writeHead(head, body.env.variables)
	return append(head.Bytes(), body.Bytes()...), body.env.variables
}

// hasOutput reports whether an environment has an output.
func hasOutput(env *service.Environment, name string) (has bool) {
	env.WalkOutputs(func(output string, _ *service.ConfigView) { has = has || output == name })
	return has
}

// writeHead says where the file comes from and what it needs.
func (r Result) writeHead(w *writer, variables []Variable) {
	name := "a connector without a name"
	if r.Name != "" {
		name = r.Name
	}
	w.comment(0, "Made by sqlserver-cdc debezium-config of "+name+", with the defaults of Debezium "+r.Generation.String()+".")
	if len(variables) > 0 {
		w.line(0, "#")
		w.comment(0, "Environment variables that it needs:")
		for _, v := range variables {
			w.comment(0, "- "+v.Name+" ("+v.Origin+")")
		}
	}
	w.line(0, "")
}

// writeInput writes the input: its fields by their sections, with notes at
// their places.
func (r Result) writeInput(w *writer) {
	const indent = 4
	w.line(0, "input:")
	w.line(2, "%s:", input.Name)
	for s := connection; s <= running; s++ {
		fields := slices.DeleteFunc(slices.Clone(r.Fields), func(f Field) bool { return f.section != s })
		notes := slices.DeleteFunc(slices.Clone(r.Notes), func(n Note) bool { return n.section != s })
		if len(fields)+len(notes) > 0 || s == running {
			w.comment(indent, sectionTitles[s])
		}
		for _, f := range fields {
			if f.Comment != "" {
				w.comment(indent, f.Comment)
			}
			w.field(indent, f)
		}
		if s == running {
			w.line(indent, "checkpoint_cache: %s", cacheLabel)
		}
		for _, n := range notes {
			w.comment(indent, n.comment())
		}
	}
}

// comment is the note as it stands at its place.
func (n Note) comment() string {
	return "! " + n.String()
}

// writePipeline writes the notes on Kafka Connect and what replaces the
// transformations.
func (r Result) writePipeline(w *writer) {
	w.line(0, "")
	w.line(0, "pipeline:")
	w.line(2, "threads: 1 # more would reorder messages")
	for _, n := range r.Notes {
		if n.section == connect && !strings.HasPrefix(n.Property, "transforms.") {
			w.comment(2, n.comment())
		}
	}
	if len(r.Transforms) == 0 {
		return
	}
	indent := 2 // of comments alone
	if slices.ContainsFunc(r.Transforms, func(t Transform) bool { return len(t.Steps) > 0 }) {
		w.line(2, "processors:")
		indent = 4
	}
	for _, t := range r.Transforms {
		r.writeTransform(w, t, indent)
	}
}

func (r Result) writeTransform(w *writer, t Transform, indent int) {
	w.comment(indent, "transforms."+t.Name+", "+t.Class)
	for _, remark := range t.Remarks {
		w.comment(indent, remark)
	}
	for _, n := range r.Notes {
		if n.Property == "transforms."+t.Name || strings.HasPrefix(n.Property, "transforms."+t.Name+".") {
			w.comment(indent, n.comment())
		}
	}
	for _, detail := range t.Details {
		w.comment(indent, "  "+detail)
	}
	for _, step := range t.Steps {
		if step.Check == "" {
			w.block(indent, "- mapping", step.Mapping)
			continue
		}
		w.line(indent, "- switch:")
		w.line(indent+4, "- check: %s", quoteScalar(escapeVariables(step.Check)))
		w.line(indent+6, "processors:")
		w.block(indent+8, "- mapping", step.Mapping)
	}
}
