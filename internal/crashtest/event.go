package crashtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// Event is one message as an output got it.
type Event struct {
	Kind, Op, Database, Table, Key, Position, Value string
}

func eventOf(m *service.Message) (Event, error) {
	value, err := m.AsBytes()
	if err != nil {
		return Event{}, err
	}
	meta := func(key string) string {
		text, _ := m.MetaGet(key)
		return text
	}
	return Event{
		Kind: meta("kind"), Op: meta("op"), Database: meta("database"), Table: meta("table"),
		Key: meta("key"), Position: meta("position"), Value: string(value),
	}, nil
}

func eventsOf(batch service.MessageBatch) ([]Event, error) {
	events := make([]Event, len(batch))
	for i, m := range batch {
		var err error
		if events[i], err = eventOf(m); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// The kinds of messages.
const (
	kindChange      = "change"
	kindTombstone   = "tombstone"
	kindSchema      = "schema_change"
	kindTransaction = "transaction"
	kindHeartbeat   = "heartbeat"
)

// The operations of changes.
const (
	opRead   = "r"
	opCreate = "c"
	opUpdate = "u"
	opDelete = "d"
)

// row holds the columns of an image, each as its JSON.
type row map[string]json.RawMessage

// envelope is what is looked at in the value of a change or a transaction.
type envelope struct {
	Before, After row
	Source        struct {
		// Snapshot is false, or says where in a snapshot a row stands.
		Snapshot any
	}
	Transaction *struct {
		ID         string `json:"id"`
		Total      int64  `json:"total_order"`
		Collection int64  `json:"data_collection_order"`
	}
	Status      string
	ID          string
	Count       int64 `json:"event_count"`
	Collections []struct {
		Name  string `json:"data_collection"`
		Count int64  `json:"event_count"`
	} `json:"data_collections"`
	TableChanges []struct {
		Type  string
		Table struct {
			Columns []struct{ Name string }
		}
	}
}

func (e Event) envelope() (v envelope) {
	// A tombstone has no value; whatever else is no JSON shows in a comparison.
	_ = json.Unmarshal([]byte(e.Value), &v)
	return v
}

// firstOfTable reports whether a row is the first that is read of its table.
func (v envelope) firstOfTable() bool {
	return v.Source.Snapshot == "first" || v.Source.Snapshot == "first_in_data_collection"
}

// commit returns the text of the event's commit LSN.
func (e Event) commit() string {
	commit, _, _ := strings.Cut(e.Position, "/")
	return commit
}

// String is what stays the same however often an event is read: everything but
// the times of reading and sending.
func (e Event) String() string {
	v := e.envelope()
	text := strings.Join([]string{e.Position, e.Kind, e.Op, e.Table, e.Key}, " ")
	switch e.Kind {
	case kindChange:
		text += fmt.Sprintf(" %s -> %s", v.Before, v.After)
		if v.Transaction != nil {
			text += fmt.Sprintf(" in %+v", *v.Transaction)
		}
	case kindTransaction:
		text += fmt.Sprintf(" %s %s %d %v", v.Status, v.ID, v.Count, v.Collections)
	}
	return text
}

// String prints the columns in the order of their names.
func (r row) String() string {
	if r == nil {
		return "null"
	}
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", name, r[name])
	}
	return "{" + b.String() + "}"
}

// sameAs reports whether two events are the same but for the times of reading
// and sending. Most are, and show it without being parsed: these times stand at
// the end.
func (e Event) sameAs(other Event) bool {
	a, b := e, other
	a.Value, b.Value = untilSent(e.Value), untilSent(other.Value)
	return a == b && e.Kind == kindChange || e.String() == other.String()
}

// sameOverHandover is sameAs where a table has two capture instances, which
// number their changes apart and have columns of their own: from which of the
// two a change is read depends on when the second one was noticed.
func (e Event) sameOverHandover(other Event) bool {
	if e.Kind != kindChange || e.sameAs(other) {
		return e.sameAs(other)
	}
	one, two := e.envelope(), other.envelope()
	e.Position, other.Position = e.uncounted(), other.uncounted()
	e.Value, other.Value = "", ""
	return e == other && one.Before.agrees(two.Before) && one.After.agrees(two.After) &&
		(one.Transaction == nil) == (two.Transaction == nil) && (one.Transaction == nil || *one.Transaction == *two.Transaction)
}

// uncounted returns the position without the command id.
func (e Event) uncounted() string {
	parts := strings.Split(e.Position, "/")
	if len(parts) > 2 {
		parts = slices.Delete(parts, 1, 2)
	}
	return strings.Join(parts, "/")
}

// untilSent returns a value without its end, that is its last ts_ms.
func untilSent(value string) string { return value[:max(0, strings.LastIndex(value, `"ts_ms":`))] }

// agrees reports whether two images have the same values in the columns that
// both have. A column that was dropped is null until its capture instance is
// replaced: all columns but those of the beginning may be.
func (r row) agrees(other row) bool {
	for name, value := range r {
		o, ok := other[name]
		if !ok || string(o) == string(value) {
			continue
		}
		if !strings.HasPrefix(name, addedPrefix) || string(o) != "null" {
			return false
		}
	}
	return true
}

// withoutRepeats drops what a consumer drops that remembers the greatest
// position.
func withoutRepeats(events []Event) (kept []Event) {
	newest := ""
	for _, e := range events {
		if e.Position > newest {
			newest = e.Position
			kept = append(kept, e)
		}
	}
	return kept
}

// lastDeliveries keeps each event where it came last.
func lastDeliveries(events []Event) (kept []Event) {
	seen := map[string]bool{}
	for _, e := range slices.Backward(events) {
		if !seen[e.Position] {
			seen[e.Position] = true
			kept = append(kept, e)
		}
	}
	slices.Reverse(kept)
	return kept
}

// inOrder sorts events by position.
func inOrder(events []Event) []Event {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b Event) int { return strings.Compare(a.Position, b.Position) })
	return sorted
}
