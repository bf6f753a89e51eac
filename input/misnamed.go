package input

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// planned are fields that this version does not have; docs/debezium.md tells
// more of them, and a test compares the two.
var planned = []string{
	"snapshot_mode_configuration_based", "snapshot_mode_custom_name", "snapshot_locking_mode", "snapshot_query_mode",
	"snapshot_lock_timeout", "snapshot_delay", "snapshot_include_collection_list", "snapshot_select_statement_overrides",
	"snapshot_filters", "snapshot_max_threads", "snapshot_max_threads_multiplier", "snapshot_max_threads_multipliers",
	"snapshot_tables_order_by_row_count", "snapshot_rate_limit", "snapshot_read_only_fence",
	"incremental_snapshot_chunk_size", "incremental_snapshot_allow_schema_changes", "incremental_snapshot_option_recompile",
	"incremental_snapshot_watermarking_strategy",
	"signal_data_collection", "signal_enabled_channels", "signal_poll_interval", "signal_file", "signal_kafka", "instance_lock",
}

// renamed are properties of Debezium whose field has another name than theirs
// with underscores.
var renamed = map[string]string{
	"database_hostname": fieldHost, "database_port": fieldPort, "database_user": fieldUser, "database_password": fieldPassword,
	"database_instance": fieldInstance, "database_dbname": fieldDatabaseNames, "database_server_name": fieldTopicPrefix,
	"table_whitelist": fieldTableIncludeList, "table_blacklist": fieldTableExcludeList,
	"column_whitelist": fieldColumnIncludeList, "column_blacklist": fieldColumnExcludeList,
	"topic_naming_strategy": fieldTopicNaming, "sanitize_field_names": fieldFieldNameAdjustmentMode,
}

// misnamed says of fields that do not exist which ones may have been meant. That
// they do not exist, the linter of Benthos says.
func misnamed(fields map[string]any) refusals {
	known := fieldNames()
	var rs refusals
	for name := range fields {
		if !slices.Contains(known, name) {
			if advice := meant(name, known); advice != "" {
				rs = append(rs, refusal{field: name, text: name + ": " + advice})
			}
		}
	}
	slices.SortFunc(rs, func(a, b refusal) int { return strings.Compare(a.field, b.field) })
	return rs
}

// meant returns what to say of a field that does not exist; empty for nothing.
func meant(name string, known []string) string {
	// The property as a field, with durations in words of Benthos.
	plain := strings.NewReplacer(".", "_", "-", "_").Replace(strings.ToLower(name))
	field := strings.TrimSuffix(plain, "_ms")
	if other, ok := renamed[field]; ok {
		field = other
	}
	switch {
	case slices.Contains(known, field):
		return fmt.Sprintf("the field is named %s", field)
	case slices.Contains(planned, field):
		return "this version does not have it yet"
	case strings.HasPrefix(plain, "column_mask_with_"):
		return fmt.Sprintf("the field is named %s and takes a list", fieldColumnMaskWithChars)
	case strings.HasPrefix(plain, "column_mask_hash_"):
		return fmt.Sprintf("the field is named %s and takes a list", fieldColumnMaskHash)
	case strings.HasPrefix(plain, "column_truncate_to_"):
		return fmt.Sprintf("the field is named %s and takes a list", fieldColumnTruncateToChars)
	case strings.HasPrefix(plain, "driver_"):
		return fmt.Sprintf("parameters of the driver go into %s", fieldDriverOptions)
	}
	if near := nearest(field, known); near != "" {
		return fmt.Sprintf("was %s meant?", near)
	}
	return ""
}

// fieldNames returns the fields of the first level.
var fieldNames = sync.OnceValue(func() []string {
	var names []string
	env := service.NewEmptyEnvironment()
	err := env.RegisterBatchInput(Name, lintedSpec.Load(), func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return nil, service.ErrEndOfInput // it is looked at, not run
	})
	if err != nil {
		return nil
	}
	env.WalkInputs(func(_ string, view *service.ConfigView) {
		data, err := view.TemplateData()
		if err != nil {
			return
		}
		for _, f := range data.Fields {
			if !strings.ContainsAny(f.FullName, ".[") {
				names = append(names, f.FullName)
			}
		}
	})
	return names
})

// nearest returns the name that is a slip of the pen away; empty if none is.
func nearest(name string, known []string) string {
	best, least := "", min(3, len(name)/3+1) // more is another word
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many letters must be added, removed or changed to make
// one text of another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
