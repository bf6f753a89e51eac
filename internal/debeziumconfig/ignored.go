package debeziumconfig

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ignored says why properties have no counterpart.
type ignored struct {
	pattern *regexp.Regexp // of their names
	section section
	reason  string
}

var reasons = []ignored{
	{re(`database\.(include|exclude)\.list|database\.(white|black)list`), connection, "database_names says which databases are read"},
	{re(`schema\.history\.internal(\..*)?|database\.history(\..*)?`), events, "there is no schema history: tables are read from the server"},
	{re(`topic\.(regex|replacement|key\..*)`), events, "the pipeline changes topics: meta topic = ... in a mapping"},
	{re(`topic\.cache\.size`), events, "of the JVM's memory"},
	{re(`source\.struct\.version|sourceinfo\.struct\.maker`), events, "not read by Debezium 3.6 either; the source block is its"},
	{re(`transaction\.metadata\.factory`), events, "a class of Java"},
	{re(`include\.schema\.comments`), events, "without effect for SQL Server"},
	{re(`converters(\..*)?|post\.processors(\..*)?`), events, "classes of Java; a mapping in the pipeline changes values"},
	{re(`(internal\.)?legacy\.snapshot\.max\.threads`), snapshots, "one way of parallel snapshots is enough"},
	{re(`signal\.kafka\.poll\.timeout\.ms|signal\.consumer\..*`), snapshots, "of Kafka's Java client; the field signal_kafka has tls and sasl"},
	{re(`queue\.provider\.type|memory\.management\..*`), running, "of the JVM's memory"},
	{re(`statistics\.metrics\.enabled|advanced\.metrics\..*`), running, "metrics are always on"},
	{re(`custom\.metric\.tags`), running, "a metrics mapping adds labels"},
	{re(`custom\.sanitize\.pattern`), running, "secrets are fields that are never shown"},
	{re(`executor\.shutdown\.timeout\.ms`), running, "shutdown_timeout of the pipeline serves instead"},
	{re(`openlineage\..*`), running, "there is no OpenLineage here"},
	{re(`internal\..*`), running, "an internal property of Debezium"},
	{re(`tasks\.max`), connect, "one input is one task; it reads its databases itself"},
	{re(`header\.converter(\..*)?`), connect, "headers are texts"},
	{re(`producer\.override\..*|producer\..*`), connect, "the Kafka output has its own fields"},
	{re(`topic\.creation\..*`), connect, "create topics beforehand, or let the brokers do it"},
	{re(`errors\.(tolerance|log\..*|retry\..*|deadletterqueue\..*)`), connect, "a rejected message is repeated, in order, until the output takes it; a fallback output is a queue of dead letters"},
	{re(`config\.(action\.reload|providers(\..*)?)`), connect, "environment variables take the place of providers"},
	{re(`exactly\.once\.support|transaction\.boundary(\..*)?|offsets\.storage\.topic|offset\..*`), connect, "the position is in the cache named by checkpoint_cache"},
	{re(`debezium\.sink\..*|quarkus\..*|debezium\..*`), connect, "of Debezium Server; the output of the pipeline serves instead"},
	{re(`record\.processing\..*|task\.management\..*|async\.engine\..*`), connect, "of Debezium's engine; the pipeline keeps the order of messages"},
	{re(`(bootstrap\.servers|group\.id|plugin\.path|rest\..*|(config|status)\.storage\..*|listeners|consumer\..*|admin\..*|internal\.(key|value)\.converter.*)`), connect, "of the worker"},
	{re(`kafka\.(topic|api\.key|api\.secret|auth\.mode|service\.account\.id|endpoint|deployment\.type|max\.partition\.validation\.disable)`), connect, "of Confluent Cloud"},
	{re(`after\.state\.only|json\.output\.decimal\.format|schema\.context\.name|auto\.restart\.on\.user\.error|value\.converter\..*`), connect, "of Confluent Cloud; a mapping in the pipeline serves instead"},
}

func re(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + pattern + `)$`)
}

// reasonFor returns why a property has no counterpart, empty if it is not
// known.
func reasonFor(property string) string {
	for _, r := range reasons {
		if r.pattern.MatchString(property) {
			return r.reason
		}
	}
	return ""
}

// kafkaConnect takes what Kafka Connect reads itself.
func (t *translation) kafkaConnect() {
	t.take(nameProperty)
	t.take(classProperty)
	if t.props["tasks.max"] == "1" {
		t.take("tasks.max")
	}
	t.result.Transforms = t.transforms()
	// The worker's brokers are used below; a connector has no such property.
	t.take("bootstrap.servers")
	for _, property := range []string{
		"bootstrap.servers", "producer.override.bootstrap.servers", "debezium.sink.kafka.producer.bootstrap.servers",
		"schema.history.internal.kafka.bootstrap.servers", "database.history.kafka.bootstrap.servers",
	} {
		if brokers := split(t.first(property)); len(t.result.Brokers) == 0 {
			t.result.Brokers = brokers
		}
	}
}

// rest notes what is left: that which has no counterpart, and that which
// nobody knows. The many properties of the schema history are one note.
func (t *translation) rest() {
	history := false
	for _, name := range slices.Sorted(maps.Keys(t.left)) {
		i := slices.IndexFunc(reasons, func(r ignored) bool { return r.pattern.MatchString(name) })
		switch {
		case i < 0:
			t.note(connect, name, Unknown, "neither Debezium's connector nor Kafka Connect has this property; is it spelled right?")
		case strings.HasPrefix(name, "schema.history.internal"), strings.HasPrefix(name, "database.history"):
			if !history {
				prefix := "schema.history.internal"
				if strings.HasPrefix(name, "database.history") {
					prefix = "database.history"
				}
				t.note(reasons[i].section, prefix+".*", NotApplicable, reasons[i].reason)
			}
			history = true
		default:
			t.note(reasons[i].section, name, NotApplicable, reasons[i].reason)
		}
	}
	t.left = nil
}
