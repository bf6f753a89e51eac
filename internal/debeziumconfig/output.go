package debeziumconfig

import (
	"strings"
)

// kafkaOutput is the output for Kafka that most distributions of Benthos have.
const kafkaOutput = "kafka_franz"

// writeOutput writes the output for Kafka: as a comment if there is none here,
// and then standard output in its place.
func (r Result) writeOutput(w *writer, offered bool) {
	w.line(0, "")
	w.line(0, "output:")
	lines := r.kafkaLines()
	if offered {
		for _, line := range lines {
			w.line(2, "%s", line)
		}
		return
	}
	w.comment(2, "This distribution has no output for Kafka. In one that has, put this in the place of stdout:")
	w.line(2, "#")
	for _, line := range lines {
		w.line(2, "# %s", line)
	}
	w.line(2, "stdout: {}")
}

// kafkaLines are the lines of the output for Kafka: topics, keys and partitions
// as Kafka Connect's producer has them, and one batch in flight, because more
// would reorder.
func (r Result) kafkaLines() []string {
	brokers := make([]string, len(r.Brokers))
	for i, broker := range r.Brokers {
		brokers[i] = quoteScalar(escapeVariables(broker))
	}
	if len(brokers) == 0 || strings.Contains(strings.Join(r.Brokers, ""), "${") {
		brokers = []string{"'kafka:9092'"}
	}
	return []string{
		kafkaOutput + ":",
		"  seed_brokers: [ " + strings.Join(brokers, ", ") + " ]",
		"  topic: '${! @topic }'",
		"  key: '${! @key.or(\"\") }'",
		"  partitioner: murmur2_hash # as Kafka Connect's producer",
		"  metadata:",
		"    include_prefixes: [ __ ] # headers",
		"  idempotent_write: true",
		"  max_in_flight: 1 # more would reorder messages",
	}
}
