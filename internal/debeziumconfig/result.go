package debeziumconfig

import (
	"regexp"
	"strings"
)

// Result is what became of a connector's configuration.
type Result struct {
	// Name is the connector's name, empty if it has none.
	Name string
	// Generation is the major version of Debezium whose defaults were taken.
	Generation Generation
	// Fields are the fields of the input that were set, in the order in which
	// they are best read. checkpoint_cache, which has no counterpart in
	// Debezium, is not among them.
	Fields []Field
	// Notes are the properties that were not carried over as they were, and
	// the defaults that differ.
	Notes []Note
	// Converters are what makes bytes of keys and values.
	Converters Converters
	// Transforms are the single message transformations, in order.
	Transforms []Transform
	// Brokers are the Kafka brokers that the configuration names.
	Brokers []string
}

// Field is one field of the input.
type Field struct {
	Name string
	// Value is a bool, an int, a string, a [Reference], a []string, a
	// map[string]any or a []map[string]any.
	Value any
	// Property is where the value comes from, empty for a default.
	Property string
	// Comment says why the field is set if the property does not.
	Comment string
	// Secret is set for values that must not be shown.
	Secret bool

	section section
}

// Reference is a text in which a configuration provider of Kafka Connect stands
// for the value of a field that is not a text, such as ${file:/run/db:port}.
type Reference string

// Kind sorts notes.
type Kind string

// The kinds of notes.
const (
	// Unknown is a property that neither Debezium's connector nor Kafka
	// Connect has.
	Unknown Kind = "unknown"
	// Planned is a property, or a value of one, that this version of the input
	// does not offer.
	Planned Kind = "not in this version"
	// NotApplicable is a property that has no meaning here.
	NotApplicable Kind = "not applicable"
	// Untranslated is a transformation for which a mapping has to be written.
	Untranslated Kind = "not translated"
	// Invalid is a value that Debezium would not take either.
	Invalid Kind = "invalid"
	// Differs is a property that was carried over to something not quite
	// equal.
	Differs Kind = "differs"
	// Default is a default of Debezium's that this version of the input cannot
	// follow. Nobody asked for it, so it is no warning.
	Default Kind = "default"
)

// Note says what did not become of a property, and why.
type Note struct {
	Property string
	Kind     Kind
	Text     string

	section section
}

// Warning reports whether the note is about a property that was given.
func (n Note) Warning() bool {
	return n.Kind != Default
}

// String is the note in one line.
func (n Note) String() string {
	return n.Property + ": " + string(n.Kind) + ": " + n.Text
}

// Input returns the fields as a map, with secrets, to make an input's
// configuration of.
func (r Result) Input() map[string]any {
	fields := map[string]any{}
	for _, field := range r.Fields {
		fields[field.Name] = field.Value
	}
	return fields
}

// section is a part of the input's configuration, as in docs/debezium.md.
type section int

const (
	connection section = iota
	capture
	events
	snapshots
	running
	connect // what Kafka Connect does around the connector
)

var sectionTitles = map[section]string{
	connection: "Connection", capture: "What is captured", events: "Events",
	snapshots: "Snapshot and signals", running: "Running", connect: "Kafka Connect",
}

// saltedName matches properties that have a secret in their name.
var saltedName = regexp.MustCompile(`^(column\.mask\.hash\..*?with\.salt\.).*$`)

// maskName hides the salt in the name of a property.
func maskName(property string) string {
	return saltedName.ReplaceAllString(property, "${1}***")
}

// secretWords mark properties whose values are not shown.
var secretWords = []string{"password", "secret", "credential", "token", "jaas", "user.info", "private", "passphrase", "apikey", "api.key"}

// isSecret reports whether a property's value must not be shown.
func isSecret(property string) bool {
	name := strings.ToLower(property)
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
