package schema

import (
	"fmt"
	"slices"
	"strings"
)

// FilterOptions are lists of Java regular expressions. Of an include and an
// exclude list of the same kind only one may be given.
type FilterOptions struct {
	// TableInclude and TableExclude are matched against schema.table.
	TableInclude, TableExclude []string
}

// Filter decides which tables are captured. Patterns match the whole name and
// ignore case; the names that they select stay exact.
type Filter struct {
	include, exclude []*Pattern
}

// NewFilter compiles the lists. Errors name the field and the pattern.
func NewFilter(opts FilterOptions) (*Filter, error) {
	if len(opts.TableInclude) > 0 && len(opts.TableExclude) > 0 {
		return nil, fmt.Errorf("table_include_list and table_exclude_list are both set: use one of them")
	}
	include, err := compileList("table_include_list", opts.TableInclude)
	if err != nil {
		return nil, err
	}
	exclude, err := compileList("table_exclude_list", opts.TableExclude)
	if err != nil {
		return nil, err
	}
	return &Filter{include: include, exclude: exclude}, nil
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
	name := schema + "." + table
	if len(f.include) > 0 {
		return firstMatch(f.include, name) >= 0
	}
	return firstMatch(f.exclude, name) < 0
}

// Order returns the place of the first include pattern that matches, by which
// Debezium orders the tables of a snapshot; zero without an include list.
func (f *Filter) Order(schema, table string) int {
	return max(0, firstMatch(f.include, schema+"."+table))
}

// Unmatched returns the include patterns that match none of the tables: each
// is worth a warning.
func (f *Filter) Unmatched(tables []TableID) []string {
	var unmatched []string
	for _, p := range f.include {
		matches := func(id TableID) bool { return p.Match(id.Schema + "." + id.Name) }
		if !slices.ContainsFunc(tables, matches) {
			unmatched = append(unmatched, p.String())
		}
	}
	return unmatched
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
