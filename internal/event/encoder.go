package event

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// maxKeptBuffer bounds the scratch memory that an encoder keeps between rows.
const maxKeptBuffer = 1 << 20

// Encoder writes the messages of one table version. It is not safe for
// concurrent use.
type Encoder struct {
	opts     Options
	plan     *schema.Plan
	topic    string
	optional []string // see Optional
	key      wrapper
	value    wrapper
	source   source
	template Message // what is the same in all change messages
	now      stamp

	buf            []byte               // a message's key and value
	oldRow, newRow []byte               // images of an update, to compare them
	oldKey, newKey []byte               // key payloads of an update
	nulls          []string             // columns of the row with an unexpected NULL
	reported       []string             // columns of which one was reported
	invalid        []*schema.ValueError // values of the row that null stands for
	reportedValues []string             // columns of which one was reported
	replaced       map[int]bool         // columns that were reported to hold U+FFFD
}

// NewEncoder compiles an encoder. Its errors are of type *[SchemaError].
func NewEncoder(t *schema.Table, opts Options) (*Encoder, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Modes == (schema.Modes{}) {
		opts.Modes = schema.DefaultModes()
	}
	plan, err := schema.Compile(t, opts.Modes)
	if err != nil {
		return nil, &SchemaError{t.ID(), err}
	}
	e := &Encoder{
		opts:   opts,
		plan:   plan,
		topic:  opts.Topics.Table(t.ID()),
		source: newSource(opts.Topics.Prefix, t.ID()),
	}
	plan.OnNull = func(column string) { e.nulls = append(e.nulls, column) }
	plan.StrictNulls = opts.Failures == FailuresFail
	if opts.Failures.writesNull() {
		plan.OnValue = func(v *schema.ValueError) { e.invalid = append(e.invalid, v) }
	}
	if err := e.render(); err != nil {
		return nil, err
	}
	return e, nil
}

// render writes what is the same in all messages of a table version.
func (e *Encoder) render() (err error) {
	e.key, err = newWrapper(e.plan.KeySchema(e.opts.SchemaNames.Schema(e.topic+".Key")), e.opts.KeySchemas, e.opts.Structured)
	if err != nil {
		return &SchemaError{e.Table().ID(), fmt.Errorf("rendering key schema of %s: %w", e.topic, err)}
	}
	e.value, err = newWrapper(envelopeSchema(e.plan, e.topic, e.opts.SchemaNames), e.opts.ValueSchemas, e.opts.Structured)
	if err != nil {
		return &SchemaError{e.Table().ID(), fmt.Errorf("rendering value schema of %s: %w", e.topic, err)}
	}
	c := e.plan.Common()
	t := e.Table()
	e.template = Message{
		Kind: KindChange, Topic: e.topic,
		Database: t.Database, Schema: t.Schema, Table: t.Name,
		TableRef: t, RowSchema: c.ToAny(),
	}
	return nil
}

// Table returns the table the encoder was made for.
func (e *Encoder) Table() *schema.Table { return e.plan.Table() }

// Topic returns the topic of the table's messages.
func (e *Encoder) Topic() string { return e.topic }

// Optional returns the columns, in the order in which it happened, whose fields
// became optional because CDC recorded a NULL in a NOT NULL column. The slice
// only grows.
func (e *Encoder) Optional() []string { return e.optional }

// MakeOptional makes fields optional from the start, as an encoder before this
// one made them.
func (e *Encoder) MakeOptional(columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	for _, column := range columns {
		e.plan.Relax(column)
	}
	e.optional = append(e.optional, columns...)
	return e.render()
}

// Omitted returns the columns that events do not carry, with reasons.
func (e *Encoder) Omitted() []schema.Omission { return e.plan.Omitted() }

// Row appends the messages of one change: the change and, after a delete, its
// tombstone; or delete, tombstone and create for an update that changes the
// key; or nothing for an update without a difference that is to be skipped, and
// for a change that OnFailure takes. On an error nothing is appended. A
// *schema.ValueError is a value that has no exact form in the chosen modes.
func (e *Encoder) Row(dst *Batch, c Change) error {
	if err := c.check(len(e.Table().Columns)); err != nil {
		return fmt.Errorf("encoding change of %s: %w", e.Table().ID(), err)
	}
	if err := e.attempt(dst, &c); err != nil {
		return e.giveUp(&c, err)
	}
	e.reportNulls(c.Position)
	e.reportValues(c.Position)
	e.reportReplaced(&c)
	return nil
}

