package debeziumconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// connectorClass is the class of the one connector that is translated.
const connectorClass = "io.debezium.connector.sqlserver.SqlServerConnector"

// nameProperty and classProperty are what Kafka Connect itself reads.
const (
	nameProperty  = "name"
	classProperty = "connector.class"
)

// serverPrefix begins the connector's properties in Debezium Server's
// application.properties.
const serverPrefix = "debezium.source."

// Read reads a connector's configuration: the JSON that Kafka Connect's REST
// interface takes, with or without the frame of name and config; a KafkaConnector
// resource of Strimzi as YAML or JSON; or Java properties, those of Debezium Server
// included. Values of other JSON types than text become text.
func Read(data []byte) (map[string]string, error) {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\xef\xbb\xbf"))
	if len(data) == 0 {
		return nil, errors.New("the configuration is empty")
	}
	if resource.Match(data) {
		return readResource(data)
	}
	if data[0] != '{' && data[0] != '[' {
		props, err := parseProperties(string(data))
		if err != nil {
			return nil, fmt.Errorf("reading properties: %w", err)
		}
		return fromServer(props), nil
	}
	var document map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", describeJSON(data, err))
	}
	if decoder.More() {
		return nil, errors.New("reading JSON: there is more after the first object")
	}
	props, err := flatten(unframe(document))
	if err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return fromServer(props), nil
}

// resource matches what every resource of Kubernetes has, as YAML.
var resource = regexp.MustCompile(`(?m)^apiVersion:`)

// readResource reads a KafkaConnector resource, the first of its file.
func readResource(data []byte) (map[string]string, error) {
	var document map[string]any
	if err := yaml.Unmarshal(data, &document); err != nil {
		// The parser's errors may quote values.
		return nil, errors.New("reading YAML: the resource is no well-formed mapping")
	}
	if kind := document["kind"]; kind != "KafkaConnector" {
		return nil, fmt.Errorf("reading YAML: want a resource of the kind KafkaConnector, got %v", kind)
	}
	props, err := flatten(unframe(document))
	if err != nil {
		return nil, fmt.Errorf("reading YAML: %w", err)
	}
	return props, nil
}

// describeJSON adds the line to an error of syntax. It quotes nothing of the
// text, which may be a password.
func describeJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("want one connector, an object, got an %s", kind.Value)
	}
	return err
}

// unframe returns the properties inside the frames that surround them.
func unframe(document map[string]any) map[string]any {
	if config, ok := document["config"].(map[string]any); ok {
		return named(config, document[nameProperty])
	}
	spec, ok := document["spec"].(map[string]any)
	if !ok {
		return document
	}
	// Strimzi's KafkaConnector has class and tasksMax beside the configuration.
	config, _ := spec["config"].(map[string]any)
	if config == nil {
		config = map[string]any{}
	}
	for property, from := range map[string]string{classProperty: "class", "tasks.max": "tasksMax"} {
		if value, given := spec[from]; given {
			config[property] = value
		}
	}
	metadata, _ := document["metadata"].(map[string]any)
	return named(config, metadata[nameProperty])
}

func named(config map[string]any, name any) map[string]any {
	if _, given := config[nameProperty]; !given && name != nil {
		config[nameProperty] = name
	}
	return config
}

// flatten turns values into text. A null is a property that is not set.
func flatten(config map[string]any) (map[string]string, error) {
	props := map[string]string{}
	for name, value := range config {
		switch v := value.(type) {
		case nil:
		case string:
			props[name] = v
		case json.Number, bool, int, int64, uint64, float64:
			props[name] = fmt.Sprint(v)
		default:
			return nil, fmt.Errorf("property %q: want text, got an object or a list", maskName(name))
		}
	}
	return props, nil
}

