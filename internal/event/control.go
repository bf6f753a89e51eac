package event

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// control writes the messages of a topic that belongs to no table: they are
// few, so their structured form is read from their JSON.
type control struct {
	kind       Kind
	topic      string
	key, value wrapper
	structured bool
	buf        []byte
}

// newControl renders the schemas of a topic.
func newControl(kind Kind, topic string, key, value schema.ConnectSchema, opts Options) (control, error) {
	c := control{kind: kind, topic: topic, structured: opts.Structured}
	key.Name, value.Name = opts.SchemaNames.Schema(key.Name), opts.SchemaNames.Schema(value.Name)
	var err error
	if c.key, err = newWrapper(key, opts.KeySchemas, opts.Structured); err != nil {
		return control{}, fmt.Errorf("rendering key schema of topic %s: %w", topic, err)
	}
	if c.value, err = newWrapper(value, opts.ValueSchemas, opts.Structured); err != nil {
		return control{}, fmt.Errorf("rendering value schema of topic %s: %w", topic, err)
	}
	return c, nil
}

// append completes a message with its key and value payloads and appends it.
func (c *control) append(dst *Batch, m Message, key, value []byte) error {
	m.Kind, m.Topic = c.kind, c.topic
	c.buf = append(c.buf[:0], c.key.open...)
	c.buf = append(append(c.buf, key...), c.key.close...)
	keyEnd := len(c.buf)
	if !c.structured {
		c.buf = append(c.buf, c.value.open...)
		c.buf = append(append(c.buf, value...), c.value.close...)
	}
	stored := dst.put(c.buf)
	m.Key = stored[:keyEnd:keyEnd]
	if !c.structured {
		m.Value = stored[keyEnd:]
		dst.Messages = append(dst.Messages, m)
		return nil
	}
	k, err := decodePayload(key)
	if err != nil {
		return fmt.Errorf("reading key of topic %s: %w", c.topic, err)
	}
	v, err := decodePayload(value)
	if err != nil {
		return fmt.Errorf("reading value of topic %s: %w", c.topic, err)
	}
	m.KeyStructured, m.ValueStructured = c.key.wrap(k), c.value.wrap(v)
	dst.Messages = append(dst.Messages, m)
	return nil
}

// decodePayload reads JSON whose numbers are all integers of 64 bits.
func decodePayload(payload []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return integers(v)
}

// integers turns the numbers of decoded JSON into int64.
func integers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return v.Int64()
	case map[string]any:
		for name := range v {
			if v[name], err = integers(v[name]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = integers(v[i]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
