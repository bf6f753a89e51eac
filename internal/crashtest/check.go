package crashtest

import (
	"errors"
	"fmt"
	"slices"
)

// compare expects the witness's events of the subject in each database.
func (r *run) compare() error {
	for _, database := range r.plan.traits.databases() {
		elsewhere := func(e Event) bool { return e.Database != database }
		got := slices.DeleteFunc(r.subject.events(), elsewhere)
		want := slices.DeleteFunc(r.witness.events(), elsewhere)
		want, got = bounded(want, got)
		compare := r.compareEvents
		switch taken := r.subject.takenUp(database); {
		case len(taken) > 0 && r.plan.traits.told:
			// The transactions count other events than the witness's: what is
			// left to hold is what was delivered against itself, and the rows.
			r.result.Events += len(got)
			want, got = nil, nil
		case len(taken) > 0:
			// What was changed before the instance begins is in the rows alone.
			is := func(e Event) bool { return slices.Contains(taken, e.Table) }
			want, got = slices.DeleteFunc(want, is), slices.DeleteFunc(got, is)
		}
		if r.plan.traits.denied {
			compare = r.compareTables
		}
		if err := compare(want, got); err != nil {
			return fmt.Errorf("database %s: %w", database, err)
		}
	}
	return nil
}

// bounded returns the events of the two pipelines in one database, from where
// the subject's snapshot began to the last marker. There may be none: a pipeline
// that is killed before it has saved anything begins anew.
func bounded(want, got []Event) ([]Event, []Event) {
	start, end := "", ""
	var stream []Event
	for _, e := range got {
		if e.Op == opRead {
			start = e.commit()
			continue
		}
		stream = append(stream, e)
		if e.Table == "m" {
			end = max(end, e.commit())
		}
	}
	// Of the transaction of the last marker there may be more to come.
	outside := func(e Event) bool { return e.commit() <= start || e.commit() >= end }
	stream = slices.DeleteFunc(stream, outside)
	return slices.DeleteFunc(want, outside), stream
}

// compareTables compares table by table: the events of one that is held for a
// while come late, in their order.
func (r *run) compareTables(want, got []Event) error {
	for _, table := range append(tableNames, "m") {
		others := func(e Event) bool { return e.Table != table }
		if err := r.compareEvents(slices.DeleteFunc(slices.Clone(want), others), slices.DeleteFunc(slices.Clone(got), others)); err != nil {
			return err
		}
	}
	return nil
}

// compareEvents compares events of one database.
//
// A batch that was handed over before another is rejected may arrive before the
// rejected one comes again; everything after that one comes again too. So what
// always holds is that the last delivery of each event is in order, and without
// rejections the first one as well, which is what dropping by the greatest
// position keeps.
func (r *run) compareEvents(want, stream []Event) error {
	for i := 1; i < len(want); i++ {
		if want[i-1].Position >= want[i].Position {
			return fmt.Errorf("the witness has %v after %v", want[i], want[i-1])
		}
	}
	seen := lastDeliveries(stream)
	r.result.Events += len(want)
	r.result.Repeats += len(stream) - len(seen)
	if r.plan.traits.threads > 1 || r.subject.beside {
		seen = inOrder(seen)
	}
	if err := r.same(want, seen, "the last deliveries"); err != nil {
		return err
	}
	first := seen
	if r.plan.traits.threads == 1 && !r.subject.rejected && !r.subject.beside {
		first = withoutRepeats(stream)
		if err := r.same(want, first, "the first deliveries"); err != nil {
			return err
		}
	}
	return sound(first)
}

// same compares events. Changes of structure are told where they are noticed,
// which is not the same place in every run.
func (r *run) same(want, got []Event, which string) error {
	want, got = rowsAndTransactions(want), rowsAndTransactions(got)
	same := Event.sameAs
	if r.plan.handsOver() {
		same = Event.sameOverHandover
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("%s: missing %v", which, want[i])
		case i >= len(want):
			return fmt.Errorf("%s: too much: %v", which, got[i])
		case !same(want[i], got[i]):
			return fmt.Errorf("%s: event %d is\n%v, want\n%v, which comes %s", which, i, got[i], want[i], comes(want[i], got))
		}
	}
	return nil
}

// comes says where an event comes, if it does.
func comes(want Event, events []Event) string {
	for i, e := range events {
		if e.Position == want.Position {
			return fmt.Sprintf("as event %d: %v", i, e)
		}
	}
	return "nowhere"
}