// Events returns the number of change messages that Row appends for a change,
// tombstones not counted.
func (e *Encoder) Events(c Change) (int64, error) {
	if err := c.check(len(e.Table().Columns)); err != nil {
		return 0, fmt.Errorf("counting events of %s: %w", e.Table().ID(), err)
	}
	if e.LeavesOut() {
		return e.trialEvents(&c)
	}
	if c.Op != OpUpdate {
		return 1, nil
	}
	for {
		n, err := e.updateEvents(&c)
		var null *schema.NullError
		switch {
		case err == nil:
			return n, nil
		case !errors.As(err, &null) || e.opts.Failures == FailuresFail:
			return 0, err
		}
		if err := e.MakeOptional([]string{null.Column}); err != nil {
			return 0, err
		}
	}
}

// updateEvents returns the number of change messages of an update.
func (e *Encoder) updateEvents(c *Change) (int64, error) {
	if e.opts.SkipUnchanged {
		if same, err := e.unchanged(c); same || err != nil {
			return 0, err
		}
	}
	changed, err := e.keyChanged(c)
	if err != nil || !changed {
		return 1, err
	}
	return 2, nil
}

func (e *Encoder) row(dst *Batch, c *Change) error {
	switch c.Op {
	case OpRead:
		return e.single(dst, c, part{op: OpRead, order: c.Transaction, after: c.After, afterImage: schema.RowImage{Role: schema.Snapshot}})
	case OpCreate:
		return e.single(dst, c, part{op: OpCreate, order: c.Transaction, after: c.After, afterImage: schema.RowImage{Role: schema.Inserted}})
	case OpDelete:
		return e.single(dst, c, part{op: OpDelete, order: c.Transaction, before: c.Before, beforeImage: schema.RowImage{Role: schema.Deleted}})
	}
	if e.opts.SkipUnchanged {
		if same, err := e.unchanged(c); same || err != nil {
			return err
		}
	}
	changed, err := e.keyChanged(c)
	if err != nil {
		return err
	}
	before, after := c.images()
	if !changed {
		return e.single(dst, c, part{
			op:     OpUpdate,
			before: c.Before, beforeImage: before,
			after: c.After, afterImage: after,
			order: c.Transaction,
		})
	}
	return e.split(dst, c,
		part{op: OpDelete, before: c.Before, beforeImage: before, order: c.Transaction},
		part{op: OpCreate, after: c.After, afterImage: after, order: c.Transaction.next()})
}

// unchanged reports whether a consumer would see no difference between the two
// images of an update, for example because the columns that changed are not
// in events.
func (e *Encoder) unchanged(c *Change) (same bool, err error) {
	before, after := c.images()
	if e.oldRow, err = e.plan.AppendRow(e.oldRow[:0], c.Before, before); err != nil {
		return false, err
	}
	if e.newRow, err = e.plan.AppendRow(e.newRow[:0], c.After, after); err != nil {
		return false, err
	}
	return bytes.Equal(e.oldRow, e.newRow), nil
}

// keyChanged reports whether an update changes the key, and leaves both keys
// in oldKey and newKey.
func (e *Encoder) keyChanged(c *Change) (changed bool, err error) {
	if !e.plan.HasKey() {
		return false, nil
	}
	if e.oldKey, err = e.plan.AppendKey(e.oldKey[:0], c.Before); err != nil {
		return false, err
	}
	if e.newKey, err = e.plan.AppendKey(e.newKey[:0], c.After); err != nil {
		return false, err
	}
	return !bytes.Equal(e.oldKey, e.newKey), nil
}

// single appends the message of one part, and the tombstone of a delete.
func (e *Encoder) single(dst *Batch, c *Change, p part) error {
	if _, err := e.message(dst, c, &p, 0); err != nil {
		return err
	}
	if p.op == OpDelete {
		e.tombstone(dst)
	}
	return nil
}

// split appends an update that changes the key as what it means to a consumer
// by key: the old key's row is gone, the new key's row is there.
func (e *Encoder) split(dst *Batch, c *Change, gone, created part) error {
	oldKey, newKey := dst.put(e.oldKey), dst.put(e.newKey)
	deletion, err := e.message(dst, c, &gone, 0)
	if err != nil {
		return err
	}
	deletion.NewKey = newKey
	e.tombstone(dst)
	// The ordinal is the same whether tombstones are on or off, so that a
	// position keeps its meaning when the setting changes.
	creation, err := e.message(dst, c, &created, 2)
	if err != nil {
		return err
	}
	creation.OldKey = oldKey
	return nil
}

