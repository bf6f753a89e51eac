package debeziumconfig

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Option changes how [Translate] works.
type Option func(*translation)

// As takes the defaults of a major version of Debezium instead of the one that
// the names of the properties tell.
func As(g Generation) Option {
	return func(t *translation) { t.result.Generation = g }
}

// withOffer replaces what the input offers, for tests.
func withOffer(o offer) Option {
	return func(t *translation) { t.offer = o }
}

// translation is one configuration being translated.
type translation struct {
	props  map[string]string
	offer  offer
	result Result
	// left are the properties that nothing has taken yet.
	left map[string]string
}

// Translate finds the field of the input for each property of a connector and
// writes out the defaults of Debezium's that differ from the input's. It fails
// for another connector than SQL Server's, and without a prefix of topics.
func Translate(props map[string]string, opts ...Option) (Result, error) {
	if err := checkClass(props); err != nil {
		return Result{}, err
	}
	offered, err := current()
	if err != nil {
		return Result{}, err
	}
	t := &translation{props: props, offer: offered, left: maps.Clone(props)}
	t.result.Generation = recognise(props)
	for _, opt := range opts {
		opt(t)
	}
	if t.first("topic.prefix", "database.server.name") == "" {
		return Result{}, errors.New("topic.prefix is missing (database.server.name in Debezium 1.x): every topic begins with it")
	}
	t.result.Name = props[nameProperty]
	t.result.Converters = t.converters()
	for _, r := range rules {
		r.apply(t)
	}
	t.kafkaConnect()
	t.passThrough()
	t.rest()
	return t.result, nil
}

// first returns the value of the first property that is set.
func (t *translation) first(names ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(t.props[name]); value != "" {
			return value
		}
	}
	return ""
}

// take removes a property from those left and returns its value.
func (t *translation) take(name string) (value string, given bool) {
	value, given = t.left[name]
	delete(t.left, name)
	return strings.TrimSpace(value), given
}

// takePrefix takes the properties that begin with a prefix, by the rest of
// their names, in order.
func (t *translation) takePrefix(prefix string) (rests []string, values map[string]string) {
	values = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.left)) {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			rests = append(rests, rest)
			values[rest], _ = t.take(name)
		}
	}
	return rests, values
}

// takeMatching takes the properties whose names match a pattern, in order.
func (t *translation) takeMatching(pattern *regexp.Regexp) (names []string, values map[string]string) {
	values = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.left)) {
		if pattern.MatchString(name) {
			names = append(names, name)
			values[name], _ = t.take(name)
		}
	}
	return names, values
}

// set adds a field that the input offers.
func (t *translation) set(f Field) {
	t.result.Fields = append(t.result.Fields, f)
}

func (t *translation) note(s section, property string, kind Kind, text string) {
	t.result.Notes = append(t.result.Notes, Note{Property: maskName(property), Kind: kind, Text: text, section: s})
}

// given reports whether a field was set.
func (t *translation) given(name string) bool { return t.value(name) != nil }

// value returns the value that a field was set to, or nil.
func (t *translation) value(name string) any {
	for _, f := range t.result.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}
