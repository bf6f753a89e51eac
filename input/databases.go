package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// databaseName is an entry of database_names: the name of a database, or a
// pattern for names.
type databaseName struct {
	text    string
	pattern *schema.Pattern
}

// databaseNames are all entries; none stand for the connection's database.
type databaseNames []databaseName

// special are the characters that make a pattern of a name.
const special = `\^$.|?*+()[]{}`

// isPattern reports whether an entry may match other names than its own.
func (n databaseName) isPattern() bool { return strings.ContainsAny(n.text, special) }

// databases reads database_names.
func (r *fieldReader) databases() databaseNames {
	names, err := parseDatabaseNames(r.strings(fieldDatabaseNames))
	if err != nil {
		r.refuse(fieldDatabaseNames, "%v", err)
	}
	return names
}

func parseDatabaseNames(texts []string) (databaseNames, error) {
	var names databaseNames
	for _, text := range texts {
		if text == "" {
			return nil, errors.New("a name must not be empty")
		}
		if slices.ContainsFunc(names, func(n databaseName) bool { return n.text == text }) {
			return nil, fmt.Errorf("%q is given twice", text)
		}
		pattern, err := schema.CompilePattern(text)
		if err != nil {
			return nil, fmt.Errorf(`%w; in a name, put \ before each of %s`, err, special)
		}
		names = append(names, databaseName{text, pattern})
	}
	return names, nil
}

// several reports whether the entries may stand for more than one database.
func (ns databaseNames) several() bool { return len(ns) > 1 || ns.patterns() }

// patterns reports whether the server must be asked which databases it has.
func (ns databaseNames) patterns() bool { return slices.ContainsFunc(ns, databaseName.isPattern) }

// match reports whether any entry matches a name.
func (ns databaseNames) match(name string) bool {
	return slices.ContainsFunc(ns, func(n databaseName) bool { return n.pattern.Match(name) })
}

// plain returns the databases to read where no entry is a pattern.
func (ns databaseNames) plain(otherwise string) []string {
	if len(ns) == 0 {
		return []string{otherwise}
	}
	texts := make([]string, len(ns))
	for i, n := range ns {
		texts[i] = n.text
	}
	return texts
}

// resolve returns the databases to read of those that exist, each once and in
// the order of the entries, and the patterns that match none. A name that is
// not there is kept: its database may be hidden, or be created later.
func (ns databaseNames) resolve(existing []sqlserver.DatabaseEntry) (databases, unmatched []string) {
	for _, n := range ns {
		found := n.find(existing)
		switch {
		case len(found) > 0:
		case n.isPattern():
			unmatched = append(unmatched, n.text)
		default:
			found = []string{n.text}
		}
		for _, name := range found {
			if !slices.Contains(databases, name) {
				databases = append(databases, name)
			}
		}
	}
	return databases, unmatched
}

// find returns the databases that an entry stands for: the one of exactly that
// name, or else those that it matches; of these a pattern means only those with
// change data capture.
func (n databaseName) find(existing []sqlserver.DatabaseEntry) []string {
	var matched []string
	for _, d := range existing {
		switch {
		case d.Name == n.text:
			return []string{d.Name}
		case n.pattern.Match(d.Name) && (d.CDCEnabled || !n.isPattern()):
			matched = append(matched, d.Name)
		}
	}
	return matched
}
