package schema

import (
	"fmt"
	"slices"
	"strings"
)

// SelectionOptions say which tables are captured and what events show of their
// columns. All patterns are Java regular expressions.
type SelectionOptions struct {
	Tables FilterOptions
	// ColumnInclude and ColumnExclude are matched against schema.table.column;
	// one of them may be given.
	ColumnInclude, ColumnExclude []string
	// Keys is message_key_columns in Debezium's notation; see [parseKeys].
	Keys string
	// Rules change columns. Of those that match a column the first counts.
	Rules []RuleOptions
	// MaskKeys applies rules to the columns of keys too.
	MaskKeys bool
	// Computed keeps computed columns, in the rows of snapshots alone.
	Computed bool
}

// Selection decides what is captured, and in which shape. It is not safe for
// concurrent use.
type Selection struct {
	*Filter
	columns  nameFilter
	keys     []keyPattern
	rules    []*rule
	maskKeys bool
	computed bool
	used     map[string]bool // fields' patterns that matched something
	decided  map[string]bool // rules' patterns that a column's rule came from
}

// NewSelection compiles the options. Errors name the field and the value.
func NewSelection(opts SelectionOptions) (*Selection, error) {
	s := &Selection{maskKeys: opts.MaskKeys, computed: opts.Computed, used: map[string]bool{}, decided: map[string]bool{}}
	var err error
	if s.Filter, err = NewFilter(opts.Tables); err != nil {
		return nil, err
	}
	if s.columns, err = newNameFilter("column", opts.ColumnInclude, opts.ColumnExclude); err != nil {
		return nil, err
	}
	if s.keys, err = parseKeys(opts.Keys); err != nil {
		return nil, err
	}
	for _, o := range opts.Rules {
		r, err := newRule(o)
		if err != nil {
			return nil, err
		}
		s.rules = append(s.rules, r)
	}
	return s, nil
}

// Shape returns the table as events show it: with the key that
// message_key_columns gives it, without the columns that are excluded, and
// with the rules of the others. An excluded column of the key stays, for the
// key alone. The table given is not changed. Notes deserve a warning.
func (s *Selection) Shape(t *Table) (shaped *Table, notes []string) {
	if !s.computed {
		t = t.WithoutComputed()
	}
	key := t.Key
	if custom := s.customKey(t); custom != nil {
		key = custom
	}
	shaped = &Table{Database: t.Database, Schema: t.Schema, Name: t.Name, captured: t.Columns, ownKey: t.OwnKey()}
	at := make([]int, len(t.Columns)) // where a column went
	for i, c := range t.Columns {
		inKey := slices.Contains(key, i)
		if !s.shows(t.Schema + "." + t.Name + "." + c.Name) {
			if !inKey {
				continue
			}
			c.KeyOnly = true
		}
		c.SnapshotOnly = c.Computed
		if r := s.ruleOf(t, c); r != nil {
			c.rule = r
			if inKey && r.changesValues() && !s.maskKeys {
				notes = append(notes, fmt.Sprintf("%s changes column %q in values, but not in keys, which hold it as it is: set column_mask_keys to change it there too", r.Field, c.Name))
			}
			c.ruleInKey = inKey && s.maskKeys
		}
		at[i] = len(shaped.Columns)
		shaped.Columns = append(shaped.Columns, c)
	}
	for _, i := range key {
		shaped.Key = append(shaped.Key, at[i])
	}
	return shaped, notes
}

// shows reports whether values have a column, and notes which patterns decide.
func (s *Selection) shows(column string) bool {
	for field, patterns := range s.columns.lists("column") {
		for _, p := range patterns {
			if p.Match(column) {
				s.used[field+": "+p.String()] = true
			}
		}
	}
	return s.columns.match(column)
}

// ruleOf returns the first rule that matches a column, or nil, and notes which
// patterns match and which decide.
func (s *Selection) ruleOf(t *Table, c Column) *rule {
	var first *rule
	for _, r := range s.rules {
		for _, i := range r.matches(t, c) {
			s.used[r.label(i)] = true
			if first == nil || first == r {
				first = r
				s.decided[r.label(i)] = true
			}
		}
	}
	return first
}

