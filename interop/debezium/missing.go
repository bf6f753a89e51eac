package debezium

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"
	"gopkg.in/yaml.v3"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

// Missing is what our input does not do yet, and what is not compared for it.
type Missing []MissingProperty

// MissingProperty is a property of Debezium's, or a value of one, that has no
// field. With neither of the other members it changes no record.
type MissingProperty struct {
	Property string `yaml:"property"`
	Value    string `yaml:"value"`
	// Field is one of ours instead of a Property: one that has no counterpart
	// there, or whose value, which is YAML then, has not.
	Field string `yaml:"field"`
	// Scenarios are the names of those that are not played.
	Scenarios []string `yaml:"scenarios"`
	// Kind is that of records that are left out.
	Kind Kind `yaml:"kind"`
	// Headers begin the names of headers that are left out.
	Headers string `yaml:"headers"`
}

// ReadMissing reads a YAML list.
func ReadMissing(r io.Reader) (Missing, error) {
	var m Missing
	decoder := yaml.NewDecoder(r)
	decoder.KnownFields(true)
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("reading what is missing: %w", err)
	}
	return m, nil
}

// Offered are the properties that have a field by now, or whose field takes
// the value.
func (m Missing) Offered() (offered []string, err error) {
	for _, p := range m {
		if p.Field != "" {
			if unknown, err := isUnknown(p.Field, p.Value); err != nil || !unknown {
				return append(offered, p.Field), err
			}
			continue
		}
		planned, err := plannedProperties(Properties{"topic.prefix": "p", "database.names": "d"}.With(Properties{p.Property: p.Value}))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(planned, p.Property) {
			offered = append(offered, p.Property+"="+p.Value)
		}
	}
	return offered, nil
}

// isUnknown asks the input's specification whether it refuses a field, or a
// value of it.
func isUnknown(field, value string) (bool, error) {
	env := service.NewEnvironment()
	if err := input.Register(env); err != nil {
		return false, err
	}
	fields := map[string]string{"host": "h", "database_names": "[d]", "topic_prefix": "p", "checkpoint_cache": "c", field: value}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:\n", input.Name)
	for _, name := range sortedNames(fields) {
		fmt.Fprintf(&text, "  %s: %s\n", name, fields[name])
	}
	lints, err := env.NewComponentConfigLinter().LintInputYAML([]byte(text.String()))
	return len(lints) > 0, err
}

// Unlisted are the properties of a scenario that have no field and are not in
// the list.
func (m Missing) Unlisted(properties Properties) (unlisted []string, err error) {
	planned, err := plannedProperties(properties)
	if err != nil {
		return nil, err
	}
	for _, property := range planned {
		listed := slices.ContainsFunc(m, func(p MissingProperty) bool {
			return p.Property == property
		})
		if !listed {
			unlisted = append(unlisted, property)
		}
	}
	return unlisted, nil
}

// plannedProperties are the properties that this version has no field for.
func plannedProperties(properties Properties) (planned []string, err error) {
	result, err := debeziumconfig.Translate(properties.With(Properties{"connector.class": "SqlServerConnector"}))
	if err != nil {
		return nil, fmt.Errorf("translating the properties: %w", err)
	}
	for _, note := range result.Notes {
		if note.Kind == debeziumconfig.Planned {
			planned = append(planned, note.Property)
		}
	}
	return planned, nil
}

// Unplayed reports whether something missing keeps a scenario from being played.
func (m Missing) Unplayed(scenario string) bool {
	return slices.ContainsFunc(m, func(p MissingProperty) bool { return slices.Contains(p.Scenarios, scenario) })
}

// Without returns the records without what our input does not emit yet.
func (m Missing) Without(records []Canonical) []Canonical {
	var kept []Canonical
	for _, r := range records {
		if slices.ContainsFunc(m, func(p MissingProperty) bool { return p.Kind == r.Kind }) {
			continue
		}
		if headers := r.tree.get("headers"); headers != nil {
			headers.members = slices.DeleteFunc(headers.members, func(h member) bool {
				return slices.ContainsFunc(m, func(p MissingProperty) bool {
					return p.Headers != "" && strings.HasPrefix(h.name, p.Headers)
				})
			})
		}
		kept = append(kept, r)
	}
	return kept
}
