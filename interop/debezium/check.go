package debezium

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// CheckStream holds records against the rules that every stream of Debezium's
// SQL Server connector obeys, and returns all that is wrong:
//
//   - the rows of one topic that come from the log come in order of commit LSN,
//     across restarts too;
//   - a row's change LSN is below its transaction's commit LSN, which stands
//     behind all of its changes in the log;
//   - a tombstone stands directly behind a delete of the same key;
//   - the fields of a key have the values of the row;
//   - each operation has the images that belong to it.
//
// With masked, rows hold other values than keys.
func CheckStream(records []Record, masked bool) error {
	c := checker{last: map[string]Source{}, masked: masked}
	for i, r := range records {
		kind, p, err := r.Decode()
		if err != nil {
			c.report(i, r, err)
			continue
		}
		if kind == KindTombstone && !c.afterDelete {
			c.report(i, r, errors.New("a tombstone without its delete"))
		}
		if kind == KindTombstone && !bytes.Equal(r.Key, c.deleted.Key) {
			c.report(i, r, fmt.Errorf("the tombstone's key differs from its delete's, %s", c.deleted.Key))
		}
		c.afterDelete = kind == KindChange && p.Op == "d"
		c.deleted = r
		if kind == KindChange {
			c.change(i, r, p)
		}
	}
	return errors.Join(c.wrong...)
}

type checker struct {
	masked      bool
	last        map[string]Source // of a topic, from the log
	afterDelete bool
	deleted     Record
	wrong       []error
}

func (c *checker) report(i int, r Record, err error) {
	c.wrong = append(c.wrong, fmt.Errorf("record %d of topic %s: %w", i, r.Topic, err))
}

func (c *checker) change(i int, r Record, p Payload) {
	if err := checkImages(p); err != nil {
		c.report(i, r, err)
	}
	if !c.masked {
		if err := checkKey(r, p); err != nil {
			c.report(i, r, err)
		}
	}
	if p.Source.Snapshot != "false" {
		return
	}
	if p.Source.CommitLSN == nil || p.Source.ChangeLSN == nil || p.Source.EventSerialNo == nil {
		c.report(i, r, errors.New("a row from the log without its LSNs"))
		return
	}
	if *p.Source.ChangeLSN >= *p.Source.CommitLSN {
		c.report(i, r, fmt.Errorf("change LSN %s is not below commit LSN %s", *p.Source.ChangeLSN, *p.Source.CommitLSN))
	}
	if last, ok := c.last[r.Topic]; ok && *p.Source.CommitLSN < *last.CommitLSN {
		c.report(i, r, fmt.Errorf("commit LSN %s behind %s", *p.Source.CommitLSN, *last.CommitLSN))
	}
	c.last[r.Topic] = p.Source
}

func checkImages(p Payload) error {
	before, after := !isNull(p.Before), !isNull(p.After)
	switch p.Op {
	case "c", "r":
		if before || !after {
			return fmt.Errorf("operation %s wants an after image alone", p.Op)
		}
	case "u":
		if !before || !after {
			return errors.New("operation u wants both images")
		}
	case "d":
		if !before || after {
			return errors.New("operation d wants a before image alone")
		}
	default:
		return fmt.Errorf("unknown operation %q", p.Op)
	}
	return nil
}

// checkKey compares the fields of the key that are in the row too.
func checkKey(r Record, p Payload) error {
	text := r.KeyPayload()
	if text == nil {
		return nil
	}
	image := p.After
	if isNull(image) {
		image = p.Before
	}
	var key, row map[string]json.RawMessage
	if err := json.Unmarshal(text, &key); err != nil {
		return fmt.Errorf("reading key %s: %w", text, err)
	}
	if err := json.Unmarshal(image, &row); err != nil {
		return fmt.Errorf("reading row %s: %w", image, err)
	}
	for name, value := range key {
		if field, ok := row[name]; ok && !bytes.Equal(field, value) {
			return fmt.Errorf("key field %q is %s and the row says %s", name, value, field)
		}
	}
	return nil
}