// UnmatchedColumns returns what names columns and has matched none in any
// table shaped so far: each is worth a warning, since a rule with a slip of
// the pen lets out what it was to hide.
func (s *Selection) UnmatchedColumns() []string {
	var labels []string
	for field, patterns := range s.columns.lists("column") {
		for _, p := range patterns {
			labels = append(labels, field+": "+p.String())
		}
	}
	for _, r := range s.rules {
		for i := range r.patterns {
			labels = append(labels, r.label(i))
		}
	}
	for _, k := range s.keys {
		labels = append(labels, k.label())
	}
	return slices.DeleteFunc(labels, func(label string) bool { return s.used[label] })
}

// OverruledColumns returns what of the rules matches columns, in the tables
// shaped so far, but only such that an earlier rule changes already: it does
// nothing, and is worth a warning.
func (s *Selection) OverruledColumns() (labels []string) {
	for _, r := range s.rules {
		for i := range r.patterns {
			if label := r.label(i); s.used[label] && !s.decided[label] {
				labels = append(labels, label)
			}
		}
	}
	return labels
}

// UnknownKeyColumns returns what message_key_columns names in tables that are
// there, but that none of them, of those shaped so far, has as a column that is
// captured: their keys would not be those that are wanted.
func (s *Selection) UnknownKeyColumns() (labels []string) {
	for _, k := range s.keys {
		if label := k.label(); s.used[k.tableLabel()] && !s.used[label] {
			labels = append(labels, label)
		}
	}
	return labels
}

// columnNames are the names by which patterns find a column.
func columnNames(t *Table, column string) [2]string {
	short := t.Schema + "." + t.Name + "." + column
	return [2]string{t.Database + "." + short, short}
}

// tableNames are the names by which message_key_columns finds a table.
func tableNames(t *Table) [2]string {
	short := t.Schema + "." + t.Name
	return [2]string{t.Database + "." + short, short}
}

// matchAny reports whether a pattern matches one of the names.
func matchAny(p *Pattern, names [2]string) bool {
	return p.Match(names[0]) || p.Match(names[1])
}

// keyPattern is one column pattern of message_key_columns.
type keyPattern struct {
	table, column string // as they stand in the field
	tables, whole *Pattern
}

func (k keyPattern) label() string { return k.tableLabel() + ":" + k.column }

func (k keyPattern) tableLabel() string { return "message_key_columns: " + k.table }

// parseKeys reads message_key_columns: entries separated by semicolons, each
// tablePattern:column,column. Table and column together are one pattern for
// the whole name of a column, with or without the database.
// Source: Debezium, Key.CustomKeyMapper.
func parseKeys(text string) ([]keyPattern, error) {
	const field = "message_key_columns"
	var keys []keyPattern
	for entry := range strings.SplitSeq(text, ";") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		at := strings.LastIndexByte(entry, ':')
		if at <= 0 || at == len(entry)-1 {
			return nil, fmt.Errorf("%s: %q is not of the form table:column,column", field, entry)
		}
		table, columns := strings.TrimSpace(entry[:at]), entry[at+1:]
		tables, err := CompilePattern(table)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", field, entry, err)
		}
		for column := range strings.SplitSeq(columns, ",") {
			column = strings.TrimSpace(column)
			if column == "" {
				return nil, fmt.Errorf("%s: %q has an empty column", field, entry)
			}
			whole, err := CompilePattern(table + "." + column)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", field, entry, err)
			}
			keys = append(keys, keyPattern{table: table, column: column, tables: tables, whole: whole})
		}
	}
	return keys, nil
}

// customKey returns the key that message_key_columns gives a table: the columns
// in the order of the patterns, each once; nil if none matches.
func (s *Selection) customKey(t *Table) []int {
	var key []int
	for _, k := range s.keys {
		if matchAny(k.tables, tableNames(t)) {
			s.used[k.tableLabel()] = true
		}
		for i, c := range t.Columns {
			if c.Computed || !matchAny(k.whole, columnNames(t, c.Name)) {
				continue
			}
			s.used[k.label()] = true
			if !slices.Contains(key, i) {
				key = append(key, i)
			}
		}
	}
	return key
}
