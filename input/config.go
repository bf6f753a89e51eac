package input

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// config is the configuration of one input, parsed and validated.
type config struct {
	connection connection
	database   string // empty: the connection's own
	tables     schema.FilterOptions

	topicPrefix                 string
	keySchemas, valueSchemas    bool
	tombstones                  bool
	metadata                    []string // of optionalMetadata
	structured                  bool
	snapshotMode                string
	snapshotIsolation           string
	snapshotFetchSize           int
	snapshotResume              bool
	streamingFetchSize          int
	pollInterval                time.Duration
	maxIterationTransactions    int
	maxBatchSize                int
	maxQueueSize, maxQueueBytes int
	stopOnFatal                 bool
	cache, cacheKey             string
	checkpointLimit             int
	replayNacks                 bool
	batching                    service.BatchPolicy
}

// connection says where the server is and how to log in. Either dsn is set or
// the separate fields are.
type connection struct {
	dsn                      string
	host                     string
	port                     int
	user, password, instance string
	encrypt                  string
	tls                      *tls.Config // nil unless the block is given
	applicationName          string
	applicationIntent        string
	driverOptions            map[string]string
}

// parseConfig reads and validates the configuration. Every message names the
// field, and where it is not a secret the value.
func parseConfig(parsed *service.ParsedConfig) (config, error) {
	r := reader{parsed: parsed}
	c := config{
		connection:               r.connection(),
		tables:                   schema.FilterOptions{TableInclude: r.strings(fieldTableIncludeList), TableExclude: r.strings(fieldTableExcludeList)},
		topicPrefix:              r.string(fieldTopicPrefix),
		tombstones:               r.bool(fieldTombstonesOnDelete),
		metadata:                 r.strings(fieldMetadataInclude),
		structured:               r.bool(fieldStructured),
		snapshotMode:             r.string(fieldSnapshotMode),
		snapshotIsolation:        r.string(fieldSnapshotIsolationMode),
		snapshotFetchSize:        r.int(fieldSnapshotFetchSize),
		snapshotResume:           r.bool(fieldSnapshotResume),
		streamingFetchSize:       r.int(fieldStreamingFetchSize),
		pollInterval:             r.duration(fieldPollInterval),
		maxIterationTransactions: r.int(fieldMaxIterationTransactions),
		maxBatchSize:             r.int(fieldMaxBatchSize),
		maxQueueSize:             r.int(fieldMaxQueueSize),
		maxQueueBytes:            r.int(fieldMaxQueueSizeInBytes),
		stopOnFatal:              r.string(fieldOnFatal) == onFatalStop,
		cache:                    r.string(fieldCheckpointCache),
		cacheKey:                 r.optionalString(fieldCheckpointCacheKey),
		checkpointLimit:          r.int(fieldCheckpointLimit),
		replayNacks:              r.bool(fieldAutoReplayNacks),
		batching:                 r.batching(),
	}
	schemas := r.bool(fieldSchemasEnable)
	c.keySchemas = r.optionalBool(fieldKeySchemasEnable, schemas)
	c.valueSchemas = r.optionalBool(fieldValueSchemasEnable, schemas)
	switch names := r.strings(fieldDatabaseNames); len(names) {
	case 0:
	case 1:
		c.database = names[0]
	default:
		r.fail(fmt.Errorf("field %s: got %d names (%s): one database for each input in this version; keep one name", fieldDatabaseNames, len(names), strings.Join(names, ", ")))
	}
	if r.err != nil {
		return config{}, r.err
	}
	return c, c.validate()
}

