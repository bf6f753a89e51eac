package schema

import (
	"fmt"
	"slices"
	"strings"
)

// FilterOptions are lists of Java regular expressions. Of an include and an
// exclude list of the same kind only one may be given.
type FilterOptions struct {
	// SchemaInclude and SchemaExclude are matched against the schema's name.
	SchemaInclude, SchemaExclude []string
	// TableInclude and TableExclude are matched against schema.table.
	TableInclude, TableExclude []string
	// InstanceInclude is matched against the name of a capture instance.
	InstanceInclude []string
	// Builtin lets tables of SQL Server's own pass: those of the schemas cdc
	// and sys, and systranschemas.
	Builtin bool
}

// Filter decides which tables are captured: those whose schema and whose name
// pass. Patterns match the whole name and ignore case; the names that they
// select stay exact.
type Filter struct {
	schemas, tables, instances nameFilter
	builtin                    bool
}

// nameFilter is an include list or an exclude list.
type nameFilter struct{ include, exclude []*Pattern }

// NewFilter compiles the lists. Errors name the field and the pattern.
func NewFilter(opts FilterOptions) (*Filter, error) {
	schemas, err := newNameFilter("schema", opts.SchemaInclude, opts.SchemaExclude)
	if err != nil {
		return nil, err
	}
	tables, err := newNameFilter("table", opts.TableInclude, opts.TableExclude)
	if err != nil {
		return nil, err
	}
	instances, err := newNameFilter("capture_instance", opts.InstanceInclude, nil)
	if err != nil {
		return nil, err
	}
	return &Filter{schemas: schemas, tables: tables, instances: instances, builtin: opts.Builtin}, nil
}

// MatchInstance reports whether a capture instance may be read.
func (f *Filter) MatchInstance(name string) bool { return f.instances.match(name) }

// newNameFilter compiles the lists <kind>_include_list and <kind>_exclude_list.
func newNameFilter(kind string, include, exclude []string) (nameFilter, error) {
	includeField, excludeField := kind+"_include_list", kind+"_exclude_list"
	if len(include) > 0 && len(exclude) > 0 {
		return nameFilter{}, fmt.Errorf("%s: cannot be combined with %s; keep one of them", excludeField, includeField)
	}
	var (
		f   nameFilter
		err error
	)
	if f.include, err = compileList(includeField, include); err != nil {
		return nameFilter{}, err
	}
	f.exclude, err = compileList(excludeField, exclude)
	return f, err
}

// lists returns the patterns by the name of their field.
func (f nameFilter) lists(kind string) map[string][]*Pattern {
	return map[string][]*Pattern{kind + "_include_list": f.include, kind + "_exclude_list": f.exclude}
}

// match reports whether a name passes.
func (f nameFilter) match(name string) bool {
	if len(f.include) > 0 {
		return firstMatch(f.include, name) >= 0
	}
	return firstMatch(f.exclude, name) < 0
}

// compileList compiles the patterns of one field, blanks around them ignored.
func compileList(fieldName string, patterns []string) ([]*Pattern, error) {
	var list []*Pattern
	for i, text := range patterns {
		text = strings.TrimSpace(text)
		if text == "" {
			return nil, fmt.Errorf("%s[%d] is empty", fieldName, i)
		}
		p, err := CompilePattern(text)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", fieldName, i, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Match reports whether a table is captured.
func (f *Filter) Match(schema, table string) bool {
	if !f.builtin && isBuiltin(schema, table) {
		return false
	}
	return f.schemas.match(schema) && f.tables.match(schema+"."+table)
}

// isBuiltin tells the tables of SQL Server's own, as Debezium does.
func isBuiltin(schema, table string) bool {
	return strings.EqualFold(schema, "cdc") || strings.EqualFold(schema, "sys") || strings.EqualFold(table, "systranschemas")
}

// Order returns the place of the first include pattern that matches, by which
// Debezium orders the tables of a snapshot; zero without an include list.
func (f *Filter) Order(schema, table string) int {
	return max(0, firstMatch(f.tables.include, schema+"."+table))
}

// Unmatched returns the include patterns that match none of the tables: each
// is worth a warning.
func (f *Filter) Unmatched(tables []TableID) []string {
	return append(
		unmatched(f.schemas.include, tables, func(id TableID) string { return id.Schema }),
		unmatched(f.tables.include, tables, func(id TableID) string { return id.Schema + "." + id.Name })...,
	)
}

// unmatched returns the patterns that match the name of none of the tables.
func unmatched(patterns []*Pattern, tables []TableID, name func(TableID) string) []string {
	var texts []string
	for _, p := range patterns {
		if !slices.ContainsFunc(tables, func(id TableID) bool { return p.Match(name(id)) }) {
			texts = append(texts, p.String())
		}
	}
	return texts
}

// firstMatch returns the index of the first pattern that matches, or -1.
func firstMatch(patterns []*Pattern, name string) int {
	for i, p := range patterns {
		if p.Match(name) {
			return i
		}
	}
	return -1
}