// serverVariable matches an environment variable, with a default or without, as
// Debezium Server's configuration has them.
var serverVariable = regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*(?::[^}]*)?)\}`)

// formatPrefix is that of the properties of Debezium Server's formats.
const formatPrefix = "debezium.format."

// fromServer takes Debezium Server's prefixes away, if they are there: its
// formats are what Kafka Connect calls converters.
func fromServer(props map[string]string) map[string]string {
	if _, isServer := props[serverPrefix+classProperty]; !isServer {
		return props
	}
	plain, formats := map[string]string{}, map[string]string{}
	for name, value := range props {
		value = serverVariable.ReplaceAllString(value, "$${env:$1}")
		switch {
		case strings.HasPrefix(name, serverPrefix):
			plain[strings.TrimPrefix(name, serverPrefix)] = value
		case strings.HasPrefix(name, "debezium.transforms"), strings.HasPrefix(name, "debezium.predicates"):
			plain[strings.TrimPrefix(name, "debezium.")] = value
		case name == formatPrefix+"key", name == formatPrefix+"value":
			plain[strings.TrimPrefix(name, formatPrefix)+".converter"] = value
		case strings.HasPrefix(name, formatPrefix+"key."):
			plain["key.converter."+strings.TrimPrefix(name, formatPrefix+"key.")] = value
		case strings.HasPrefix(name, formatPrefix+"value."):
			plain["value.converter."+strings.TrimPrefix(name, formatPrefix+"value.")] = value
		case strings.HasPrefix(name, formatPrefix) && !strings.HasPrefix(name, formatPrefix+"header"):
			formats[strings.TrimPrefix(name, formatPrefix)] = value
		default:
			plain[name] = value
		}
	}
	// What is said of all formats holds where nothing is said of one.
	for name, value := range formats {
		for _, converter := range []string{"key.converter.", "value.converter."} {
			if _, own := plain[converter+name]; !own {
				plain[converter+name] = value
			}
		}
	}
	return plain
}

// checkClass refuses other connectors by their name.
func checkClass(props map[string]string) error {
	class := strings.TrimSpace(props[classProperty])
	switch class {
	// Kafka Connect takes the simple name of a class too, with or without
	// its last word. Confluent Cloud has a class of its own.
	case connectorClass, "SqlServerConnector", "SqlServer", "SqlServerCdcSource", "SqlServerCdcSourceV2":
		return nil
	case "":
		return fmt.Errorf("%s is missing: want %s", classProperty, connectorClass)
	}
	for part, what := range otherConnectors {
		if strings.HasPrefix(class, part) {
			return fmt.Errorf("%s is %q: that is %s, not Debezium's SQL Server connector (%s)", classProperty, class, what, connectorClass)
		}
	}
	return fmt.Errorf("%s is %q: not Debezium's SQL Server connector (%s)", classProperty, class, connectorClass)
}

// otherConnectors names connectors by the beginning of their class.
var otherConnectors = map[string]string{
	"io.debezium.connector.mysql.":           "Debezium's MySQL connector",
	"io.debezium.connector.mariadb.":         "Debezium's MariaDB connector",
	"io.debezium.connector.postgresql.":      "Debezium's PostgreSQL connector",
	"io.debezium.connector.oracle.":          "Debezium's Oracle connector",
	"io.debezium.connector.mongodb.":         "Debezium's MongoDB connector",
	"io.debezium.connector.db2.":             "Debezium's Db2 connector",
	"io.debezium.connector.db2as400.":        "Debezium's Db2 for i connector",
	"io.debezium.connector.informix.":        "Debezium's Informix connector",
	"io.debezium.connector.cassandra.":       "Debezium's Cassandra connector",
	"io.debezium.connector.vitess.":          "Debezium's Vitess connector",
	"io.debezium.connector.spanner.":         "Debezium's Spanner connector",
	"io.debezium.connector.jdbc.":            "Debezium's JDBC sink connector",
	"io.confluent.connect.jdbc.":             "Confluent's JDBC connector",
	"io.confluent.connect.cdc.mssql.":        "Confluent's connector for SQL Server change tracking",
	"io.aiven.connect.jdbc.":                 "Aiven's JDBC connector",
	"org.apache.kafka.connect.file.":         "Kafka's file connector",
	"org.apache.kafka.connect.mirror.":       "Kafka's MirrorMaker",
	"io.confluent.connect.elasticsearch.":    "Confluent's Elasticsearch sink",
	"io.confluent.connect.s3.":               "Confluent's S3 sink",
	"com.snowflake.kafka.connector.":         "Snowflake's sink connector",
	"io.debezium.connector.yugabytedb.":      "YugabyteDB's connector",
	"com.mongodb.kafka.connect.":             "MongoDB's connector",
	"io.confluent.kafka.connect.datagen.":    "Confluent's generator of test data",
	"org.apache.camel.kafkaconnector.":       "a connector of Apache Camel",
	"io.lenses.streamreactor.connect.":       "a connector of Lenses",
	"com.github.castorm.kafka.connect.http.": "the HTTP connector",
}