// validate checks values that the types of the fields do not rule out.
func (c config) validate() error {
	if err := c.connection.validate(c.database); err != nil {
		return err
	}
	if len(c.tables.TableInclude) > 0 && len(c.tables.TableExclude) > 0 {
		return fmt.Errorf("field %s: cannot be combined with %s; keep one of them", fieldTableExcludeList, fieldTableIncludeList)
	}
	if _, err := schema.NewFilter(c.tables); err != nil {
		return err
	}
	if strings.TrimSpace(c.topicPrefix) == "" {
		return fmt.Errorf("field %s: must not be empty", fieldTopicPrefix)
	}
	if strings.TrimSpace(c.cache) == "" {
		return fmt.Errorf("field %s: must name a cache resource", fieldCheckpointCache)
	}
	for _, key := range c.metadata {
		if !slices.Contains(optionalMetadata, key) {
			return fmt.Errorf("field %s: unknown metadata key %q; use %s", fieldMetadataInclude, key, strings.Join(optionalMetadata, ", "))
		}
	}
	for _, choice := range []struct {
		field, value string
		options      []string
	}{
		{fieldEncrypt, c.connection.encrypt, []string{encryptTrue, encryptLogin, encryptFalse, encryptStrict}},
		{fieldApplicationIntent, c.connection.applicationIntent, []string{intentReadWrite}},
		{fieldSnapshotMode, c.snapshotMode, []string{snapshotInitial, snapshotNoData}},
		{fieldSnapshotIsolationMode, c.snapshotIsolation, []string{isolationAuto, isolationSnapshot, isolationReadCommitted}},
	} {
		if !slices.Contains(choice.options, choice.value) {
			return fmt.Errorf("field %s: unknown value %q; use %s", choice.field, choice.value, strings.Join(choice.options, ", "))
		}
	}
	for _, bound := range []struct {
		field        string
		value, least int
	}{
		{fieldSnapshotFetchSize, c.snapshotFetchSize, 1},
		{fieldStreamingFetchSize, c.streamingFetchSize, 1},
		{fieldMaxIterationTransactions, c.maxIterationTransactions, 0},
		{fieldMaxBatchSize, c.maxBatchSize, 1},
		{fieldMaxQueueSize, c.maxQueueSize, 1},
		{fieldMaxQueueSizeInBytes, c.maxQueueBytes, 0},
		{fieldCheckpointLimit, c.checkpointLimit, 1},
	} {
		if bound.value < bound.least {
			return fmt.Errorf("field %s: got %d, must be at least %d", bound.field, bound.value, bound.least)
		}
	}
	if c.pollInterval <= 0 {
		return fmt.Errorf("field %s: got %v, must be more than zero", fieldPollInterval, c.pollInterval)
	}
	return nil
}

func (c connection) validate(database string) error {
	if c.dsn == "" {
		if c.host == "" {
			return fmt.Errorf("field %s: required unless %s is set", fieldHost, fieldConnectionString)
		}
		if c.port < 1 || c.port > 65535 {
			return fmt.Errorf("field %s: got %d, must be from 1 to 65535", fieldPort, c.port)
		}
		if database == "" {
			return fmt.Errorf("field %s: required unless %s names a database", fieldDatabaseNames, fieldConnectionString)
		}
		return nil
	}
	for _, separate := range []struct{ field, value string }{
		{fieldHost, c.host}, {fieldUser, c.user}, {fieldPassword, c.password}, {fieldInstance, c.instance},
	} {
		if separate.value != "" {
			return fmt.Errorf("field %s: cannot be combined with %s, which contains it; set one or the other", separate.field, fieldConnectionString)
		}
	}
	return nil
}

// checkpointKey returns the key under which the position of a database is
// kept.
func (c config) checkpointKey(database string) string {
	if c.cacheKey != "" {
		return c.cacheKey
	}
	return checkpoint.Key(c.topicPrefix, database)
}

// reader reads fields and keeps the first error, so that the list of fields
// above stays a list.
type reader struct {
	parsed *service.ParsedConfig
	err    error
}

func (r *reader) fail(err error) {
	r.err = errors.Join(r.err, err)
}

// read calls a typed accessor and adds the field's name to its error.
func read[T any](r *reader, field string, get func(...string) (T, error)) T {
	v, err := get(field)
	if err != nil {
		r.fail(fmt.Errorf("field %s: %w", field, err))
	}
	return v
}

func (r *reader) string(field string) string      { return read(r, field, r.parsed.FieldString) }
func (r *reader) strings(field string) []string   { return read(r, field, r.parsed.FieldStringList) }
func (r *reader) int(field string) int            { return read(r, field, r.parsed.FieldInt) }
func (r *reader) bool(field string) bool          { return read(r, field, r.parsed.FieldBool) }
func (r *reader) duration(f string) time.Duration { return read(r, f, r.parsed.FieldDuration) }

func (r *reader) optionalString(field string) string {
	if !r.parsed.Contains(field) {
		return ""
	}
	return r.string(field)
}

func (r *reader) optionalBool(field string, otherwise bool) bool {
	if !r.parsed.Contains(field) {
		return otherwise
	}
	return r.bool(field)
}

func (r *reader) connection() connection {
	c := connection{
		dsn:               r.optionalString(fieldConnectionString),
		host:              r.optionalString(fieldHost),
		port:              r.int(fieldPort),
		user:              r.optionalString(fieldUser),
		password:          r.optionalString(fieldPassword),
		instance:          r.optionalString(fieldInstance),
		encrypt:           r.string(fieldEncrypt),
		applicationName:   r.string(fieldApplicationName),
		applicationIntent: r.string(fieldApplicationIntent),
		driverOptions:     read(r, fieldDriverOptions, r.parsed.FieldStringMap),
	}
	if r.parsed.Contains(fieldTLS) {
		c.tls = read(r, fieldTLS, r.parsed.FieldTLS)
	}
	return c
}

func (r *reader) batching() service.BatchPolicy {
	if !r.parsed.Contains(fieldBatching) {
		return service.BatchPolicy{}
	}
	return read(r, fieldBatching, r.parsed.FieldBatchPolicy)
}
