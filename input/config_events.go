package input

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// topics reads how topics are named.
func (r *fieldReader) topics() event.Naming {
	n := event.Naming{
		Prefix:          r.topicPart(fieldTopicPrefix, r.string(fieldTopicPrefix)),
		Delimiter:       r.topicPart(fieldTopicDelimiter, r.string(fieldTopicDelimiter)),
		WithoutDatabase: choice(r, fieldTopicNaming, namingWithDatabase, namingWithoutDatabase) == namingWithoutDatabase,
		Transaction:     r.topicPart(fieldTopicTransaction, r.string(fieldTopicTransaction)),
		HeartbeatPrefix: r.topicPart(fieldTopicHeartbeatPrefix, r.string(fieldTopicHeartbeatPrefix)),
	}
	if name := r.optionalString(fieldTopicHeartbeatName); name != "" {
		n.Heartbeat = r.topicPart(fieldTopicHeartbeatName, name)
	}
	return n
}

// validTopicPart is Debezium's rule: what Kafka allows in a topic's name.
var validTopicPart = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// topicPart checks a part of the names of topics.
func (r *fieldReader) topicPart(field, text string) string {
	if !validTopicPart.MatchString(text) {
		r.refuse(field, "invalid value %q; use letters, digits, dots, underscores and hyphens", text)
	}
	return text
}

// metadata reads the further keys that messages carry.
func (r *fieldReader) metadata() []string {
	keys := r.strings(fieldMetadataInclude)
	for _, key := range keys {
		if !slices.Contains(messages.Optional, key) {
			r.refuse(fieldMetadataInclude, "unknown metadata key %q; use %s", key, strings.Join(messages.Optional, ", "))
		}
	}
	return keys
}

// modes reads the forms of values.
func (r *fieldReader) modes() schema.Modes {
	m := schema.DefaultModes()
	m.Time = choice(r, fieldTimePrecisionMode, schema.TimeModes...)
	m.Decimal = choice(r, fieldDecimalHandlingMode, schema.DecimalModes...)
	m.Binary = choice(r, fieldBinaryHandlingMode, schema.BinaryModes...)
	m.FieldNames = choice(r, fieldFieldNameAdjustmentMode, schema.NameAdjustments...)
	m.Placeholder = r.string(fieldUnavailableValuePlaceholder)
	return m
}

// convertingFailures reads what becomes of values without a form.
func (r *fieldReader) convertingFailures() event.FailureMode {
	if r.optionalString(fieldEventConvertingFailureHandlingMode) == "" {
		return event.FailuresUnset
	}
	return choice(r, fieldEventConvertingFailureHandlingMode, event.FailuresWarn, event.FailuresFail, event.FailuresSkip)
}

// timeZone reads the time zone of the server; nil: it is asked.
func (r *fieldReader) timeZone() *time.Location {
	name := r.optionalString(fieldDatabaseServerTimezone)
	if name == "" {
		return nil
	}
	zone, err := timezone.Load(name)
	if err != nil {
		r.refuse(fieldDatabaseServerTimezone, "%v", err)
	}
	return zone
}

// cacheLabel reads which resource keeps the position.
func (r *fieldReader) cacheLabel() string {
	label := r.string(fieldCheckpointCache)
	if strings.TrimSpace(label) == "" {
		r.refuse(fieldCheckpointCache, "must name a cache resource")
	}
	return label
}

// batching reads the policy that collects messages, if there is one.
func (r *fieldReader) batching() service.BatchPolicy {
	if !r.parsed.Contains(fieldBatching) {
		return service.BatchPolicy{}
	}
	return read(r, fieldBatching, r.parsed.FieldBatchPolicy)
}
