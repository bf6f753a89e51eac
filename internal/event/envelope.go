package event

import (
	"database/sql/driver"
	"encoding/json"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// wrapper is what JsonConverter puts around a payload when schemas are
// enabled; both parts are empty when they are not.
type wrapper struct {
	open, close []byte
	structured  any // the schema; nil without schemas
}

// newWrapper renders a schema; with enabled false the wrapper is empty.
func newWrapper(s schema.ConnectSchema, enabled, structured bool) (wrapper, error) {
	if !enabled {
		return wrapper{}, nil
	}
	var w wrapper
	w.open = append(s.Append([]byte(`{"schema":`)), `,"payload":`...)
	w.close = []byte{'}'}
	if structured {
		if err := json.Unmarshal(s.Append(nil), &w.structured); err != nil {
			return wrapper{}, err
		}
	}
	return w, nil
}

// wrap returns a structured payload with its schema, where there is one.
func (w *wrapper) wrap(payload any) any {
	if w.structured == nil {
		return payload
	}
	return map[string]any{"schema": w.structured, "payload": payload}
}

// envelopeSchema is the schema of values.
func envelopeSchema(p *schema.Plan, topic string, names schema.NameAdjustment) schema.ConnectSchema {
	row := p.RowSchema(names.Schema(topic + ".Value"))
	row.Optional = true
	optionalInt := schema.ConnectSchema{Type: "int64", Optional: true}
	return schema.ConnectSchema{
		Type: "struct", Name: names.Schema(topic + ".Envelope"), Version: 2,
		Fields: []schema.ConnectField{
			{Name: "before", Schema: row},
			{Name: "after", Schema: row},
			{Name: "source", Schema: sourceSchema()},
			{Name: "transaction", Schema: transactionBlockSchema()},
			{Name: "op", Schema: schema.ConnectSchema{Type: "string"}},
			{Name: "ts_ms", Schema: optionalInt},
			{Name: "ts_us", Schema: optionalInt},
			{Name: "ts_ns", Schema: optionalInt},
		},
	}
}

// part is one change message: an update whose key changes has two, each other
// row one.
type part struct {
	op            string
	before, after []driver.Value // nil: null
	beforeImage   schema.RowImage
	afterImage    schema.RowImage
	order         TransactionOrder
}

// appendEnvelope appends the payload of a change message.
func (e *Encoder) appendEnvelope(dst []byte, p *part, o *origin, now time.Time) ([]byte, error) {
	var err error
	if dst, err = e.appendImage(append(dst, `{"before":`...), p.before, p.beforeImage); err != nil {
		return dst, err
	}
	if dst, err = e.appendImage(append(dst, `,"after":`...), p.after, p.afterImage); err != nil {
		return dst, err
	}
	dst = e.source.append(append(dst, `,"source":`...), o)
	dst = appendTransactionBlock(append(dst, `,"transaction":`...), o.commit, p.order)
	dst = append(append(dst, `,"op":"`...), p.op...)
	e.now.set(now)
	dst = append(append(dst, `","ts_ms":`...), e.now.millis...)
	dst = append(append(dst, `,"ts_us":`...), e.now.micros...)
	dst = append(append(dst, `,"ts_ns":`...), e.now.nanos...)
	return append(dst, '}'), nil
}

func (e *Encoder) appendImage(dst []byte, row []driver.Value, img schema.RowImage) ([]byte, error) {
	if row == nil {
		return append(dst, "null"...), nil
	}
	return e.plan.AppendRow(dst, row, img)
}

// structuredEnvelope returns what a reader of the payload gets.
func (e *Encoder) structuredEnvelope(p *part, o *origin, now time.Time) (map[string]any, error) {
	before, err := e.structuredImage(p.before, p.beforeImage)
	if err != nil {
		return nil, err
	}
	after, err := e.structuredImage(p.after, p.afterImage)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"before": before, "after": after, "source": e.source.structured(o),
		"transaction": structuredTransactionBlock(o.commit, p.order),
		"op":          p.op, "ts_ms": now.UnixMilli(), "ts_us": now.UnixMicro(), "ts_ns": now.UnixNano(),
	}, nil
}

// structuredImage returns an untyped nil for a row that is not there.
func (e *Encoder) structuredImage(row []driver.Value, img schema.RowImage) (any, error) {
	if row == nil {
		return nil, nil
	}
	return e.plan.StructuredRow(row, img)
}
