package debezium

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Digest prints records for people: operation, topic, key, images and where in
// the log they stand, with LSNs by rank and without schemas and clock times.
func Digest(records []Record) (string, error) {
	kinds := make([]Kind, len(records))
	payloads := make([]Payload, len(records))
	for i, r := range records {
		var err error
		if kinds[i], payloads[i], err = r.Decode(); err != nil {
			return "", fmt.Errorf("record %d: %w", i, err)
		}
	}
	d := digest{ranks: ranksOf(payloads), schemas: map[string]string{}}
	for i, r := range records {
		d.record(kinds[i], r, payloads[i])
	}
	return steady(d.text.String()), nil
}

// What Debezium makes up for itself, identities and the times of its clock, and
// LSNs, which depend on where in the log a change came to stand.
var (
	lsns        = regexp.MustCompile(`[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}`)
	uuids       = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	windowTimes = regexp.MustCompile(`WindowTimestamp\\": \\"[^"]*\\"`)
)

// steady replaces what differs from play to play by numbers in order of their
// first appearance.
func steady(text string) string {
	text = numbered(text, uuids, "uuid")
	text = numbered(text, lsns, "lsn")
	return windowTimes.ReplaceAllString(text, `WindowTimestamp\": \"now\"`)
}

func numbered(text string, pattern *regexp.Regexp, name string) string {
	numbers := map[string]int{}
	return pattern.ReplaceAllStringFunc(text, func(match string) string {
		if numbers[match] == 0 {
			numbers[match] = len(numbers) + 1
		}
		return fmt.Sprintf("%s-%d", name, numbers[match])
	})
}

type digest struct {
	ranks   ranks
	beating bool              // the record before was a heartbeat
	schemas map[string]string // of a topic's rows, as printed last
	text    strings.Builder
}

func (d *digest) record(kind Kind, r Record, p Payload) {
	switch kind {
	case KindChange:
		d.change(r, p)
	case KindTombstone:
		d.line("tombstone %s %s", r.Topic, d.key(r))
	case KindTransaction:
		d.transaction(r, p)
	case KindSchemaChange:
		d.schemaChange(r, p)
	case KindNotification:
		d.line("notification %s %s: %s%s", r.Topic, p.AggregateType, p.Type, facts(p.AdditionalData))
	case KindHeartbeat:
		d.heartbeat(r)
	}
	d.beating = kind == KindHeartbeat
	for _, name := range []string{"__debezium.newkey", "__debezium.oldkey"} {
		if value := r.HeaderPayload(name); value != nil {
			d.line("  %s %s", name, value)
		}
	}
}

func (d *digest) change(r Record, p Payload) {
	d.schema(r)
	d.line("%s %s %s", p.Op, r.Topic, d.key(r))
	if !isNull(p.Before) {
		d.line("  before %s", p.Before)
	}
	if !isNull(p.After) {
		d.line("  after  %s", p.After)
	}
	var where []string
	if p.Source.Snapshot != "incremental" { // which has the connector's time
		where = append(where, "at "+time.Unix(0, p.Source.TsNs).UTC().Format(time.RFC3339Nano))
	}
	if p.Source.Snapshot != "false" {
		where = append(where, "snapshot "+p.Source.Snapshot)
	}
	if position := d.ranks.position(p.Source); position != "" {
		where = append(where, position)
	}
	if p.Source.EventSerialNo != nil {
		where = append(where, fmt.Sprintf("serial %d", *p.Source.EventSerialNo))
	}
	if t := p.Transaction; t != nil {
		where = append(where, fmt.Sprintf("number %d in transaction %s, %d in table",
			t.TotalOrder, d.ranks.commit(t.ID), t.DataCollectionOrder))
	}
	d.line("  %s", strings.Join(where, ", "))
}

func (d *digest) transaction(r Record, p Payload) {
	line := fmt.Sprintf("transaction %s %s %s", r.Topic, p.Status, d.ranks.commit(p.ID))
	if p.EventCount != nil {
		line += fmt.Sprintf(", %d events", *p.EventCount)
	}
	// Debezium lists them in the order of a hash table.
	collections := slices.Clone(p.DataCollections)
	slices.SortFunc(collections, func(a, b CollectionCount) int { return strings.Compare(a.DataCollection, b.DataCollection) })
	for _, c := range collections {
		line += fmt.Sprintf(", %s %d", c.DataCollection, c.EventCount)
	}
	d.line("%s", line)
}

func (d *digest) schemaChange(r Record, p Payload) {
	for _, change := range p.TableChanges {
		line := fmt.Sprintf("schema change %s %s %s", r.Topic, change.Type, change.ID)
		if p.DDL != nil {
			line += " ddl " + *p.DDL
		}
		d.line("%s", line)
		if change.Table == nil {
			continue
		}
		d.line("  key (%s)", strings.Join(change.Table.PrimaryKeyColumnNames, ", "))
		for _, c := range change.Table.Columns {
			column := c.Name + " " + c.TypeExpression
			if c.Length != nil {
				column += fmt.Sprintf(" length %d", *c.Length)
			}
			if c.Scale != nil {
				column += fmt.Sprintf(" scale %d", *c.Scale)
			}
			if !c.Optional {
				column += " not null"
			}
			d.line("  %s", column)
		}
	}
}

// heartbeat prints the first of several in a row: how many there are is a matter
// of time.
func (d *digest) heartbeat(r Record) {
	if !d.beating {
		d.line("heartbeats %s %s", r.Topic, d.key(r))
	}
}

func (d *digest) key(r Record) string {
	if key := r.KeyPayload(); key != nil {
		return string(key)
	}
	return "without key"
}

func (d *digest) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// facts prints a notification's data in order of the names, as JSON.
func facts(data map[string]string) string {
	if len(data) == 0 {
		return ""
	}
	text, err := json.Marshal(data)
	if err != nil {
		return " " + err.Error()
	}
	return " " + string(text)
}
