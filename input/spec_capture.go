package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"
)

func captureFields() []*service.ConfigField {
	return []*service.ConfigField{
		patternsField(fieldTableIncludeList,
			"Java regular expressions that must match the whole of `schema.table`, upper and lower case of ASCII letters alike. A dot matches any character; write `\\.` for a real one. Lookaround is understood; repeat nothing inside of a repetition beside it, as in `(?!x)(a+)+`, which can take very long. Empty: every table with a capture instance. Only one of the two lists may be given.").
			Example([]string{`dbo\.customers`, `sales\..*`}),
		patternsField(fieldTableExcludeList, "Like `table_include_list`, for the tables to leave out.").
			Example([]string{`dbo\.audit_.*`}),
		patternsField(fieldSchemaIncludeList, "Java regular expressions for the whole name of a schema. A table is captured if its schema and its own name pass.").
			Advanced().Example([]string{"dbo", "sales"}),
		patternsField(fieldSchemaExcludeList, "Like `schema_include_list`, for the schemas to leave out.").
			Advanced(),
		patternsField(fieldInstanceIncludeList, "Java regular expressions that must match the whole name of a capture instance, for the instances that may be read: others are as if they were not there. Empty: all.").
			Advanced().Example([]string{`cdc_v[0-9]+_.*`}),
		annotatedField(fieldCaptureInstances, map[string]string{
			instancesFollow:  "The first is read up to the beginning of the second, and the second from there on, so that events have its columns from then on; a warning says when the first can be disabled. An instance that the login cannot read, or that lacks columns which are read and which the table still has, is not gone over to, with a warning.",
			instancesObserve: "The one that is read is read on while it exists, and a warning says once that there is a newer one.",
			instancesManage:  "As with `follow`; and the input makes the instances itself, for tables that `table_include_list` or `schema_include_list` names and for tables whose columns have changed, and drops those that it has made once they are not needed. Each statement that it runs is logged. The login must be in `db_owner`; see [setup](setup.md#let-the-input-manage-them).",
		}).
			Description("What happens when a table gets a second capture instance, as after a change of its columns, and who makes it.").
			Default(instancesFollow).Advanced(),
		boolField(fieldTableIgnoreBuiltin).
			Description("Whether tables of the schemas `cdc` and `sys`, and `systranschemas`, are left out whatever the lists say.").
			Default(true).Advanced(),
		patternsField(fieldColumnIncludeList, "Java regular expressions that must match the whole of `schema.table.column`: only these columns are in the values of events. Keys always have their columns.").
			Advanced().Example([]string{`dbo\.customers\.(id|name)`}),
		patternsField(fieldColumnExcludeList, "Like `column_include_list`, for the columns to leave out. They are not read from the server.").
			Advanced().Example([]string{`dbo\.customers\.ssn`}),
		stringField(fieldMessageKeyColumns).
			Description("Other keys than the primary keys, in Debezium's notation: entries separated by `;`, each a pattern for the table and, after a colon, patterns for columns. Table and column together must match the whole of `schema.table.column`, or that with the database before it.").
			Default("").Advanced().
			Example(`dbo\.customers:last_name,first_name;(.*)\.orders:order_number`),
		ruleField(fieldColumnTruncateToChars, "Texts, and binary values, that are cut to a length. Only columns that can be longer are touched.",
			service.NewIntField(fieldRuleLength).Description("The characters, or bytes, to keep.")).
			Example([]any{map[string]any{fieldRuleColumns: []any{`dbo\.customers\.notes`}, fieldRuleLength: 100}}),
		ruleField(fieldColumnMaskWithChars, "Texts that are replaced by asterisks, NULL included.",
			service.NewIntField(fieldRuleLength).Description("The number of asterisks.")).
			Example([]any{map[string]any{fieldRuleColumns: []any{`.*\.phone`, `.*\.email`}, fieldRuleLength: 12}}),
		ruleField(fieldColumnMaskHash, "Texts that are replaced by a salted hash, in hexadecimal digits and cut to the length of the column: equal texts stay equal.",
			service.NewStringField(fieldRuleAlgorithm).Description("A hash by its name in Java, such as SHA-256. MD2 is not supported."),
			service.NewStringField(fieldRuleSalt).Description("The salt.").Secret(),
			service.NewIntField(fieldRuleVersion).Description("1 hashes the text as Java serialises it, like `column.mask.hash.ALG.with.salt.S`; 2 its UTF-8, like `column.mask.hash.v2.ALG.with.salt.S`.").Default(1)).
			Example([]any{map[string]any{fieldRuleColumns: []any{`dbo\.customers\.name`}, fieldRuleAlgorithm: "SHA-256", fieldRuleSalt: "${SALT}", fieldRuleVersion: 2}}),
		boolField(fieldColumnMaskKeys).
			Description("Whether truncation and masks change keys too. Otherwise keys hold real values, as Debezium's do; a warning names the columns.").
			Default(false).Advanced(),
		patternsField(fieldColumnPropagateSourceType, "Columns, as in `column_mask_with_chars`, whose fields' schemas have parameters for the type, length, scale and name of the column.").
			Advanced().Example([]string{`dbo\.orders\.amount`}),
		patternsField(fieldDatatypePropagateSourceType, "The same for types: patterns that must match the whole of `schema.table.TYPE`, or that with the database before it.").
			Advanced().Example([]string{`.*\.(DECIMAL|MONEY)`}),
		annotatedField(fieldComputedColumns, map[string]string{
			computedOmit:     "They are in no event and are not read, so that no expression is evaluated.",
			computedSnapshot: "They are in the rows of snapshots and, as optional fields, in schemas. Changes leave their fields out, which tells them from NULL; with `schemas_enable` Kafka Connect reads a field that is left out as null.",
		}).
			Description("What becomes of computed columns, persisted or not: change data capture records nothing of them. They are never part of a key.").
			Default(computedOmit).Advanced(),
		boolField(fieldSkipMessagesWithoutChange).
			Description("Whether updates are left out that change nothing an event shows, for example because the columns that changed are excluded.").
			Default(false).Advanced(),
		listField(fieldSkippedOperations).
			Description("Operations that are not read: `c`, `u`, `d`, or `none`. `t` is accepted: truncations are never captured. Rows of snapshots always come.").
			Default([]any{"t"}).Advanced(),
	}
}

// patternsField is a list of Java regular expressions.
func patternsField(name, description string) *service.ConfigField {
	return listField(name).Description(description).Default([]any{})
}

// ruleField is a list of objects that each name columns and say what is done to
// them.
func ruleField(name, description string, fields ...*service.ConfigField) *service.ConfigField {
	columns := service.NewStringListField(fieldRuleColumns).
		Description("Java regular expressions that must match the whole of `schema.table.column`, or that with the database before it.")
	return service.NewObjectListField(name, append([]*service.ConfigField{columns}, fields...)...).LintRule(lintList(name)).
		Description(description + " Of all rules that match a column the first counts: truncation, asterisks, source types, hashes.").
		Default([]any{}).Advanced()
}
