package crashtest

import (
	"encoding/json"
	"fmt"
)

// compareRows applies snapshot and stream to empty tables and compares them
// with the source's rows.
func (r *run) compareRows() error {
	events := r.subject.events()
	if r.plan.traits.threads > 1 || r.subject.rejected || r.subject.beside {
		events = inOrder(events)
	}
	built := rebuilt(events)
	for _, database := range r.plan.traits.databases() {
		for table, key := range map[string]func(row) string{
			"a": func(r row) string { return fmt.Sprintf(`{"id":%s}`, r["id"]) },
			"b": func(r row) string { return fmt.Sprintf(`{"k":%s,"n":%s}`, r["k"], r["n"]) },
			"m": func(r row) string { return fmt.Sprintf(`{"id":%s}`, r["id"]) },
		} {
			in := tableOf{database, table}
			if err := r.compareTable(in, built[in], key); err != nil {
				return fmt.Errorf("table %s of %s as rebuilt from the events: %w", table, database, err)
			}
		}
	}
	return nil
}

// tableOf names a table.
type tableOf struct{ database, table string }

// rebuilt applies events to empty tables and returns their rows by key. Tables
// are emptied where their rows begin to be read again.
func rebuilt(events []Event) map[tableOf]map[string]row {
	built := map[tableOf]map[string]row{}
	for _, e := range events {
		if e.Kind != kindChange || e.Key == "" {
			continue
		}
		in := tableOf{e.Database, e.Table}
		v := e.envelope()
		if built[in] == nil || v.firstOfTable() {
			built[in] = map[string]row{}
		}
		if after := v.After; after != nil {
			built[in][e.Key] = after
		} else {
			delete(built[in], e.Key)
		}
	}
	return built
}

// compareTable compares the columns that the events have: one that came later
// is not in the events of rows that were not changed since.
func (r *run) compareTable(in tableOf, built map[string]row, key func(row) string) error {
	text, err := r.server.Query(use(in.database) + "SELECT * FROM dbo." + in.table + " FOR JSON PATH, INCLUDE_NULL_VALUES")
	if err != nil {
		return err
	}
	var rows []row
	if text != "" {
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			return fmt.Errorf("reading the source's rows: %w", err)
		}
	}
	for _, want := range rows {
		got, ok := built[key(want)]
		if !ok {
			return fmt.Errorf("missing %v", want)
		}
		if !got.agrees(want) {
			return fmt.Errorf("%v, want %v", got, want)
		}
	}
	if len(rows) != len(built) {
		return fmt.Errorf("%d rows, want %d", len(built), len(rows))
	}
	return nil
}