// tombstone appends the tombstone of the delete that is the batch's last
// message, if there is to be one.
func (e *Encoder) tombstone(dst *Batch) {
	if !e.opts.Tombstones || !e.plan.HasKey() {
		return
	}
	dst.Messages = append(dst.Messages, dst.Messages[len(dst.Messages)-1])
	t := &dst.Messages[len(dst.Messages)-1]
	t.Kind, t.Op = KindTombstone, ""
	t.Value, t.ValueStructured = nil, nil
	t.Position.Ordinal++
}

// message appends a change message; ordinal counts the messages of its row.
// The pointer returned is good until the next message is appended.
func (e *Encoder) message(dst *Batch, c *Change, p *part, ordinal uint64) (*Message, error) {
	o := origin{time: c.SourceTime, snapshot: c.Snapshot, change: c.ChangeLSN, commit: c.CommitLSN, serial: c.Serial}
	if o.snapshot == "" {
		o.snapshot = streaming
	}
	// Filled in where it stands: a message is too large to be copied about.
	dst.Messages = append(dst.Messages, e.template)
	m := &dst.Messages[len(dst.Messages)-1]
	m.Op, m.Position, m.Snapshot, m.SourceTime = p.op, c.Position, o.snapshot, c.SourceTime
	m.CommitLSN, m.ChangeLSN, m.EventSerial = c.CommitLSN, c.ChangeLSN, c.Serial
	m.Position.Ordinal += ordinal
	return m, e.encode(dst, m, p, &o)
}

// encode fills in a message's key and value.
func (e *Encoder) encode(dst *Batch, m *Message, p *part, o *origin) (err error) {
	keyRow := p.after
	if p.after == nil {
		keyRow = p.before
	}
	now := e.opts.Now()
	buf := e.buf[:0]
	if e.plan.HasKey() {
		if buf, err = e.plan.AppendKey(append(buf, e.key.open...), keyRow); err != nil {
			return err
		}
		buf = append(buf, e.key.close...)
	}
	keyEnd := len(buf)
	if e.opts.Structured {
		if err := e.encodeStructured(m, p, keyRow, o, now); err != nil {
			return err
		}
		dst.bytes += rowSize(p.before) + rowSize(p.after)
	} else {
		if buf, err = e.appendEnvelope(append(buf, e.value.open...), p, o, now); err != nil {
			return err
		}
		buf = append(buf, e.value.close...)
	}
	e.keep(buf)
	stored := dst.put(buf)
	if keyEnd > 0 {
		m.Key = stored[:keyEnd:keyEnd]
	}
	if !e.opts.Structured {
		m.Value = stored[keyEnd:]
	}
	return nil
}

func (e *Encoder) encodeStructured(m *Message, p *part, keyRow []driver.Value, o *origin, now time.Time) error {
	if e.plan.HasKey() {
		key, err := e.plan.StructuredKey(keyRow)
		if err != nil {
			return err
		}
		m.KeyStructured = e.key.wrap(key)
	}
	value, err := e.structuredEnvelope(p, o, now)
	if err != nil {
		return err
	}
	m.ValueStructured = e.value.wrap(value)
	return nil
}

// rowSize estimates the memory of a row in a structured value.
func rowSize(row []driver.Value) int {
	const perField = 48 // a name, an interface, its share of the map
	size := perField * len(row)
	for _, v := range row {
		switch v := v.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		}
	}
	return size
}

// keep remembers the scratch buffer, unless one huge row made it huge.
func (e *Encoder) keep(buf []byte) {
	if cap(buf) > maxKeptBuffer {
		buf = nil
	}
	e.buf = buf
}

// reportValues tells the hook of the values in the row just written that null
// stands for, once for each column, though two images may both hold it.
func (e *Encoder) reportValues(at lsn.Position) {
	for i, v := range e.invalid {
		if e.opts.OnValue == nil || slices.ContainsFunc(e.invalid[:i], func(o *schema.ValueError) bool { return o.Column == v.Column }) {
			continue
		}
		first := !slices.Contains(e.reportedValues, v.Column)
		if first {
			e.reportedValues = append(e.reportedValues, v.Column)
		}
		e.opts.OnValue(ValueNotice{Table: e.Table(), Err: v, Position: at, First: first})
	}
}

// reportNulls tells the hook of the NULLs in the row just written, once for
// each column, though a value and its key may both hold it.
func (e *Encoder) reportNulls(at lsn.Position) {
	if len(e.nulls) == 0 {
		return
	}
	slices.Sort(e.nulls)
	for _, column := range slices.Compact(e.nulls) {
		first := !slices.Contains(e.reported, column)
		if first {
			e.reported = append(e.reported, column)
		}
		if e.opts.OnNull != nil {
			e.opts.OnNull(NullNotice{Table: e.Table(), Column: column, Position: at, First: first})
		}
	}
}
