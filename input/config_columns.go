package input

import (
	"fmt"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// selection reads what is captured, and what events show of it.
func (r *fieldReader) selection() schema.SelectionOptions {
	o := schema.SelectionOptions{
		Tables: schema.FilterOptions{
			SchemaInclude: r.patterns(fieldSchemaIncludeList), SchemaExclude: r.patterns(fieldSchemaExcludeList),
			TableInclude: r.patterns(fieldTableIncludeList), TableExclude: r.patterns(fieldTableExcludeList),
			InstanceInclude: r.patterns(fieldInstanceIncludeList),
			Builtin:         !r.bool(fieldTableIgnoreBuiltin),
		},
		ColumnInclude: r.patterns(fieldColumnIncludeList), ColumnExclude: r.patterns(fieldColumnExcludeList),
		Keys:     r.string(fieldMessageKeyColumns),
		Rules:    r.rules(),
		MaskKeys: r.bool(fieldColumnMaskKeys),
		Computed: choice(r, fieldComputedColumns, computedOmit, computedSnapshot) == computedSnapshot,
	}
	r.selects(schema.SelectionOptions{Keys: o.Keys})
	for _, rule := range o.Rules {
		r.selects(schema.SelectionOptions{Rules: []schema.RuleOptions{rule}})
	}
	return o
}

// selects checks what is captured, or a part of it.
func (r *fieldReader) selects(o schema.SelectionOptions) {
	if _, err := schema.NewSelection(o); err != nil {
		r.refuseFor(err)
	}
}

// rules reads the rules for columns, in the order in which Debezium asks them:
// of those that match a column the first counts.
func (r *fieldReader) rules() []schema.RuleOptions {
	rules := r.lengthRules(fieldColumnTruncateToChars, func(o *schema.RuleOptions, n int) { o.Truncate = &n })
	rules = append(rules, r.lengthRules(fieldColumnMaskWithChars, func(o *schema.RuleOptions, n int) { o.MaskChars = &n })...)
	if columns := r.strings(fieldColumnPropagateSourceType); len(columns) > 0 {
		rules = append(rules, schema.RuleOptions{Field: fieldColumnPropagateSourceType, Columns: columns, Propagate: true})
	}
	if columns := r.strings(fieldDatatypePropagateSourceType); len(columns) > 0 {
		rules = append(rules, schema.RuleOptions{Field: fieldDatatypePropagateSourceType, Columns: columns, PropagateType: true})
	}
	hashes := r.hashRules()
	for _, version := range []int{1, 2} {
		for _, rule := range hashes {
			if rule.Hash.Version == version {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// lengthRules reads a list of objects with columns and a length.
func (r *fieldReader) lengthRules(field string, set func(*schema.RuleOptions, int)) []schema.RuleOptions {
	return r.objects(field, func(parsed *service.ParsedConfig, rule *schema.RuleOptions) error {
		length, err := parsed.FieldInt(fieldRuleLength)
		if err == nil && length < 0 {
			err = fmt.Errorf("%s: got %d, must not be negative", fieldRuleLength, length)
		}
		set(rule, length)
		return err
	})
}

// hashRules reads column_mask_hash.
func (r *fieldReader) hashRules() []schema.RuleOptions {
	return r.objects(fieldColumnMaskHash, func(parsed *service.ParsedConfig, rule *schema.RuleOptions) error {
		rule.Hash = &schema.HashOptions{}
		var err error
		if rule.Hash.Algorithm, err = parsed.FieldString(fieldRuleAlgorithm); err != nil {
			return err
		}
		if rule.Hash.Salt, err = parsed.FieldString(fieldRuleSalt); err != nil {
			return err
		}
		if rule.Hash.Version, err = parsed.FieldInt(fieldRuleVersion); err == nil && rule.Hash.Version != 1 && rule.Hash.Version != 2 {
			err = fmt.Errorf("%s: unknown version %d; use 1 or 2", fieldRuleVersion, rule.Hash.Version)
		}
		return err
	})
}

// objects reads a list of rules; read fills in what is the field's own.
func (r *fieldReader) objects(field string, read func(*service.ParsedConfig, *schema.RuleOptions) error) []schema.RuleOptions {
	list, err := r.parsed.FieldObjectList(field)
	if err != nil {
		r.refuse(field, "%v", err)
		return nil
	}
	var rules []schema.RuleOptions
	for i, parsed := range list {
		rule := schema.RuleOptions{Field: fmt.Sprintf("%s[%d]", field, i)}
		rule.Columns, err = parsed.FieldStringList(fieldRuleColumns)
		if err == nil {
			err = read(parsed, &rule)
		}
		if err != nil {
			r.refuse(rule.Field, "%v", err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

// operations are the names of operations that may be skipped. Change data
// capture records no truncation, and none skips nothing.
var operations = map[string][]int{"c": {2}, "u": {3, 4}, "d": {1}, "t": nil, "none": nil}

// skippedOperations reads the values of __$operation to leave out.
func (r *fieldReader) skippedOperations() (skipped []int) {
	for _, name := range r.strings(fieldSkippedOperations) {
		values, known := operations[strings.ToLower(strings.TrimSpace(name))]
		if !known {
			r.refuse(fieldSkippedOperations, "unknown operation %q; use c, u, d, t or none", name)
		}
		skipped = append(skipped, values...)
	}
	return skipped
}