func rowsAndTransactions(events []Event) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Kind == kindSchema })
}

// parsed is an event with what its value says.
type parsed struct {
	Event
	envelope envelope
}

// sound checks what must hold of any stream without repeats.
func sound(stream []Event) error {
	events := make([]parsed, len(stream))
	for i, e := range stream {
		events[i] = parsed{e, e.envelope()}
	}
	return errors.Join(undone(events), chained(events), tombstones(events), transactions(events), structures(events))
}

// undone looks for what was rolled back.
func undone(events []parsed) error {
	for _, e := range events {
		v := e.envelope
		for _, image := range []row{v.Before, v.After} {
			for _, value := range image {
				if isUndone(string(value)) {
					return fmt.Errorf("what was rolled back shows: %v", e)
				}
			}
		}
	}
	return nil
}

// chained checks that the events of each key follow from each other: a row is
// there before it is changed or deleted and not before it is created, and what
// it was is what the event before left.
func chained(events []parsed) error {
	rows := map[string]row{} // nil: the row is not there
	for _, e := range events {
		if e.Kind != kindChange || e.Key == "" {
			continue
		}
		v, id := e.envelope, e.Table+e.Key
		was, known := rows[id]
		switch {
		case e.Op == opCreate && known && was != nil:
			return fmt.Errorf("%v creates a row that is there", e)
		case e.Op != opCreate && known && was == nil:
			return fmt.Errorf("%v changes a row that is not there", e)
		case e.Op != opCreate && known && !was.agrees(v.Before):
			return fmt.Errorf("%v changes a row that was %v", e, was)
		}
		rows[id] = v.After
	}
	return nil
}

// tombstones checks that one follows each delete of a row that has a key.
func tombstones(events []parsed) error {
	for i, e := range events {
		due := i > 0 && events[i-1].Op == opDelete && events[i-1].Key != ""
		is := e.Kind == kindTombstone
		if due != is || is && e.Key != events[i-1].Key {
			return fmt.Errorf("%v comes after %v", e, events[max(0, i-1)])
		}
	}
	return nil
}

// transactions checks that beginnings, numbers, counts and ends fit the changes
// between them.
func transactions(events []parsed) error {
	var (
		id     string // of the transaction that is open
		total  int64
		counts = map[string]int64{}
	)
	for _, e := range events {
		v := e.envelope
		switch {
		case e.Kind == kindTransaction && v.Status == "BEGIN":
			if id != "" {
				return fmt.Errorf("%v inside transaction %s", e, id)
			}
			id, total, counts = v.ID, 0, map[string]int64{}
		case e.Kind == kindTransaction:
			var sum int64
			for _, c := range v.Collections {
				sum += c.Count
				if counts[c.Name] != c.Count {
					return fmt.Errorf("%v after %v", e, counts)
				}
			}
			if v.ID != id || v.Count != total || sum != total || len(v.Collections) != len(counts) {
				return fmt.Errorf("%v after transaction %s with %d events, %v", e, id, total, counts)
			}
			id = ""
		case e.Kind == kindChange && v.Transaction != nil:
			name := e.Database + ".dbo." + e.Table
			total++
			counts[name]++
			if v.Transaction.ID != id || v.Transaction.Total != total || v.Transaction.Collection != counts[name] {
				return fmt.Errorf("%v as event %d of transaction %s", e, total, id)
			}
		}
	}
	return nil
}

// structures checks that once consumers were told of a table's columns, its
// events have these.
func structures(events []parsed) error {
	told := map[string][]string{}
	for _, e := range events {
		v := e.envelope
		switch e.Kind {
		case kindSchema:
			for _, c := range v.TableChanges {
				var names []string
				for _, column := range c.Table.Columns {
					names = append(names, column.Name)
				}
				told[e.Table] = names
			}
		case kindChange:
			names, known := told[e.Table]
			image := v.After
			if image == nil {
				image = v.Before
			}
			if !known {
				continue
			}
			for _, name := range names {
				if _, ok := image[name]; !ok {
					return fmt.Errorf("%v has no column %s, which was told of", e, name)
				}
			}
			if len(names) != len(image) {
				return fmt.Errorf("%v has other columns than %v, which were told of", e, names)
			}
		}
	}
	return nil
}
