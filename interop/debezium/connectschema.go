package debezium

import (
	"encoding/json"
	"fmt"
	"strings"
)

// connectSchema is a schema as Kafka's JsonConverter writes it.
type connectSchema struct {
	Type       string            `json:"type"`
	Optional   bool              `json:"optional"`
	Name       string            `json:"name"`
	Version    int               `json:"version"`
	Parameters map[string]string `json:"parameters"`
	Default    json.RawMessage   `json:"default"`
	Field      string            `json:"field"`
	Fields     []connectSchema   `json:"fields"`
}

// schema prints the fields of a topic's rows when they differ from those that
// were printed before.
func (d *digest) schema(r Record) {
	var value struct{ Schema *connectSchema }
	if err := json.Unmarshal(r.Value, &value); err != nil || value.Schema == nil {
		return
	}
	var text strings.Builder
	for _, part := range value.Schema.Fields {
		if part.Field != "after" {
			continue
		}
		for _, field := range part.Fields {
			text.WriteString("  " + field.String() + "\n")
		}
	}
	if d.schemas[r.Topic] == text.String() {
		return
	}
	d.schemas[r.Topic] = text.String()
	d.line("schema %s", r.Topic)
	d.text.WriteString(text.String())
}

// String is the field on one line.
func (s connectSchema) String() string {
	text := s.Field + " " + s.Type
	if s.Name != "" {
		text += fmt.Sprintf(" %s v%d", s.Name, s.Version)
	}
	for _, name := range sortedNames(s.Parameters) {
		text += fmt.Sprintf(" %s=%s", name, s.Parameters[name])
	}
	if !s.Optional {
		text += " not null"
	}
	if s.Default != nil {
		text += " default " + string(s.Default)
	}
	return text
}
