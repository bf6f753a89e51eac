package input

import "github.com/redpanda-data/benthos/v4/public/service"

// Name is the name of the input in pipeline configuration.
const Name = "sqlserver_cdc"

// Names of the configuration fields.
const (
	fieldConnectionString  = "connection_string"
	fieldHost              = "host"
	fieldPort              = "port"
	fieldUser              = "user"
	fieldPassword          = "password"
	fieldInstance          = "instance"
	fieldDatabaseNames     = "database_names"
	fieldEncrypt           = "encrypt"
	fieldTLS               = "tls"
	fieldApplicationName   = "application_name"
	fieldApplicationIntent = "application_intent"
	fieldDriverOptions     = "driver_options"

	fieldDatabaseServerTimezone = "database_server_timezone"

	fieldSchemaIncludeList           = "schema_include_list"
	fieldSchemaExcludeList           = "schema_exclude_list"
	fieldTableIncludeList            = "table_include_list"
	fieldInstanceIncludeList         = "capture_instance_include_list"
	fieldTableExcludeList            = "table_exclude_list"
	fieldTableIgnoreBuiltin          = "table_ignore_builtin"
	fieldColumnIncludeList           = "column_include_list"
	fieldColumnExcludeList           = "column_exclude_list"
	fieldMessageKeyColumns           = "message_key_columns"
	fieldColumnTruncateToChars       = "column_truncate_to_chars"
	fieldColumnMaskWithChars         = "column_mask_with_chars"
	fieldColumnMaskHash              = "column_mask_hash"
	fieldColumnMaskKeys              = "column_mask_keys"
	fieldColumnPropagateSourceType   = "column_propagate_source_type"
	fieldDatatypePropagateSourceType = "datatype_propagate_source_type"
	fieldComputedColumns             = "computed_columns"
	fieldSkipMessagesWithoutChange   = "skip_messages_without_change"
	fieldSkippedOperations           = "skipped_operations"

	fieldRuleColumns   = "columns"
	fieldRuleLength    = "length"
	fieldRuleAlgorithm = "algorithm"
	fieldRuleSalt      = "salt"
	fieldRuleVersion   = "version"

	fieldTimePrecisionMode           = "time_precision_mode"
	fieldDecimalHandlingMode         = "decimal_handling_mode"
	fieldBinaryHandlingMode          = "binary_handling_mode"
	fieldTopicPrefix                 = "topic_prefix"
	fieldTopicDelimiter              = "topic_delimiter"
	fieldTopicNaming                 = "topic_naming"
	fieldTopicTransaction            = "topic_transaction"
	fieldTopicHeartbeatPrefix        = "topic_heartbeat_prefix"
	fieldTopicHeartbeatName          = "topic_heartbeat_name"
	fieldSchemaNameAdjustmentMode    = "schema_name_adjustment_mode"
	fieldFieldNameAdjustmentMode     = "field_name_adjustment_mode"
	fieldUnavailableValuePlaceholder = "unavailable_value_placeholder"
	fieldIncludeSchemaChanges        = "include_schema_changes"
	fieldSchemaChangesCapturedOnly   = "schema_changes_captured_only"
	fieldProvideTransactionMetadata  = "provide_transaction_metadata"
	fieldSchemasEnable               = "schemas_enable"
	fieldKeySchemasEnable            = "key_schemas_enable"
	fieldValueSchemasEnable          = "value_schemas_enable"
	fieldTombstonesOnDelete          = "tombstones_on_delete"
	fieldSourceTimestampMode         = "source_timestamp_mode"

	fieldEventConvertingFailureHandlingMode = "event_converting_failure_handling_mode"
	fieldEventProcessingFailureHandlingMode = "event_processing_failure_handling_mode"

	fieldExtendedHeadersEnabled = "extended_headers_enabled"
	fieldMetadataInclude        = "metadata_include"
	fieldStructured             = "structured"

	fieldSnapshotMode          = "snapshot_mode"
	fieldSnapshotIsolationMode = "snapshot_isolation_mode"
	fieldSnapshotFetchSize     = "snapshot_fetch_size"
	fieldSnapshotResume        = "snapshot_resume"
	fieldStartPosition         = "start_position"
	fieldRetentionGapPolicy    = "retention_gap_policy"
	fieldStreamingFetchSize    = "streaming_fetch_size"

	fieldPollInterval             = "poll_interval"
	fieldPollIntervalAdaptive     = "poll_interval_adaptive"
	fieldFloor                    = "floor"
	fieldCeiling                  = "ceiling"
	fieldHeartbeatInterval        = "heartbeat_interval"
	fieldMaxIterationTransactions = "max_iteration_transactions"
	fieldDataQueryMode            = "data_query_mode"
	fieldCaptureInstances         = "capture_instances"
	fieldMaxBatchSize             = "max_batch_size"
	fieldMaxQueueSize             = "max_queue_size"
	fieldMaxQueueSizeInBytes      = "max_queue_size_in_bytes"
	fieldOnFatal                  = "on_fatal"
	fieldCheckpointCache          = "checkpoint_cache"
	fieldCheckpointCacheKey       = "checkpoint_cache_key"
	fieldCheckpointLimit          = "checkpoint_limit"
	fieldAutoReplayNacks          = service.AutoRetryNacksToggleFieldName
	fieldBatching                 = "batching"
)

// Values of enumerated fields.
const (
	snapshotInitial = "initial"
	snapshotNoData  = "no_data"

	namingWithDatabase    = "database_schema_table"
	namingWithoutDatabase = "schema_table"

	computedOmit     = "omit"
	computedSnapshot = "snapshot"

	queryDirect   = "direct"
	queryFunction = "function"

	processingFail   = "fail"
	processingWarn   = "warn"
	processingSkip   = "skip"
	processingIgnore = "ignore" // Debezium's old name of skip

	onFatalWait = "wait"
	onFatalStop = "stop"
)
