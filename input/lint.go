package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redpanda-data/benthos/v4/public/bloblang"
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// The linter of Benthos runs mappings and no Go, so that what is refused at a
// start is told to a mapping by a method: of one field, so that the lint has its
// line, and of all fields together, for what is wrong with several of them or
// has no line. One implementation says it in both places, parseConfig.

// lintMethod is the name of the method; its parameter is that of a field, empty
// for all of them together.
const lintMethod = "sqlserver_cdc_refusals"

// lintedSpec is the specification that configurations are checked against: any
// that [Spec] has made, as they are all alike.
var lintedSpec atomic.Pointer[service.ConfigSpec]

// registerLint makes the method known, before the first mapping that calls it is
// parsed. Lint rules know the methods of the process alone, not those of an
// environment.
var registerLint = sync.OnceFunc(func() {
	spec := bloblang.NewPluginSpec().
		Category("Plugin").
		Description("Says what the input " + Name + " refuses of its configuration. It is there for the linter.").
		Param(bloblang.NewStringParam("field").Default("").Description("The field whose value this is; empty for all fields."))
	err := bloblang.RegisterMethodV2(lintMethod, spec, func(args *bloblang.ParsedParams) (bloblang.Method, error) {
		field, err := args.GetString("field")
		if err != nil {
			return nil, err
		}
		return func(value any) (any, error) {
			if field != "" {
				return texts(refusedAlone(field, value)), nil
			}
			fields, _ := value.(map[string]any)
			return texts(refusedTogether(fields)), nil
		}, nil
	})
	if err != nil {
		panic(fmt.Sprintf("registering %s: %v", lintMethod, err)) // its name and parameters are constants
	}
})

// lintAlone is the lint rule of a field.
func lintAlone(field string) string { return fmt.Sprintf(`root = this.%s(%q)`, lintMethod, field) }

// lintList is the lint rule of a list, which is asked for the list and again for
// each element.
func lintList(field string) string {
	return fmt.Sprintf(`root = if this.type() == "array" { this.%s(%q) } else { [] }`, lintMethod, field)
}

// lintTogether is the lint rule of all fields.
var lintTogether = fmt.Sprintf(`root = this.%s()`, lintMethod)

func texts(rs refusals) []any {
	list := make([]any, len(rs))
	for i, r := range rs {
		list[i] = r.text
	}
	return list
}

// refusedAlone returns what is wrong with the value of a field, whatever others
// are.
func refusedAlone(field string, value any) refusals {
	return slices.DeleteFunc(refusedOf(map[string]any{field: value}), func(r refusal) bool {
		return r.field != field || r.together
	})
}

// refusedTogether returns what is wrong with several fields, and what fields that
// do not exist may have been meant as.
func refusedTogether(fields map[string]any) refusals {
	rs := slices.DeleteFunc(refusedOf(fields), func(r refusal) bool { return !r.together })
	return append(rs, misnamed(fields)...)
}

// foreign are the fields whose specification is Benthos's own, with its own lint
// rules.
var foreign = []string{fieldTLS, fieldBatching}

// refusedOf returns what is wrong with fields. Those that must be given and are
// not, the linter says itself.
func refusedOf(fields map[string]any) refusals {
	complete := map[string]any{fieldTopicPrefix: "topic", fieldCheckpointCache: "cache"}
	for name, value := range fields {
		if value = standIn(name, value); value != nil && !slices.Contains(foreign, name) {
			complete[name] = value
		}
	}
	text, err := json.Marshal(complete)
	if err != nil {
		return nil //nolint:nilerr // what YAML holds is JSON
	}
	parsed, err := lintedSpec.Load().ParseYAML(string(text), nil)
	if err != nil {
		return nil //nolint:nilerr // a list is no list, as the linter says
	}
	_, err = parseConfig(parsed)
	var refused refusals
	errors.As(err, &refused)
	return slices.DeleteFunc(refused, func(r refusal) bool { return r.here })
}

// standIn returns a value for one that is empty: an environment variable that
// is not set where the configuration is linted, as it will be where it runs.
func standIn(name string, value any) any {
	switch v := value.(type) {
	case string:
		if v != "" {
			return v
		}
		return emptyStandIns[name]
	case map[string]any:
		inner := make(map[string]any, len(v))
		for field, value := range v {
			if value = standIn(field, value); value != nil {
				inner[field] = value
			}
		}
		if name == fieldAuth && (inner[fieldAuthMode] == nil || inner[fieldAuthMode] == string(sqlserver.AuthSQL)) {
			// No field of the group is of this mode: what is empty is not meant.
			maps.DeleteFunc(inner, func(field string, _ any) bool { return v[field] == "" })
		}
		return inner
	case []any:
		inner := make([]any, len(v))
		for i, value := range v {
			if inner[i] = value; value != "" {
				inner[i] = standIn(name, value)
			}
		}
		return inner
	default:
		return value
	}
}

// emptyStandIns take the place of empty values of fields that environment
// variables fill; other fields that are empty are as if not given.
var emptyStandIns = map[string]any{
	fieldConnectionString: "sqlserver://user:password@host?database=database",
	fieldHost:             "host",
	fieldUser:             "user",
	fieldPassword:         "password",
	fieldInstance:         "instance",
	fieldTopicPrefix:      "topic",
	fieldCheckpointCache:  "cache",
	fieldRuleSalt:         "salt",

	fieldAuthDomain: "domain", fieldAuthTenantID: "id", fieldAuthClientID: "id", fieldAuthResourceID: "id",
	fieldAuthClientSecret: "secret", fieldAuthCertificatePath: "path", fieldAuthCertificatePassword: "password",
	fieldAuthKeytab: "path", fieldAuthCredentialCache: "path", fieldAuthTokenFile: "path",
}
