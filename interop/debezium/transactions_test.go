package debezium

import (
	"fmt"
	"slices"
	"strconv"
)

// byDatabase puts the records of one database after those of another, in the
// order in which the connector was given them: only within each is an order
// promised. Debezium reads one after the other, our input all at once.
func byDatabase(records []Canonical, databases []string) []Canonical {
	return sortedBy(databases, databasesOf(records), records)
}

// sortedBy sorts records of these databases by the order of databases.
func sortedBy[R any](databases, of []string, records []R) (sorted []R) {
	if len(databases) < 2 {
		return records
	}
	for _, database := range append([]string{""}, databases...) {
		for i, r := range records {
			if of[i] == database {
				sorted = append(sorted, r)
			}
		}
	}
	return sorted
}

// databasesOf are the databases that records tell of, "" where none is known.
// Changes and schema changes name theirs. A tombstone is of that of its topic,
// an end of a transaction of that of the tables it counts, and a beginning of
// that of the change behind it: transactions of two databases may have equal
// identifiers.
func databasesOf(records []Canonical) []string {
	topics, tables := map[string]string{}, map[string]string{}
	of := make([]string, len(records))
	for i, r := range records {
		source := r.payload.get("source")
		if source == nil {
			continue
		}
		database := unquoted(source.get("db"))
		of[i] = database
		if r.Kind == KindChange {
			topics[r.Topic] = database
			tables[database+"."+unquoted(source.get("schema"))+"."+unquoted(source.get("table"))] = database
		}
	}
	next := ""
	for i, r := range slices.Backward(records) {
		switch {
		case r.Kind == KindChange:
			next = of[i]
		case r.Kind == KindTombstone:
			of[i] = topics[r.Topic]
		case r.Kind == KindTransaction && begins(r):
			of[i] = next
		case r.Kind == KindTransaction:
			for _, counted := range r.payload.get("data_collections").items {
				of[i] = tables[unquoted(counted.get("data_collection"))]
			}
		}
	}
	return of
}

func begins(r Canonical) bool { return unquoted(r.payload.get("status")) == "BEGIN" }

// brokenTransactions says where the records of transactions do not enclose
// their changes: our END stands behind the last one, also where Debezium's comes
// later or never.
func brokenTransactions(records []Canonical, databases []string) (wrong []string) {
	if !slices.ContainsFunc(records, func(r Canonical) bool { return r.Kind == KindTransaction }) {
		return nil
	}
	of := databasesOf(records)
	for _, database := range databases {
		open, changes := "", 0
		report := func(i int, r Canonical, format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("record %d, %s: ", i+1, r.outline())+fmt.Sprintf(format, args...))
		}
		for i, r := range records {
			if of[i] != database && len(databases) > 1 {
				continue
			}
			id := unquoted(r.payload.at("transaction", "id"))
			switch {
			case r.Kind == KindTransaction && begins(r):
				if open != "" {
					report(i, r, "transaction %s is open", open)
				}
				open, changes = unquoted(r.payload.get("id")), 0
			case r.Kind == KindTransaction:
				if count := r.payload.get("event_count"); unquoted(r.payload.get("id")) != open || count.String() != strconv.Itoa(changes) {
					report(i, r, "%d changes of transaction %q came before it", changes, open)
				}
				open = ""
			case r.Kind == KindChange && id != absent:
				if id != open {
					report(i, r, "of transaction %s, while %q is open", id, open)
				}
				changes++
			case r.Kind == KindTombstone && open == "":
				report(i, r, "no transaction is open")
			}
		}
		if open != "" {
			wrong = append(wrong, fmt.Sprintf("transaction %s has no end", open))
		}
	}
	return wrong
}
