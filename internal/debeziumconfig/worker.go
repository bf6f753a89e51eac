package debeziumconfig

import (
	"maps"
	"strings"
)

// OfWorker keeps the properties of a Kafka Connect worker that concern what a
// connector writes: its converters and its brokers.
func OfWorker(worker map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range worker {
		if name == "bootstrap.servers" || converterOf(name) != "" {
			kept[name] = value
		}
	}
	return kept
}

// OverWorker adds a connector's properties to those of [OfWorker]. A connector
// that names a converter brings all of its settings.
func OverWorker(worker, connector map[string]string) map[string]string {
	merged := maps.Clone(worker)
	maps.DeleteFunc(merged, func(name, _ string) bool {
		converter := converterOf(name)
		_, replaced := connector[converter]
		return converter != "" && replaced
	})
	maps.Copy(merged, connector)
	return merged
}

// converterOf returns the converter that a property belongs to, empty if to
// none.
func converterOf(property string) string {
	for _, converter := range []string{"key.converter", "value.converter"} {
		if property == converter || strings.HasPrefix(property, converter+".") {
			return converter
		}
	}
	return ""
}
